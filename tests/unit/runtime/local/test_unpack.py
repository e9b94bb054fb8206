"""Layers that are meant well, and layers that are not."""

import io
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arenero.errors import InvalidArgument, ResourceExhausted
from arenero.runtime.local.unpack import Budget, Unpacker


def layer(*entries: tuple[str, Any], **common: Any) -> io.BytesIO:
    """Return an archive: a text makes a file, None a directory, a dict the fields of an entry."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, what in entries:
            entry = tarfile.TarInfo(name)
            content = what.encode() if isinstance(what, str) else b""
            entry.size = len(content)
            if what is None:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            for field, value in {**common, **(what if isinstance(what, dict) else {})}.items():
                setattr(entry, field, value)
            archive.addfile(entry, io.BytesIO(content))
    stream.seek(0)
    return stream


def link(target: str) -> dict[str, Any]:
    return {"type": tarfile.SYMTYPE, "linkname": target}


def hard(target: str) -> dict[str, Any]:
    return {"type": tarfile.LNKTYPE, "linkname": target}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/victim").write_text("untouched")
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def unpacker(root: Path) -> Iterator[Unpacker]:
    unpacker = Unpacker(str(root), Budget(10**6, 1000), own_ids=False)
    yield unpacker
    unpacker.close()
    outside = root.parent / "outside"
    assert os.listdir(outside) == ["victim"]
    assert (outside / "victim").read_text() == "untouched"


def test_files_directories_and_links(unpacker: Unpacker, root: Path) -> None:
    unpacker.apply(layer(("./etc", None), ("/etc/a", "text"), ("etc/b", link("a")), ("etc/c", hard("etc/a"))))
    assert (root / "etc/a").read_text() == "text"
    assert os.readlink(root / "etc/b") == "a"
    assert (root / "etc/c").stat().st_ino == (root / "etc/a").stat().st_ino


def test_modes_and_times_are_kept_even_of_directories_that_forbid_writing(unpacker: Unpacker, root: Path) -> None:
    closed = {"type": tarfile.DIRTYPE, "mode": 0o555, "mtime": 1000}
    unpacker.apply(layer(("closed", closed), ("closed/file", "x")))
    status = (root / "closed").stat()
    assert (stat.S_IMODE(status.st_mode), status.st_mtime) == (0o555, 1000)
    assert (root / "closed/file").read_text() == "x"
    (root / "closed").chmod(0o755)


def test_missing_parents_are_made(unpacker: Unpacker, root: Path) -> None:
    unpacker.apply(layer(("a/b/c/file", "x")))
    assert (root / "a/b/c/file").read_text() == "x"


def test_whiteouts_remove_what_earlier_layers_had(unpacker: Unpacker, root: Path) -> None:
    unpacker.apply(layer(("dir/old", "x"), ("gone", "x"), ("whole/a/b", "x")))
    unpacker.apply(
        layer((".wh.gone", ""), (".wh.whole", ""), ("dir/new", "y"), ("dir/.wh..wh..opq", ""), (".wh.none", ""))
    )
    assert sorted(os.listdir(root)) == ["dir"]
    assert os.listdir(root / "dir") == ["new"]


def test_a_later_layer_replaces_a_kind_by_another(unpacker: Unpacker, root: Path) -> None:
    unpacker.apply(layer(("a", "file"), ("b/inside", "x"), ("c", link("/outside"))))
    unpacker.apply(layer(("a", None), ("b", "file"), ("c", "file")))
    assert (root / "a").is_dir()
    assert (root / "b").read_text() == "file"
    assert not (root / "c").is_symlink()


def test_directories_may_be_links_within_the_image(unpacker: Unpacker, root: Path) -> None:
    unpacker.apply(layer(("usr/lib", None), ("lib", link("usr/lib")), ("abs", link("/usr/lib"))))
    unpacker.apply(layer(("lib/x", "1"), ("abs/y", "2")))
    assert sorted(os.listdir(root / "usr/lib")) == ["x", "y"]


@pytest.mark.parametrize("name", ["../outside/x", "a/../../outside/x", "/../x", ".."])
def test_names_that_climb_are_refused(unpacker: Unpacker, name: str) -> None:
    with pytest.raises(InvalidArgument, match="would leave it"):
        unpacker.apply(layer((name, "x")))


@pytest.mark.parametrize("target", ["../../outside", "../outside", "{outside}"])
def test_links_that_lead_out_are_not_followed(unpacker: Unpacker, root: Path, target: str) -> None:
    outside = str(root.parent / "outside")
    unpacker.apply(layer(("way", link(target.format(outside=outside)))))
    unpacker.apply(layer(("way/victim", "overwritten"), ("way/new", "x"), ("way/.wh.victim", "")))
    assert [path.name for path in (root / "way").iterdir()] == ["new"]


def test_a_link_is_replaced_and_not_written_through(unpacker: Unpacker, root: Path) -> None:
    victim = str(root.parent / "outside/victim")
    unpacker.apply(layer(("file", link(victim)), ("file", "mine")))
    assert (root / "file").read_text() == "mine"


@pytest.mark.parametrize("target", ["../outside/victim", "{outside}/victim", "missing", "way/victim"])
def test_hard_links_that_lead_out_are_refused(unpacker: Unpacker, root: Path, target: str) -> None:
    outside = str(root.parent / "outside")
    with pytest.raises(InvalidArgument):
        unpacker.apply(layer(("way", link(outside)), ("hard", hard(target.format(outside=outside)))))


def test_devices_and_pipes_are_left_out(unpacker: Unpacker, root: Path) -> None:
    device = {"type": tarfile.BLKTYPE, "devmajor": 8, "devminor": 0}
    unpacker.apply(
        layer(("sda", device), ("mem", {**device, "type": tarfile.CHRTYPE}), ("pipe", {"type": tarfile.FIFOTYPE}))
    )
    assert os.listdir(root) == []


@pytest.mark.parametrize("name", ["a/" * 1500 + "x", "y" * 300 + "/" + "z" * 4000])
def test_names_that_are_too_deep_or_long_are_refused(unpacker: Unpacker, name: str) -> None:
    with pytest.raises(InvalidArgument, match="too deep"):
        unpacker.apply(layer((name, "x")))


def test_bytes_and_files_are_counted(root: Path) -> None:
    for budget, archive in (
        (Budget(10, 100), layer(("a", "x" * 11))),
        (Budget(1000, 2), layer(("a", ""), ("b", ""), ("c", ""))),
    ):
        unpacker = Unpacker(str(root), budget, own_ids=False)
        with pytest.raises(ResourceExhausted):
            unpacker.apply(archive)
        unpacker.close()


def test_an_archive_that_ends_too_early_is_refused(unpacker: Unpacker) -> None:
    whole = layer(("file", "x" * 5000)).getvalue()
    with pytest.raises(InvalidArgument, match="damaged"):
        unpacker.apply(io.BytesIO(whole[:2000]))


@pytest.mark.root
def test_owners_are_kept_below_the_ids_that_are_execds(root: Path) -> None:
    unpacker = Unpacker(str(root), Budget(10**6, 1000), own_ids=True)
    unpacker.apply(layer(("a", {"uid": 33, "gid": 34}), ("b", {"uid": 65_533}), ("c", {"uid": 2**31, "gid": 5})))
    unpacker.close()
    owners = [((root / name).stat().st_uid, (root / name).stat().st_gid) for name in "abc"]
    assert owners == [(33, 34), (65_534, 0), (65_534, 5)]


@pytest.mark.root
def test_owners_are_shifted_where_mounts_cannot_map_them(root: Path) -> None:
    unpacker = Unpacker(str(root), Budget(10**6, 1000), own_ids=True, shift=700_000)
    unpacker.apply(layer(("made/on/the/way", {"uid": 33, "gid": 34}), ("link", link("made"))))
    unpacker.close()
    owners = [(root / name).lstat().st_uid for name in ("", "made", "made/on/the", "made/on/the/way", "link")]
    assert owners == [700_000, 700_000, 700_000, 700_033, 700_000]
