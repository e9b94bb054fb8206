"""What the rows share: the platform, clients, sandboxes, counts, and measurements that several rows are made from."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

from arenero.sdk import Client, Sandbox
from bench.platform import Platform, platform

T = TypeVar("T")
GIB = 1 << 30


class Bench:
    """One run. Use it as `async with`; whatever was opened is closed at the end, the last first."""

    def __init__(self, scale: float = 1.0) -> None:
        """Take every count times `scale`: below 1 it is a try of the machinery, not a measurement."""
        self.scale = scale
        self._stack = AsyncExitStack()
        self._made: dict[Any, Any] = {}

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        directory = tempfile.mkdtemp(prefix="arn-bench-files-")
        self._stack.callback(shutil.rmtree, directory, ignore_errors=True)
        self.directory = Path(directory)
        return self

    async def __aexit__(self, *about: Any) -> None:
        await self._stack.__aexit__(*about)

    def count(self, full: int, *, least: int = 3) -> int:
        """Return how many times to do something."""
        return max(min(full, least), math.ceil(full * self.scale))

    def size(self, full_bytes: int) -> int:
        """Return how many bytes to move: whole MiB."""
        return max(1 << 20, int(full_bytes * self.scale) >> 20 << 20)

    async def once(self, measure: Callable[[Bench], Awaitable[T]]) -> T:
        """Return what a measurement gives, made only for the first who asks; its failure is everyone's."""
        if measure not in self._made:
            self._made[measure] = await _outcome(measure(self))
        value, failure = self._made[measure]
        if failure is not None:
            raise failure
        return value  # type: ignore[no-any-return]

    async def enter(self, opened: Any) -> Any:
        """Keep something open until the end of the run."""
        return await self._stack.enter_async_context(opened)

    async def platform(self) -> Platform:
        """Return the platform that the rows share."""
        return await self.once(_platform)

    async def client(self, *, direct: bool = True) -> Client:
        """Return a client of it."""
        return await self.once(_direct_client if direct else _gateway_client)

    async def sandbox(self, *, direct: bool = True) -> Sandbox:
        """Return the sandbox that the rows share, by one of the two ways to it."""
        return await self.once(_direct_sandbox if direct else _gateway_sandbox)


async def _outcome(measuring: Awaitable[T]) -> tuple[T | None, Exception | None]:
    try:
        return await measuring, None
    except Exception as error:  # noqa: BLE001 - raised for everyone who asks
        return None, error


async def _platform(bench: Bench) -> Platform:
    opened: Platform = await bench.enter(platform())
    return opened


async def _direct_client(bench: Bench) -> Client:
    opened: Client = await bench.enter((await bench.platform()).client())
    return opened


async def _gateway_client(bench: Bench) -> Client:
    opened: Client = await bench.enter((await bench.platform()).client(direct=False))
    return opened


async def _direct_sandbox(bench: Bench) -> Sandbox:
    opened: Sandbox = await bench.enter(Sandbox.create(client=await bench.client()))
    return opened


async def _gateway_sandbox(bench: Bench) -> Sandbox:
    found = await Sandbox.connect((await bench.sandbox()).id, client=await bench.client(direct=False))
    bench._stack.push_async_callback(found.close)
    return found
