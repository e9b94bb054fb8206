"""How commands run: one event loop, Ctrl-C as cancellation, errors as one line and an exit code.

Exit codes: 0 done; 1 the platform refused or failed; 2 wrong usage; 3 not found; 4 the platform can't be reached or
doesn't answer; 130 interrupted. `run`, `exec` and `shell` exit with the code of the command that they ran; when it
never ran, with 125 (platform), 126 (not executable) or 127 (not found), as `docker run` does.
"""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final, ParamSpec

import click

from arenero.cli.entry import EXIT_INTERRUPTED, leaving_at_once
from arenero.cli.output import note

if TYPE_CHECKING:
    from arenero.sdk import Client, errors

P = ParamSpec("P")

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_NOT_FOUND: Final = 3
EXIT_UNREACHABLE: Final = 4
EXIT_SIGNAL: Final = 128
START_FAILED_CODES: Final = {"NOT_FOUND": 127, "BAD_INTERPRETER": 127, "NOT_EXECUTABLE": 126, "PERMISSION": 126}
START_FAILED_OTHER: Final = 125


class Stopped(Exception):
    """A signal ended the command, after it had cleaned up."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def asynchronous(function: Callable[P, Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Run a command's coroutine; what it returns is the exit code."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        coroutine = function(*args, **kwargs)
        try:
            code = _run(coroutine)
        finally:
            # Interrupted before it was begun, it would complain when it is thrown away.
            coroutine.close()
        sys.exit(code)

    return run


def _run(coroutine: Coroutine[Any, Any, int | None]) -> int:
    try:
        with _interruptible():
            return asyncio.run(_until_stopped(coroutine)) or 0
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BaseExceptionGroup as group:
        return _exit_code(_first(group))
    except Exception as error:  # noqa: BLE001 - what it doesn't know it raises again
        return _exit_code(error)


def _interruptible() -> AbstractContextManager[None]:
    """Have Ctrl-C end this process until there is a loop that cancels what runs in its place."""
    return nullcontext() if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else leaving_at_once()


async def _until_stopped(coroutine: Coroutine[Any, Any, int | None]) -> int | None:
    """Cancel it on Ctrl-C, SIGTERM, and SIGHUP unless `nohup` is in charge: what it has begun is to be undone."""
    task = asyncio.current_task()
    assert task is not None
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, stop, number)
    try:
        return await coroutine
    except asyncio.CancelledError:
        if received:
            raise Stopped(received[0]) from None
        raise


def _exit_code(error: BaseException) -> int:
    from arenero.sdk import errors

    if isinstance(error, errors.AreneroError):
        return report(error)
    if isinstance(error, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    if isinstance(error, Stopped):
        return EXIT_SIGNAL + error.number
    if isinstance(error, BrokenPipeError):
        # The reader of our output went away, as `head` does: nothing to say, and nothing to be said at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    if isinstance(error, OSError):
        note(f"arenero: {error}")
        return EXIT_FAILED
    raise error


def report(error: errors.AreneroError) -> int:
    """Print an error as one line and return the exit code for it."""
    from arenero.sdk import errors

    reason = f" [{error.reason}]" if error.reason else ""
    note(f"arenero: {error}{reason}")
    if isinstance(error, errors.StartFailed):
        return START_FAILED_CODES.get(error.kind, START_FAILED_OTHER)
    if isinstance(error, errors.InvalidArgument):
        return EXIT_USAGE
    if isinstance(error, errors.NotFound):
        return EXIT_NOT_FOUND
    if isinstance(error, errors.Unavailable) or error.reason == errors.NO_ANSWER:
        return EXIT_UNREACHABLE
    return EXIT_FAILED


def client() -> Client:
    """Open the connection that the global options and the environment name."""
    from arenero.sdk import Client

    chosen = click.get_current_context().find_root().params
    return Client(address=chosen.get("address"), api_key=chosen.get("api_key"))


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
