"""The way into the `arenero` command: light, so that Ctrl-C ends it quietly also while the rest is being loaded."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Final

EXIT_INTERRUPTED: Final = 130


def run() -> None:
    """Run the command that the arguments name. Ctrl-C stays ignored where it is, as in a script's background jobs."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from arenero.cli.main import main

    main()


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(EXIT_INTERRUPTED)
