"""The pieces of a root file system on this kernel."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import forking, mounts, rootfs
from arenero.isolation.namespaces import Namespace
from tests.contract.isolation.running import trial

pytestmark = pytest.mark.root


def within(directory: str, look: Any) -> Any:
    """Call a function with the root of a file system in new namespaces."""
    reader, writer = os.pipe()
    pid = forking.fork_into(Namespace.MOUNT | Namespace.PID | Namespace.IPC)
    if pid == 0:

        def act() -> Any:
            mounts.make_private()
            for name in ("proc", "dev", "sys"):
                Path(directory, name).mkdir()
            return look(directory)

        forking.answer_and_exit(act, writer)
    os.close(writer)
    answer = b""
    while part := os.read(reader, 65_536):
        answer += part
    os.waitpid(pid, 0)
    return answer.decode()


def refusal(act: Any) -> str:
    try:
        act()
    except OSError as error:
        return os.strerror(error.errno or 0)
    return "done"


def shows_proc(directory: str) -> Any:
    def look(root: str) -> Any:
        rootfs.mount_proc(root)
        proc = Path(root, "proc")
        masked = [name for name in rootfs.HIDDEN_PROC if (proc / name).is_file() and (proc / name).read_bytes()]
        return {
            "processes": sorted(name for name in os.listdir(proc) if name.isdigit()),
            "shown": masked,
            "sys": refusal(lambda: (proc / "sys/kernel/domainname").write_text("x")),
            "sysrq": refusal(lambda: (proc / "sysrq-trigger").write_text("x")),
        }

    return within(directory, look)


def shows_dev(directory: str) -> Any:
    def look(root: str) -> Any:
        rootfs.mount_dev(root, shm_bytes=65_536, tty_gid=5)
        dev = Path(root, "dev")
        devices = [name for name in os.listdir(dev) if stat.S_ISCHR((dev / name).lstat().st_mode)]
        (dev / "null").write_bytes(b"x")
        return {
            "names": sorted(os.listdir(dev)),
            "devices": sorted(devices),
            "zero": (dev / "zero").open("rb").read(3).hex(),
            "made": refusal(lambda: (dev / "new").touch()),
            "shm": refusal(lambda: (dev / "shm/a").write_bytes(bytes(100_000))),
            "ptmx": os.path.exists(dev / "pts/ptmx"),
        }

    return within(directory, look)


def shows_sys(directory: str) -> Any:
    def look(root: str) -> Any:
        group = Path(directory, "group")
        group.mkdir()
        (group / "memory.max").write_text("5")
        rootfs.mount_sys(root, {"memory": str(group), "": str(group)})
        sys = Path(root, "sys")
        return {
            "top": sorted(os.listdir(sys)),
            "limit": (sys / "fs/cgroup/memory/memory.max").read_text(),
            "write": refusal(lambda: (sys / "fs/cgroup/memory/memory.max").write_text("6")),
            "cpu": (sys / "devices/system/cpu/online").exists(),
            "block": (sys / "block").exists(),
        }

    return within(directory, look)


def test_proc_is_its_own_and_masked(tmp_path: Path) -> None:
    found = trial(shows_proc, str(tmp_path))
    assert '"processes": ["1"]' in found
    assert '"shown": []' in found
    assert '"sys": "Read-only file system"' in found
    # Not every kernel has it.
    assert '"sysrq": "Read-only file system"' in found or '"sysrq": "No such file or directory"' in found


def test_dev_has_what_programs_need(tmp_path: Path) -> None:
    found = trial(shows_dev, str(tmp_path))
    assert '"devices": ["full", "null", "random", "tty", "urandom", "zero"]' in found
    assert '"zero": "000000"' in found
    assert '"made": "Read-only file system"' in found
    assert '"shm": "No space left on device"' in found
    assert '"ptmx": true' in found


def test_sys_shows_processors_and_limits_only(tmp_path: Path) -> None:
    found = trial(shows_sys, str(tmp_path))
    assert '"top": ["devices", "fs"]' in found
    assert '"limit": "5"' in found
    assert '"write": "Read-only file system"' in found
    assert '"cpu": true, "block": false' in found


def test_nothing_is_mounted_outside(tmp_path: Path) -> None:
    trial(shows_proc, str(tmp_path))
    assert os.listdir(tmp_path / "proc") == []
