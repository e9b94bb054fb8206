import os
import stat
from pathlib import Path

import pytest

from arenero.runtime.local import host_template


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    old = os.umask(0o077)
    try:
        return host_template.make_layer(tmp_path, (), own_ids=os.geteuid() == 0)
    finally:
        os.umask(old)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_second_time_the_same_layer_is_found(layer: Path) -> None:
    inode = layer.stat().st_ino
    again = host_template.make_layer(layer.parent, (), own_ids=False)
    assert (again, again.stat().st_ino) == (layer, inode)
    assert os.listdir(layer.parent) == [layer.name]


def test_other_copies_are_another_layer(layer: Path) -> None:
    assert host_template.make_layer(layer.parent, ("services",), own_ids=False) != layer


@pytest.mark.parametrize(
    ("name", "expected"),
    [("tmp", 0o1777), ("var/tmp", 0o1777), ("root", 0o700), ("etc", 0o755), ("etc/passwd", 0o644), ("usr", 0o755)],
)
def test_modes_don_t_depend_on_the_umask(layer: Path, name: str, expected: int) -> None:
    assert mode(layer / name) == expected


def test_programs_are_seen_and_homes_are_not() -> None:
    sources = {bind.source for bind in host_template.host_binds()}
    assert "/usr" in sources
    assert not sources & {"/", "/etc", "/home", "/root", "/var", "/run", "/tmp"}
    assert all(bind.read_only for bind in host_template.host_binds())


def test_links_to_usr_are_as_on_the_host(layer: Path) -> None:
    for name in ("bin", "sbin", "lib"):
        if Path("/", name).is_symlink():
            assert os.readlink(layer / name) == os.readlink(Path("/", name)).removeprefix("/")


@pytest.mark.root
def test_the_home_belongs_to_its_user(layer: Path) -> None:
    assert (layer / "home/sandbox").stat().st_uid == host_template.SANDBOX_ID


@pytest.mark.root
def test_owners_are_shifted_where_mounts_cannot_map_them(tmp_path: Path) -> None:
    layer = host_template.make_layer(tmp_path, (), own_ids=True, shift=700_000)
    owners = {path.lstat().st_uid for path in (layer, *layer.rglob("*"))}
    assert owners == {700_000, 701_000}
    assert layer != host_template.make_layer(tmp_path, (), own_ids=True)
