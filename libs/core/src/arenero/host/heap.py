"""How libc's allocator treats large blocks.

By default glibc gives a block of a megabyte back to the kernel as soon as it is free, and the next one is taken from
there again and zeroed page by page: with messages of that size this costs as much as all the rest. It also keeps an
own heap for nearly every thread. So blocks are kept, in few heaps, and given back when the work is done.
"""

from __future__ import annotations

import ctypes
from typing import Final

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8
_KEPT_BYTES: Final = 16 * 1024 * 1024
"""In each heap: what some transfers at once take and drop thousands of times a second."""
_OWN_MAPPING_BYTES: Final = 32 * 1024 * 1024
"""The most that glibc accepts."""
_HEAPS: Final = 2

_libc: Final = ctypes.CDLL(None)


def tune() -> None:
    """Keep large blocks for the next use. For the whole process, and best before it has threads; safe to repeat."""
    if not hasattr(_libc, "mallopt"):
        return  # Another libc, which does as it likes.
    for option, value in ((_ARENA_MAX, _HEAPS), (_MMAP_THRESHOLD, _OWN_MAPPING_BYTES), (_TRIM_THRESHOLD, _KEPT_BYTES)):
        _libc.mallopt(option, value)


def trim() -> None:
    """Give free memory back to the kernel; takes some milliseconds."""
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(ctypes.c_size_t(0))
