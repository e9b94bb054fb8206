"""The way into the `arenero` command: light, so that Ctrl-C ends it quietly also while the rest is being loaded."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import Final

EXIT_INTERRUPTED: Final = 130


def run() -> None:
    """Run the command that the arguments name. Ctrl-C stays ignored where it is, as in a script's background jobs."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    with loading():
        from arenero.cli.main import main
    main()


def loading() -> AbstractContextManager[None]:
    """Import inside of this. The importer swallows what a signal raises in some of its callbacks."""
    return leaving_at_once() if signal.getsignal(signal.SIGINT) is _leave else nullcontext()


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """Have Ctrl-C end this process at once: for while nothing was begun that would have to be undone."""
    before = signal.signal(signal.SIGINT, _leave_at_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(EXIT_INTERRUPTED)


def _leave_at_once(number: int, frame: FrameType | None) -> None:
    os._exit(EXIT_INTERRUPTED)  # noqa: TID251 - see `leaving_at_once`
