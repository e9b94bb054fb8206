"""Terminals: a pair of descriptors, of which the exec gets one and execd keeps the other."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
from typing import Final

from arenero.execd.spec import Size

_WINSIZE: Final = struct.Struct("HHHH")
_TTY_GID: Final = 5
_TTY_MODE: Final = 0o620
_EOF_INDEX: Final = termios.VEOF
_CONTROL_CHARACTERS: Final = 6
_DEFAULT_EOF: Final = b"\x04"


def open_terminal(size: Size, uid: int) -> tuple[int, int]:
    """Return execd's and the exec's side of a new terminal that has its size and belongs to a user.

    Raises:
        OSError: The sandbox has no /dev/ptmx, or no terminals are left.
    """
    ours, theirs = os.openpty()
    try:
        resize(ours, size)
        with contextlib.suppress(OSError):
            # As login does, so that the user can open the terminal by its name.
            os.fchown(theirs, uid, _TTY_GID)
            os.fchmod(theirs, _TTY_MODE)
    except OSError:
        os.close(ours)
        os.close(theirs)
        raise
    return ours, theirs


def resize(fd: int, size: Size) -> None:
    """Set the size; the foreground group gets SIGWINCH if it changed."""
    packed = _WINSIZE.pack(size.rows, size.columns, size.width_px, size.height_px)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, packed)


def foreground_group(fd: int) -> int:
    """Return the process group that the terminal's keys signal; 0 when there is none."""
    try:
        return os.tcgetpgrp(fd)
    except OSError:
        return 0


def end_of_file(fd: int) -> bytes:
    """Return the character that means the end of input on this terminal now."""
    try:
        character = termios.tcgetattr(fd)[_CONTROL_CHARACTERS][_EOF_INDEX]
    except (OSError, ValueError, termios.error):
        return _DEFAULT_EOF
    return character if isinstance(character, bytes) else _DEFAULT_EOF
