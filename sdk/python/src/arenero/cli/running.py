"""How commands run: one event loop, Ctrl-C as cancellation, errors as one line and an exit code.

Exit codes: 0 done; 1 the platform refused or failed; 2 wrong usage; 3 not found; 4 the platform can't be reached; 130
interrupted. `run`, `exec` and `shell` exit with the code of the command that they ran; when it never ran, with 125
(platform), 126 (not executable) or 127 (not found), as `docker run` does.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Final, ParamSpec

import click

from arenero.sdk import Client, errors

P = ParamSpec("P")

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_NOT_FOUND: Final = 3
EXIT_UNREACHABLE: Final = 4
EXIT_INTERRUPTED: Final = 130
START_FAILED_CODES: Final = {"NOT_FOUND": 127, "BAD_INTERPRETER": 127, "NOT_EXECUTABLE": 126, "PERMISSION": 126}
START_FAILED_OTHER: Final = 125


def asynchronous(function: Callable[P, Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Run a command's coroutine; what it returns is the exit code."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        sys.exit(_run(function(*args, **kwargs)))

    return run


def _run(coroutine: Coroutine[Any, Any, int | None]) -> int:
    try:
        return asyncio.run(coroutine) or 0
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `head` does: nothing to say, and nowhere to say it.
        sys.stderr.close()
        return EXIT_FAILED
    except errors.AreneroError as error:
        return report(error)
    except BaseExceptionGroup as group:
        first = _first(group)
        if isinstance(first, errors.AreneroError):
            return report(first)
        raise


def report(error: errors.AreneroError) -> int:
    """Print an error as one line and return the exit code for it."""
    reason = f" [{error.reason}]" if error.reason else ""
    click.echo(f"arenero: {error}{reason}", err=True)
    if isinstance(error, errors.StartFailed):
        return START_FAILED_CODES.get(error.kind, START_FAILED_OTHER)
    if isinstance(error, errors.InvalidArgument):
        return EXIT_USAGE
    if isinstance(error, errors.NotFound):
        return EXIT_NOT_FOUND
    if isinstance(error, errors.Unavailable | errors.Unauthenticated):
        return EXIT_UNREACHABLE
    return EXIT_FAILED


def client() -> Client:
    """Open the connection that the global options and the environment name."""
    chosen = click.get_current_context().find_root().params
    return Client(address=chosen.get("address"), api_key=chosen.get("api_key"))


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
