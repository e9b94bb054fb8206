"""Signals as something to poll for: who sent one is known, and none ever interrupts the code in between.

The sender matters because process 1 of a PID namespace must obey a SIGTERM from outside (its sender shows as pid 0) and
not one from the programs that it watches over.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from collections.abc import Iterable, Iterator
from typing import Final

_RECORD_BYTES: Final = 128
_RECORD: Final = struct.Struct("=IiiI")
"""The start of a `signalfd_siginfo`: signal, errno, code, sender's pid."""
_libc: Final = ctypes.CDLL(None, use_errno=True)
_libc.signalfd.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int)


def open_for(signals: Iterable[signal.Signals]) -> int:
    """Block these signals in this thread and return a descriptor, not blocking, that they can be read from.

    Raises:
        OSError: The kernel has no signalfd.
    """
    wanted = frozenset(signals)
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    mask = sum(1 << (number - 1) for number in wanted).to_bytes(_RECORD_BYTES, "little")
    fd = int(_libc.signalfd(-1, mask, os.O_CLOEXEC | os.O_NONBLOCK))
    if fd < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"signalfd: {os.strerror(code)}")
    return fd


def read(fd: int) -> Iterator[tuple[int, int]]:
    """Yield number and sender of every signal that waits. Several of one number may have become one."""
    while True:
        try:
            records = os.read(fd, 16 * _RECORD_BYTES)
        except BlockingIOError:
            return
        for at in range(0, len(records), _RECORD_BYTES):
            number, _, _, sender = _RECORD.unpack_from(records, at)
            yield number, sender
