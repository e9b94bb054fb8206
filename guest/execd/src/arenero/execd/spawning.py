"""Forking a sandbox off the zygote: the parent's half, and what the child does until it is the sandbox's init.

The two are connected by a socket pair, the *line*. The child says what it built, or which step failed, in one line of
JSON. Then it waits for its `InitPlan`: a sandbox can be built before anybody knows whose it will be. Its server's
`ready` is the last word. When the line closes before the plan came, the child ends; so cells that nobody claimed end
with their zygote.

The child's standard error is a pipe, so that whatever a sandbox's own processes complain about ends up in the zygote's
log.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from arenero.execd.plan import InitPlan
from arenero.isolation import cmdline, forking, namespaces, syscalls
from arenero.isolation.builder import OWN_NAMESPACES, Builder, StepFailed
from arenero.isolation.cgroup_layout import Layout
from arenero.isolation.cgroups import Group
from arenero.isolation.namespaces import IdMap, Namespace
from arenero.isolation.plan import SandboxPlan

Entry = Callable[[InitPlan, Callable[[], InitPlan | None]], NoReturn]
"""Is given what is known of the plan before the sandbox is claimed, and what waits for all of it."""

_FD_FIELDS: Final = {
    "cgroup": "cgroup_fd",
    "memory_events": "memory_events_fd",
    "memory_usage": "memory_usage_fd",
    "cpu_usage": "cpu_usage_fd",
}
_OWN_FACTS: Final = (*_FD_FIELDS.values(), "ready_fd", "cgroup_controllers")
_READ_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Child:
    """A sandbox that was forked off, and the parent's ends; reading from them doesn't block."""

    pid: int
    line: socket.socket
    log_fd: int


class Spawner:
    """Forks sandboxes. For a process with a single thread.

    Args:
        layout: The host's control groups.
        entry: Run by the first process of every sandbox when it is built and has its plan.
    """

    def __init__(self, layout: Layout, entry: Entry) -> None:
        self._layout = layout
        self._entry = entry
        self._command_line = cmdline.find()

    def spawn(self, plan: SandboxPlan) -> Child:
        """Fork one sandbox, which begins to build itself.

        Raises:
            OSError: There is no child; the message names the call.
        """
        ours, theirs = socket.socketpair()
        log_reader, log_writer = os.pipe()
        try:
            pid = self._fork(plan, theirs, log_writer)
        except OSError:
            ours.close()
            os.close(log_reader)
            raise
        finally:
            theirs.close()
            os.close(log_writer)
        os.set_blocking(log_reader, False)
        return Child(pid, ours, log_reader)

    def _fork(self, plan: SandboxPlan, line: socket.socket, log: int) -> int:
        group = Group(self._layout, plan.groups) if plan.groups else None
        if plan.landlocked is not None:
            pid = os.fork()
            if pid == 0:
                self._be_sandbox(plan, group, -1, line, log)
            return pid
        if plan.rootless:
            return self._fork_rootless(plan, group, line, log)
        userns_fd = namespaces.make_user_namespace(plan.uids, plan.gids) if plan.uids else -1
        try:
            pid = _fork_into_group(group)
            if pid == 0:
                self._be_sandbox(plan, group, userns_fd, line, log)
            return pid
        finally:
            if userns_fd >= 0:
                os.close(userns_fd)

    def _fork_rootless(self, plan: SandboxPlan, group: Group | None, line: socket.socket, log: int) -> int:
        def fork() -> int:
            pid = _fork_into_group(group)
            if pid == 0:
                self._be_sandbox(plan, group, -1, line, log)
            return pid

        return as_mapped_root(plan.uids, plan.gids, fork, newuidmap=plan.newuidmap)

    def _be_sandbox(
        self, plan: SandboxPlan, group: Group | None, userns_fd: int, line: socket.socket, log: int
    ) -> NoReturn:
        """Build the sandbox around this process and become its init. Never returns into the zygote's code."""
        try:
            _forget_parent(frozenset({line.fileno(), userns_fd}), log)
            self._command_line.overwrite("arenero-init")
            built = Builder(plan, group, userns_fd).build()
            if userns_fd >= 0:
                os.close(userns_fd)
            _open_stdin()
            _tell(line, {"spans": built.spans})
            surroundings = _surroundings(plan, built.fds, group, line.fileno())
            if plan.landlocked is None:
                self._entry(surroundings, lambda: _receive_plan(line, surroundings))
            # Under rules even the address is the plan's own.
            elif (claimed := _receive_plan(line, surroundings)) is not None:
                self._entry(claimed, lambda: claimed)
        except StepFailed as failed:
            _tell(line, {"step": failed.step, "errno": failed.errno, "message": failed.message})
        except BaseException:  # noqa: BLE001 - nobody above this is left to report it
            _tell(line, {"step": "entry", "errno": 0, "message": traceback.format_exc()[-2000:]})
        finally:
            os._exit(1)  # noqa: TID251 - forked from the zygote, whose exit handlers are not this one's


def as_mapped_root(
    uids: Sequence[IdMap], gids: Sequence[IdMap], act: Callable[[], int], *, newuidmap: bool = False
) -> int:
    """Return what a function returns in a child that is root of a new user namespace; for ordinary users.

    Args:
        uids: Map of the user ids.
        gids: Map of the group ids.
        act: Called in the child; its answer is a number that is not negative.
        newuidmap: Map ids by the set-user-id programs.

    Raises:
        OSError: The namespace can't be made or mapped, or the function raised it.
    """
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        _be_mapped_root(theirs, act)
    theirs.close()
    with ours, forking.reaped(child):
        _expect(ours, "unshare")
        (namespaces.write_maps_by_newuidmap if newuidmap else namespaces.write_maps)(child, uids, gids)
        ours.sendall(b"mapped\n")
        return _expect(ours, "its work")


def _be_mapped_root(parent: socket.socket, act: Callable[[], int]) -> NoReturn:
    try:
        # Only then may its own user write the maps.
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
        syscalls.unshare(Namespace.USER)
        _answer(parent, 0)
        if parent.recv(16):
            os.setresgid(0, 0, 0)
            os.setresuid(0, 0, 0)
            _answer(parent, act())
    except OSError as error:
        _answer(parent, -(error.errno or errno.EIO))
    finally:
        os._exit(0)  # noqa: TID251 - forked from the zygote, whose exit handlers are not this one's


def send_plan(line: socket.socket, values: Mapping[str, Any]) -> None:
    """Give a built sandbox its plan.

    Raises:
        OSError: It is gone.
    """
    line.sendall(json.dumps(values).encode())
    line.shutdown(socket.SHUT_WR)


def name_host(pid: int, hostname: str) -> None:
    """Name the host of a built sandbox. As the host's root: the sandbox's own has no right to.

    Raises:
        OSError: It is gone.
    """
    own = os.open("/proc/self/ns/uts", os.O_RDONLY | os.O_CLOEXEC)
    try:
        other = os.open(f"/proc/{pid}/ns/uts", os.O_RDONLY | os.O_CLOEXEC)
        try:
            syscalls.setns(other, Namespace.UTS)
        finally:
            os.close(other)
        try:
            syscalls.sethostname(hostname)
        finally:
            syscalls.setns(own, Namespace.UTS)
    finally:
        os.close(own)


def write_record(path: str, pid: int) -> None:
    """Write down which process a sandbox is: a pid alone means another one after a while, its start time doesn't."""
    record = b"%d %d\n" % (pid, start_ticks(pid))
    # Not O_TRUNC: a file that is emptied and written again is written out to the disk at once, on ext4.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, record)
        os.ftruncate(fd, len(record))
    finally:
        os.close(fd)


def start_ticks(pid: int) -> int:
    """Return when a process started, in clock ticks since the boot.

    Raises:
        OSError: There is no such process.
    """
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
        stat = stream.read()
    return int(stat[stat.rindex(")") + 2 :].split()[19])


def _fork_into_group(group: Group | None) -> int:
    """Fork into the new namespaces, and into the unified group where there is one."""
    if group is None or not group.unified:
        return forking.fork_into(OWN_NAMESPACES)
    directory = os.open(group.unified, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return forking.fork_into(OWN_NAMESPACES, cgroup_fd=directory)
    finally:
        os.close(directory)


def _forget_parent(keep: frozenset[int], log: int) -> None:
    """Drop what is the zygote's: descriptors, signal handlers.

    The first three numbers stay taken: whatever is opened from here on must not get one of them.
    """
    for standard in (1, 2):
        os.dup2(log, standard)
    # A log that nobody reads any more must not hold up a sandbox.
    os.set_blocking(2, False)
    syscalls.close_all_but(frozenset(fd for fd in keep if fd >= 0) | {0, 1, 2})
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _open_stdin() -> None:
    """Put /dev/null on descriptors 0 and 1: the sandbox's own, so that nothing points out of it."""
    null = os.open("/dev/null", os.O_RDWR)
    for target in (0, 1):
        if target != null:
            os.dup2(null, target)
    if null > 1:
        os.close(null)


def _receive_plan(line: socket.socket, surroundings: InitPlan) -> InitPlan | None:
    """Wait for the plan; None when whoever would send it is gone."""
    parts = []
    while part := line.recv(_READ_BYTES):
        parts.append(part)
    if not parts:
        return None
    plan = InitPlan.from_json(json.loads(b"".join(parts)))
    _write_identity(plan.hostname)
    return replace(plan, **{name: getattr(surroundings, name) for name in _OWN_FACTS})


def _write_identity(hostname: str) -> None:
    """Write the host's name where programs look for it. An image that has no usable /etc goes without."""
    hosts = f"127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n127.0.1.1\t{hostname}\n"
    for path, content in (("/etc/hostname", f"{hostname}\n"), ("/etc/hosts", hosts)):
        with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as stream:
            stream.write(content)


def _surroundings(plan: SandboxPlan, fds: Mapping[str, int], group: Group | None, line_fd: int) -> InitPlan:
    """Return what this process alone knows of its plan: its descriptors and what its control group can do."""
    named: dict[str, Any] = {_FD_FIELDS[name]: fd for name, fd in fds.items()}
    if plan.uids:
        named["ids"] = sum(run.count for run in plan.uids)
    controllers = group.child_controllers() if group and "cgroup" in fds else ()
    return InitPlan("", ready_fd=line_fd, cgroup_controllers=controllers, **named)


def _tell(line: socket.socket, facts: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        line.sendall(json.dumps(facts).encode() + b"\n")


def _answer(line: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):
        line.sendall(b"%d\n" % number)


def _expect(line: socket.socket, call: str) -> int:
    """Return the number that a child answers.

    Raises:
        OSError: It answered with an errno, or not at all.
    """
    answer = line.recv(32)
    number = int(answer) if answer else -errno.ECHILD
    if number < 0:
        raise OSError(-number, f"{call} in a user namespace: {os.strerror(-number)}")
    return number
