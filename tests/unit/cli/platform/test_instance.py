"""An instance on disk: short socket paths, private directories, a state that names a process for good."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arenero.cli.platform.instance import Instance, is_alive, start_ticks, write_private

LONGEST_SOCKET_PATH_BYTES = 107


@pytest.mark.parametrize("home", ["/h", "/var/lib/arenero", "/" + "h" * 48, "/" + "h" * 49, "/" + "long/" * 40])
def test_sockets_fit_whatever_the_home_is(home: str) -> None:
    instance = Instance(Path(home))
    longest = instance.sandboxes / "sandboxes" / f"sbx_{'a' * 20}" / "execd.sock"
    assert len(os.fsencode(longest)) <= LONGEST_SOCKET_PATH_BYTES
    assert len(os.fsencode(instance.socket("lifecycle").removeprefix("unix:"))) <= LONGEST_SOCKET_PATH_BYTES


def test_instances_differ_by_their_homes() -> None:
    assert Instance(Path("/a")).name != Instance(Path("/b")).name
    assert Instance(Path("/" + "x" * 60)).run != Instance(Path("/" + "y" * 60)).run


def test_directories_are_for_the_owner_alone(tmp_path: Path) -> None:
    instance = Instance(tmp_path / "home")
    instance.prepare()
    instance.prepare()
    assert {path.stat().st_mode & 0o777 for path in (instance.home, instance.run, instance.logs)} == {0o700}


def test_refuses_a_directory_that_others_may_write(tmp_path: Path) -> None:
    instance = Instance(tmp_path / "home")
    instance.prepare()
    instance.logs.chmod(0o777)
    with pytest.raises(PermissionError):
        instance.prepare()


def test_refuses_a_link_in_place_of_its_directory(tmp_path: Path) -> None:
    instance = Instance(tmp_path / "home")
    instance.home.mkdir()
    (tmp_path / "elsewhere").mkdir()
    instance.logs.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError):
        instance.prepare()


def test_private_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_private(path, "one")
    write_private(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [*tmp_path.iterdir()] == [path]


def test_state_counts_only_while_its_writer_lives(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        instance.write_state({"pid": child.pid, "start_ticks": start_ticks(child.pid), "phase": "ready"})
        assert instance.read_state() is not None
        instance.write_state({"pid": child.pid, "start_ticks": start_ticks(child.pid) + 1, "phase": "ready"})
        assert instance.read_state() is None, "another process has the pid now"
    finally:
        child.communicate()
    assert not is_alive(child.pid, start_ticks(child.pid))


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '{"pid": 0, "start_ticks": 0}'])
def test_a_broken_state_is_no_state(tmp_path: Path, content: str) -> None:
    (tmp_path / "platform.json").write_text(content)
    assert Instance(tmp_path).read_state() is None
