"""What this host gives: every mechanism is tried for real in a forked child, never guessed from a version.

Each *finding* has a name, whether it works, what was seen, and how to mend it. As root the namespaces are tried
directly; as an ordinary user inside a user namespace, which is how they would be used.

The trials fork, which a process with threads must not do: what runs in the child first, such as the fork hooks of the
libraries that it has loaded, may wait for a lock that a thread of the parent held. So such a process asks another one:
`python -m arenero.isolation.probe DIRECTORY` prints the survey, and `parse` reads it.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from arenero.isolation import (
    capabilities,
    cgroup_layout,
    disk,
    forking,
    landlock,
    mounts,
    namespaces,
    seccomp,
    syscalls,
)
from arenero.isolation.namespaces import IdMap, Namespace

NAMESPACES: Final = {
    "mount-namespace": Namespace.MOUNT,
    "pid-namespace": Namespace.PID,
    "network-namespace": Namespace.NETWORK,
    "ipc-namespace": Namespace.IPC,
    "uts-namespace": Namespace.UTS,
    "cgroup-namespace": Namespace.CGROUP,
}
_FIX_NAMESPACES: Final = (
    "in a container, start it with --security-opt seccomp=unconfined --security-opt systempaths=unconfined; "
    "on a host, check sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone and "
    "kernel.apparmor_restrict_unprivileged_userns"
)
_PROBE_ID: Final = 900_000
"""An id that nobody has; the trial maps need one."""

_INOTIFY: Final = Path("/proc/sys/fs/inotify")
_ENOUGH_INOTIFY: Final = 1024
_ADVISED_INOTIFY: Final = 8192


@dataclass(frozen=True, slots=True)
class Finding:
    """One mechanism."""

    name: str
    ok: bool
    message: str = ""
    """What was seen."""
    fix: str = ""
    """How to mend it; empty when it works or can't be mended."""


@dataclass(frozen=True, slots=True)
class Survey:
    """All findings of a host."""

    findings: tuple[Finding, ...]

    def works(self, *names: str) -> bool:
        """Whether all these mechanisms work."""
        return all(finding.ok for finding in self.findings if finding.name in names)

    def faults(self, *names: str) -> tuple[Finding, ...]:
        """Return those of these mechanisms that don't work."""
        return tuple(finding for finding in self.findings if finding.name in names and not finding.ok)

    def get(self, name: str) -> Finding:
        """Return a finding by name.

        Raises:
            KeyError: There is none.
        """
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(name)


def survey(directory: Path) -> Survey:
    """Try everything. Takes some 0.3 s. Only for processes without threads.

    Args:
        directory: Where sandboxes would live: what a file system can do depends on which one it is.
    """
    with tempfile.TemporaryDirectory(dir=directory, prefix=".survey-") as scratch:
        return Survey(
            (
                _root(),
                _user_namespace(),
                *(_namespace(name, kind) for name, kind in NAMESPACES.items()),
                _trial("overlay", lambda: _try_overlay(Path(scratch, "overlay")), fix=_FIX_NAMESPACES),
                _trial("idmapped-mounts", lambda: _try_idmapped(Path(scratch, "idmapped"))),
                _trial("proc", _try_proc, fix=_FIX_NAMESPACES),
                _disk_image(Path(scratch)),
                *_cgroups(),
                _trial("seccomp", _try_seccomp),
                _landlock(),
                _trial("pidfd", _try_pidfd),
                _newuidmap(),
                inotify(),
            )
        )


def command(directory: Path) -> list[str]:
    """Return the command that makes a survey in a process of its own and prints it."""
    return [sys.executable, "-P", "-s", "-m", __spec__.name, str(directory)]


def parse(printed: bytes) -> Survey:
    """Read a printed survey.

    Raises:
        ValueError: It is none.
    """
    return Survey(tuple(Finding(**finding) for finding in json.loads(printed)))


def _trial(name: str, attempt: Callable[[], Any], *, fix: str = "") -> Finding:
    """Run a trial in a child; it works when it returns, and its answer is the message."""
    try:
        return Finding(name, ok=True, message=str(forking.ask(attempt) or ""))
    except OSError as error:
        return Finding(name, ok=False, message=error.strerror or str(error), fix=fix)
    except (RuntimeError, TimeoutError) as error:
        return Finding(name, ok=False, message=str(error), fix=fix)


def _root() -> Finding:
    if os.geteuid() == 0:
        return Finding("root", ok=True)
    return Finding("root", ok=False, message=f"runs as user {os.geteuid()}", fix="run as root for all limits")


def _user_namespace() -> Finding:
    def attempt() -> str:
        syscalls.unshare(Namespace.USER)
        return ""

    return _trial("user-namespace", attempt, fix=_FIX_NAMESPACES)


def _namespace(name: str, kind: Namespace) -> Finding:
    message = namespaces.probe(kind, inside_user_namespace=os.geteuid() != 0)
    return Finding(name, ok=not message, message=message, fix=_FIX_NAMESPACES if message else "")


def _enter_private_mounts() -> bool:
    """Go into a mount namespace where mounting is allowed; True when a user namespace was needed for it."""
    if os.geteuid() == 0:
        syscalls.unshare(Namespace.MOUNT)
        mounts.make_private()
        return False
    uid, gid = os.geteuid(), os.getegid()
    syscalls.unshare(Namespace.USER | Namespace.MOUNT)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        Path("/proc/self", name).write_text(text)
    mounts.make_private()
    return True


def _try_overlay(directory: Path) -> str:
    unprivileged = _enter_private_mounts()
    lower, upper, work, target = (directory / name for name in ("lower", "upper", "work", "target"))
    for path in (lower, upper, work, target):
        path.mkdir(parents=True)
    (lower / "file").write_text("lower")
    mounts.overlay(str(target), lower=[str(lower)], upper=str(upper), work=str(work), unprivileged=unprivileged)
    (target / "file").write_text("changed")
    (target / "gone").mkdir()
    if (lower / "file").read_text() != "lower":
        raise OSError(errno.EIO, "a write reached the lower layer")
    return ""


def _try_idmapped(directory: Path) -> str:
    if os.geteuid() != 0:
        raise OSError(errno.EPERM, "needs root")
    source, target = directory / "source", directory / "target"
    source.mkdir(parents=True)
    target.mkdir()
    run = (IdMap(0, _PROBE_ID, 1),)
    userns_fd = namespaces.make_user_namespace(run, run)
    syscalls.unshare(Namespace.MOUNT)
    mounts.make_private()
    mounts.bind_mapped(str(source), str(target), userns_fd)
    if target.stat().st_uid != _PROBE_ID:
        raise OSError(errno.EIO, "the owner is not mapped")
    return ""


def _try_proc() -> str:
    """Mount /proc in a PID namespace of its own; a container whose /proc is masked may not."""
    _enter_private_mounts()
    syscalls.unshare(Namespace.PID)

    def mount_inside() -> str:
        mounts.proc("/proc")
        return os.readlink("/proc/self")

    return "" if forking.ask(mount_inside) == "1" else "odd"


def _disk_image(directory: Path) -> Finding:
    if os.geteuid() != 0:
        return Finding("disk-image", ok=False, message="mounting an image needs root", fix="run as root")
    message = disk.probe(directory)
    fix = "apt-get install e2fsprogs; in a container, give it /dev/loop-control and the loop devices"
    return Finding("disk-image", ok=not message, message=message, fix=fix if message else "")


def _cgroups() -> Sequence[Finding]:
    layout = cgroup_layout.detect()
    offered = {controller: layout.directory_of(controller) for controller in cgroup_layout.WANTED}
    found = Finding(
        "cgroups",
        ok=any(offered.values()) and os.geteuid() == 0,
        message=f"{layout.flavour.value}: " + (", ".join(sorted(c for c, at in offered.items() if at)) or "none"),
        fix="" if os.geteuid() == 0 else "run as root, or below `systemd-run --user --scope -p Delegate=yes`",
    )
    kill = Finding(
        "cgroup-kill",
        ok=bool(layout.unified),
        message="the unified hierarchy can kill and freeze whole groups" if layout.unified else "version 1 only",
    )
    return (found, kill)


def _try_seccomp() -> str:
    capabilities.drop_all()
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.install(seccomp.compile_default())
    try:
        syscalls.unshare(Namespace.USER)
    except OSError as error:
        if error.errno == errno.EPERM:
            return ""
        raise
    raise OSError(errno.EIO, "the filter let a call through")


def _landlock() -> Finding:
    level = landlock.abi()
    missing = ", ".join(landlock.missing_at(level))
    message = f"ABI {level}" + (f"; not: {missing}" if level and missing else "")
    fix = "" if level else "a kernel of 5.13 or later, booted with landlock in lsm="
    return Finding("landlock", ok=level > 0, message=message, fix=fix)


def _try_pidfd() -> str:
    os.close(syscalls.pidfd_open(os.getpid()))
    return ""


def _newuidmap() -> Finding:
    if os.geteuid() == 0:
        return Finding("newuidmap", ok=True, message="not needed as root")
    uids, gids = namespaces.granted_ranges()
    if not namespaces.has_newuidmap():
        return Finding("newuidmap", ok=False, message="not installed", fix="apt-get install uidmap")
    if uids is None or gids is None:
        return Finding(
            "newuidmap",
            ok=False,
            message="no range for this user in /etc/subuid and /etc/subgid",
            fix="usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER",
        )
    return Finding("newuidmap", ok=True, message=f"{uids.count} user ids from {uids.outside}")


def inotify(directory: Path = _INOTIFY) -> Finding:
    """Look at how many watches of files there may be: all sandboxes count against the one user who made them."""
    try:
        most = int((directory / "max_user_instances").read_text())
    except (OSError, ValueError) as error:
        return Finding("inotify", ok=False, message=f"the kernel has no inotify: {error}")
    if most >= _ENOUGH_INOTIFY:
        return Finding("inotify", ok=True, message=f"{most} instances")
    return Finding(
        "inotify",
        ok=False,
        message=f"{most} instances for all sandboxes together; each that watches files takes one or more",
        fix=f"sysctl -w fs.inotify.max_user_instances={_ADVISED_INOTIFY}, and in /etc/sysctl.d for good",
    )


if __name__ == "__main__":
    json.dump([asdict(finding) for finding in survey(Path(sys.argv[1])).findings], sys.stdout)
