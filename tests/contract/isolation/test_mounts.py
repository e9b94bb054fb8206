"""Mounts on this kernel, each in a mount namespace of its own."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import mounts, namespaces, syscalls
from arenero.isolation.mounts import DATA, Flag
from arenero.isolation.namespaces import IdMap, Namespace
from tests.contract.isolation.running import trial

pytestmark = pytest.mark.root


def enter(directory: str, *names: str) -> list[Path]:
    """Go into a private mount namespace and make directories."""
    syscalls.unshare(Namespace.MOUNT)
    mounts.make_private()
    paths = [Path(directory, name) for name in names]
    for path in paths:
        path.mkdir()
    return paths


def refusal(act: Any) -> str:
    try:
        act()
    except OSError as error:
        return os.strerror(error.errno or 0)
    return ""


def binds_read_only(directory: str) -> Any:
    source, target = enter(directory, "source", "target")
    (source / "file").write_text("x")
    mounts.bind(str(source), str(target), DATA | Flag.RDONLY)
    script = target / "script"
    (source / "script").write_text("#!/bin/sh\n")
    (source / "script").chmod(0o755)
    return [
        refusal(lambda: (target / "file").write_text("y")),
        refusal(lambda: subprocess.run([str(script)], check=False)),
        (source / "file").read_text(),
    ]


def binds_with_and_without_what_is_below(directory: str) -> Any:
    source, alone, whole = enter(directory, "source", "alone", "whole")
    (source / "below").mkdir()
    mounts.tmpfs(str(source / "below"), size_bytes=4096)
    (source / "below/file").write_text("x")
    mounts.bind(str(source), str(alone))
    mounts.bind_recursive(str(source), str(whole), DATA | Flag.RDONLY)
    return [
        os.listdir(alone / "below"),
        os.listdir(whole / "below"),
        refusal(lambda: (whole / "below/new").write_text("")),
    ]


def maps_owners(directory: str) -> Any:
    source, target = enter(directory, "source", "target")
    (source / "file").write_text("x")
    os.chown(source / "file", 5, 6)
    runs = (IdMap(0, 700_000, 65_536),)
    mounts.bind_mapped(str(source), str(target), namespaces.make_user_namespace(runs, runs))
    status = (target / "file").stat()
    return [status.st_uid, status.st_gid]


def overlays(directory: str) -> Any:
    lower, upper, work, target = enter(directory, "lo,we:r", "upper", "work", "target")
    for name in ("changed", "gone", "kept"):
        (lower / name).write_text(name)
    mounts.overlay(str(target), lower=[str(lower)], upper=str(upper), work=str(work))
    (target / "changed").write_text("new")
    (target / "gone").unlink()
    return [sorted(os.listdir(target)), sorted(os.listdir(lower)), (lower / "changed").read_text()]


def overlays_on_a_work_that_cannot_be_used(directory: str) -> Any:
    lower, disk, target = enter(directory, "lower", "disk", "target")
    (disk / "upper").mkdir()
    (disk / "work").mkdir()
    runs = (IdMap(0, 700_000, 65_536),)
    # The host's root is nobody on this mount, so overlayfs can't make its working files.
    mounts.bind_mapped(str(disk), str(disk), namespaces.make_user_namespace(runs, runs))
    return refusal(lambda: mounts.overlay(str(target), lower=[str(lower)], upper=f"{disk}/upper", work=f"{disk}/work"))


def hides(directory: str) -> Any:
    (secrets,) = enter(directory, "secrets")
    (secrets / "inside").mkdir()
    (secrets / "inside/key").write_text("secret")
    (secrets / "key").write_text("secret")
    mounts.hide(str(secrets / "key"))
    mounts.hide(str(secrets / "inside"))
    mounts.hide(str(secrets / "not there"))
    return [
        (secrets / "key").read_text(),
        os.listdir(secrets / "inside"),
        refusal(lambda: (secrets / "inside/new").write_text("")),
    ]


def limits_a_tmpfs(directory: str) -> Any:
    (target,) = enter(directory, "target")
    mounts.tmpfs(str(target), size_bytes=65_536, mode=0o1777, uid=7, gid=8)
    status = target.stat()
    return [
        refusal(lambda: (target / "file").write_bytes(bytes(100_000))),
        oct(status.st_mode & 0o7777),
        status.st_uid,
        status.st_gid,
    ]


def changes_its_root(directory: str) -> Any:
    (root,) = enter(directory, "root")
    mounts.tmpfs(str(root), size_bytes=65_536)
    (root / "inside").mkdir()
    mounts.change_root(str(root))
    return [os.listdir("/"), os.path.exists(directory), os.listdir("/.."), os.getcwd()]


def is_unseen_outside(directory: str) -> Any:
    (target,) = enter(directory, "target")
    mounts.tmpfs(str(target), size_bytes=65_536)
    (target / "file").write_text("")
    return os.listdir(target)


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        (binds_read_only, ["Read-only file system", "Permission denied", "x"]),
        (binds_with_and_without_what_is_below, [[], ["file"], "Read-only file system"]),
        (maps_owners, [700_005, 700_006]),
        (overlays, [["changed", "kept"], ["changed", "gone", "kept"], "changed"]),
        (overlays_on_a_work_that_cannot_be_used, "Read-only file system"),
        (hides, ["", [], "Read-only file system"]),
        (limits_a_tmpfs, ["No space left on device", "0o1777", 7, 8]),
        (changes_its_root, [["inside"], False, ["inside"], "/"]),
    ],
)
def test_mounts(attempt: Any, expected: Any, tmp_path: Path) -> None:
    assert trial(attempt, str(tmp_path)) == expected


def test_nothing_is_seen_outside(tmp_path: Path) -> None:
    assert trial(is_unseen_outside, str(tmp_path)) == ["file"]
    assert os.listdir(tmp_path / "target") == []
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
