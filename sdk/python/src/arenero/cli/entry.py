"""The way into the `arenero` command: light, so that Ctrl-C ends it quietly also while the rest is being loaded."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def loading() -> Iterator[None]:
    """Import inside of this. The importer swallows what a signal raises in some of its callbacks."""
    before = signal.getsignal(signal.SIGINT)
    if before is not _leave:
        yield
        return
    signal.signal(signal.SIGINT, leave_at_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(EXIT_INTERRUPTED)


def leave_at_once(number: int, frame: FrameType | None) -> None:
    """Be the handler of Ctrl-C while nothing has begun."""
    os._exit(EXIT_INTERRUPTED)  # noqa: TID251 - nothing was begun that would have to be undone
