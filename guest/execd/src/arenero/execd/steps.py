"""The steps of a launch that both ways of launching share, each with its failure told apart from the others'.

They are done with the rights of the user where the user's rights matter, so that every refusal is the one that the user
would get, and nothing of the sandbox's files is trusted.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import Any, Final, TypeVar

from arenero.execd.launch import Fault, Launch

_KEEPS_LOOKING: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENAMETOOLONG, errno.ELOOP})
_T = TypeVar("_T")


class Failed(Exception):
    """A step of a launch failed."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


def step(stage: str, function: Callable[..., _T], *arguments: Any, subject: bytes = b"") -> _T:
    """Do one step.

    Raises:
        Failed: The system refused it.
    """
    try:
        return function(*arguments)
    except OSError as error:
        raise Failed(Fault(stage, error.errno or errno.EIO, subject)) from None
    except ValueError:
        # setrlimit: the kernel said EINVAL or EPERM, and Python made this of it.
        raise Failed(Fault(stage, errno.EPERM, subject)) from None


def set_ids(launch: Launch, saved_uid: int, saved_gid: int) -> None:
    """Take on the user's groups and ids; the saved ones are the way back, where there is to be one.

    Raises:
        Failed: The system refused it.
    """
    if launch.groups is not None:
        step("setgroups", os.setgroups, launch.groups)
    step("setgid", os.setresgid, launch.gid, launch.gid, saved_gid)
    step("setuid", os.setresuid, launch.uid, launch.uid, saved_uid)


def enter(launch: Launch) -> None:
    """Go where the program is to run, as the user.

    Raises:
        Failed: The system refused it.
    """
    os.umask(launch.umask)
    step("chdir", os.chdir, launch.cwd, subject=launch.cwd)


def execute(launch: Launch, run: Callable[[bytes, tuple[bytes, ...]], _T]) -> _T:
    """Try the program's places in order, as execvp does, but remember what each one's refusal meant.

    Args:
        launch: What to run.
        run: Runs the program at a path with these arguments, or raises OSError.

    Raises:
        Failed: No place held a program that runs.
    """
    refused: Fault | None = None
    for path, name in launch.programs:
        if launch.searched and not os.path.lexists(path):
            continue
        try:
            return run(path, (name, *launch.arguments))
        except OSError as error:
            code = error.errno or errno.EIO
            fault = Fault("execve", code, path, examine(path, code))
            if code not in _KEEPS_LOOKING or fault.finding == "interpreter":
                raise Failed(fault) from None
            if refused is None and code == errno.EACCES:
                refused = fault
    if refused is not None:
        raise Failed(refused)
    subject = launch.programs[0][1] if launch.searched else launch.programs[-1][0]
    raise Failed(Fault("lookup" if launch.searched else "execve", errno.ENOENT, subject))


def examine(path: bytes, code: int) -> str:
    """Say what execve found wrong with a program's file: one word, or nothing when the errno says it all.

    `interpreter`: the file is there, what it names as its interpreter is not. `directory`, `mode`, `format`: it is no
    program. `search`: a directory on the way is closed.
    """
    try:
        found = os.stat(path)
    except OSError as error:
        return "search" if error.errno == errno.EACCES else ""
    if stat.S_ISDIR(found.st_mode):
        return "directory"
    if code == errno.ENOENT:
        return "interpreter"
    if code == errno.EACCES:
        return "mode"
    return "format" if code == errno.ENOEXEC else ""
