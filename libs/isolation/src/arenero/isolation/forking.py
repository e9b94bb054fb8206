"""Forked children: one that starts in new namespaces, and one that answers a question and is gone.

Both are for processes with a single thread: a child has only the thread that forked, and a lock held by another one
would stay locked in it for ever.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from typing import Any, Final

from arenero.isolation import syscalls

_python: Final = ctypes.pythonapi
# Keeps the interpreter's lock during the call, as os.fork does.
_libc: Final = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_CLONE_INTO_CGROUP: Final = 0x200000000
_CLONE_VM: Final = 0x100
_PAUSE_STACK_BYTES: Final = 16_384
for _hook in (_python.PyOS_BeforeFork, _python.PyOS_AfterFork_Parent, _python.PyOS_AfterFork_Child):
    _hook.restype = None
    _hook.argtypes = ()


def fork_into(flags: int, *, cgroup_fd: int = -1) -> int:
    """Fork a child that is born in new namespaces (`CLONE_NEW*` flags); returns like `os.fork`.

    With `cgroup_fd`, a directory of a version 2 group, it is born in that group too. To move it there later costs a
    wait for every processor of the host, several milliseconds.

    Against fork, unshare and a second fork, this saves one process and one copy of the page tables: the child itself is
    process 1 of its PID namespace.

    The C library does not take part, so in the child it still believes in the parent's thread id. That matters to
    threads only: the child may fork and exec, and must not start a thread itself. (A child that `os.fork` makes of it
    may.)

    Raises:
        OSError: What clone(2) says.
    """
    arguments = _plain_clone(flags) if cgroup_fd < 0 else _clone_into_group(flags, cgroup_fd)
    _python.PyOS_BeforeFork()
    pid = int(_libc.syscall(*arguments))
    if pid == 0:
        _python.PyOS_AfterFork_Child()
        return 0
    code = ctypes.get_errno()
    _python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(code, f"clone({flags:#x}): {os.strerror(code)}")
    return pid


def _plain_clone(flags: int) -> tuple[Any, ...]:
    word = ctypes.c_long
    return (word(syscalls.number("clone")), word(flags | signal.SIGCHLD), word(0), word(0), word(0), word(0))


def _clone_into_group(flags: int, cgroup_fd: int) -> tuple[Any, ...]:
    """Return the arguments of clone3(2), which alone knows about groups."""
    # struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, stack, size, tls, set_tid, its size, cgroup
    fields = (ctypes.c_uint64 * 11)(flags | _CLONE_INTO_CGROUP, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, cgroup_fd)
    return (ctypes.c_long(syscalls.number("clone3")), fields, ctypes.c_long(ctypes.sizeof(fields)))


def ask(question: Callable[[], Any], *, timeout_s: float = 10.0) -> Any:
    """Return what the function answers in a forked child, which may change itself beyond repair to find out.

    Args:
        question: Called in the child. Its answer is passed as JSON.
        timeout_s: The child is killed after this time.

    Raises:
        OSError: The function raised it in the child.
        TimeoutError: The child did not answer in time.
        RuntimeError: It raised something else, or died.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        answer_and_exit(question, writer)
    os.close(writer)
    with reaped(pid):
        answer = _read_all(reader, timeout_s)
    if not answer:
        raise RuntimeError("the child died without an answer")
    return _unpack(answer)


def answer_and_exit(question: Callable[[], Any], writer: int) -> None:
    """Write what the function returns or raises into a pipe, as JSON, and end this process."""
    try:
        answer: dict[str, Any] = {"value": question()}
    except OSError as error:
        answer = {"errno": error.errno, "message": error.strerror or str(error)}
    except BaseException:  # noqa: BLE001 - whatever it is, the parent must hear of it
        answer = {"defect": traceback.format_exc()}
    with contextlib.suppress(OSError):
        os.write(writer, json.dumps(answer).encode())
    os._exit(0)  # noqa: TID251 - a forked child must not run the parent's exit handlers


@contextlib.contextmanager
def pausing_child(flags: int) -> Iterator[int]:
    """Give the pid of a child in new namespaces that does nothing at all; it ends with the block.

    It shares this process's memory and runs `pause` of the C library on a stack of its own: no Python, no copied pages,
    so it takes 0.1 ms where a fork takes 3.

    Raises:
        OSError: What clone(2) says.
    """
    stack = ctypes.create_string_buffer(_PAUSE_STACK_BYTES)
    # Stacks grow downwards and begin at a multiple of 16.
    top = (ctypes.addressof(stack) + _PAUSE_STACK_BYTES) & ~15
    pause = ctypes.cast(_libc.pause, ctypes.c_void_p)
    pid = int(_libc.clone(pause, ctypes.c_void_p(top), ctypes.c_int(flags | _CLONE_VM | signal.SIGCHLD), None))
    if pid < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"clone({flags:#x}): {os.strerror(code)}")
    with reaped(pid):
        yield pid


@contextlib.contextmanager
def reaped(pid: int) -> Iterator[None]:
    """On leaving, kill the child if it still runs and collect it."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _read_all(reader: int, timeout_s: float) -> bytes:
    # Imported here, not in the child: this runs in the asking process only.
    import select
    import time

    deadline = time.monotonic() + timeout_s
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    parts: list[bytes] = []
    with os.fdopen(reader, "rb", buffering=0) as stream:
        while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            part = stream.read(65_536)
            if not part:
                return b"".join(parts)
            parts.append(part)
    raise TimeoutError("the child did not answer in time")


def _unpack(answer: bytes) -> Any:
    values = json.loads(answer)
    if "defect" in values:
        raise RuntimeError(values["defect"])
    if "errno" in values:
        raise OSError(values["errno"], values["message"])
    return values["value"]
