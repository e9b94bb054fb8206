"""Keep the pages that all sandboxes share as they are, so that a sandbox copies few of them.

A forked child copies a page when it writes to it. It writes wherever it makes an object, and the allocators put new
objects into the holes that imports have left between old ones: one hole here, one there, a page for each. So what is to
be forked fills its holes first; children then make their objects side by side, in pages of their own.

The interpreter also remembers where it found an attribute of a type, and counts a reference to the attribute's name
meanwhile. Whatever a child looks up displaces what the imports looked up, and writes to that name's page. So those
memories are dropped first.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from typing import Final

_CLASS_STEP: Final = 16
_LARGEST_CLASS: Final = 512
_POOL_MASK: Final = 0x3FFF
_POOL_HEADER: Final = 48
"""Pools of CPython's allocator have 16 KiB, and blocks of one size each after a header (Objects/obmalloc.c)."""
_MOST_PER_CLASS: Final = 20_000
_LARGE_SIZES: Final = (65_536, 32_768, 16_384, 8_192, 4_096, 2_048)
_MOST_BLOCKS: Final = 100_000


class _MallInfo(ctypes.Structure):
    """What glibc's mallinfo2 returns; see mallinfo(3)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    )  # fmt: skip


_filling: Final[list[object]] = []


def settle() -> None:
    """Make this process ready to be forked many times; for a process with a single thread that has loaded all.

    No collection of garbage runs in it, nor in its children, unless they ask for one: it would touch every object.
    """
    gc.collect()
    _filling.extend(_fill_pools())
    _fill_heap()
    _forget_attributes()
    gc.freeze()
    gc.disable()


def _fill_pools() -> Iterator[object]:
    """Yield objects that fill the started pools of every size."""
    for size in range(_CLASS_STEP, _LARGEST_CLASS + 1, _CLASS_STEP):
        make = _maker(size)
        for _ in range(_MOST_PER_CLASS):
            filler = make()
            if id(filler) & _POOL_MASK == _POOL_HEADER:
                # The first of a new pool, so there was no other: given back, it leaves none that is half full.
                break
            yield filler


def _maker(size: int) -> Callable[[], object]:
    """Return what makes objects of just so many bytes, of a type that the collector doesn't know."""
    if size == 16:
        return object
    spare = size - sys.getsizeof(b"")
    if spare < 2:
        # Bytes of less than two have one object each for all.
        return lambda: complex(0.5, 0.5)
    return lambda: bytes(spare)


def _fill_heap() -> None:
    """Take what is free within the heap of glibc, for good; other allocators stay as they are."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return
    libc.mallinfo2.restype = _MallInfo
    libc.malloc.restype = libc.sbrk.restype = ctypes.c_void_p
    libc.malloc.argtypes = (ctypes.c_size_t,)
    libc.free.argtypes = (ctypes.c_void_p,)
    top = libc.sbrk(ctypes.c_ssize_t(0)) - libc.mallinfo2().keepcost
    blocks = _MOST_BLOCKS
    for size in (*_LARGE_SIZES, *range(1024, _CLASS_STEP, -_CLASS_STEP)):
        while blocks:
            blocks -= 1
            block = libc.malloc(size)
            if not block or block >= top:
                # It lies behind all that was there: there is no hole of this size left.
                libc.free(block)
                break


def _forget_attributes() -> None:
    if hasattr(sys, "_clear_internal_caches"):
        # Python 3.13 and later, which deprecate the other.
        sys._clear_internal_caches()
    else:
        sys._clear_type_cache()
