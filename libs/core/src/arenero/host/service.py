"""The body of every `__main__`: parse, configure, set up telemetry, build, serve, stop, exit code.

    async with wiring.build(config) as deps:
        yield Service(servers=[deps.server], tasks={"reconciler": deps.reconciler.run}, ready=deps.recover)

A service listens before it is ready and refuses calls as unavailable until `ready` has returned: it can be found, and
it does not answer from half a memory. On SIGTERM: health off, no new calls, running ones finish within the grace, tasks
are cancelled, the context of `build` closes connections, telemetry is flushed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Protocol, TypeVar

from arenero.config.loader import load
from arenero.config.render import to_toml
from arenero.errors import ArenError, InvalidArgument
from arenero.host.config import HostConfig
from arenero.host.tasks import GraceRanOut, Run, serve
from arenero.rpc.otlp import OtlpSender
from arenero.rpc.server import RpcServer
from arenero.telemetry.logs import setup_logs
from arenero.telemetry.tracing import setup_tracing

_log = logging.getLogger(__name__)


class ExitCode(IntEnum):
    """What a supervisor can tell from the end of a service."""

    CLEAN = 0
    """Stopped as asked."""
    CONFIG = 1
    """The configuration is wrong; starting again won't help."""
    CRASH = 2
    """Failed; starting again may help."""
    GRACE = 3
    """Stopped as asked, but something had to be cut off."""


class Configured(Protocol):
    """What the configuration of a service must have."""

    @property
    def host(self) -> HostConfig:
        """The settings that all services share."""


@dataclass(frozen=True, slots=True)
class Service:
    """What a process consists of."""

    servers: Sequence[RpcServer] = ()
    """Started before the tasks; they take calls once `ready` has returned."""
    tasks: Mapping[str, Run] = field(default_factory=dict)
    """Named; each runs until it is cancelled."""
    ready: Run | None = None
    """Returns when calls may be taken: projection loaded, sandboxes recovered. The tasks run meanwhile."""
    drain: Run | None = None
    """Finishes work that is not a call, after the servers have stopped."""
    job: Run | None = None
    """For a process that does one thing and ends: what it does, while the tasks run. Its servers are not started."""
    announce: Callable[[], Mapping[str, str]] | None = None
    """Further facts for the ready file, such as the addresses of other doors."""


_Config = TypeVar("_Config", bound=Configured)
Build = Callable[[_Config], AbstractAsyncContextManager[Service]]


def run_service(
    name: str,
    kind: type[_Config],
    build: Build[_Config],
    *,
    argv: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> int:
    """Run a service until it is told to stop, and return the process's exit code.

    Args:
        name: Of the service; names its variables, its logs and its spans.
        kind: Its configuration.
        build: Makes it; the context closes what it opened.
        argv: Arguments, `sys.argv` when omitted.
        environ: Environment, the process's own when omitted.
    """
    arguments = _parse(name, argv)
    try:
        config = load(kind, name, path=arguments.config, environ=os.environ if environ is None else environ)
    except InvalidArgument as error:
        sys.stderr.write(f"{name}: {error}\n")
        return ExitCode.CONFIG
    if arguments.print_config:
        sys.stdout.write(to_toml(config))
        return ExitCode.CLEAN
    return _run(name, config, build)


def _parse(name: str, argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m arenero.{name}", allow_abbrev=False)
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML file with settings")
    parser.add_argument("--print-config", action="store_true", help="print the settings in force, then exit")
    return parser.parse_args(argv)


def _run(name: str, config: _Config, build: Build[_Config]) -> int:
    telemetry = config.host.telemetry
    setup_logs(name, telemetry)
    sender = OtlpSender(telemetry.otlp_address) if telemetry.otlp_address else None
    tracing = setup_tracing(name, telemetry, sender)
    try:
        asyncio.run(_serve(name, config, build))
    except GraceRanOut as error:
        _log.error("host.grace_ran_out", extra={"error": str(error)})
        return ExitCode.GRACE
    except ArenError as error:
        _log.error("host.failed", extra={"reason": error.reason, "error": str(error)})
        return ExitCode.CRASH
    except Exception:  # noqa: BLE001  # the last place that can tell why the process ended
        _log.exception("host.crashed")
        return ExitCode.CRASH
    finally:
        tracing.shutdown()
        if sender is not None:
            sender.close()
    _log.info("host.stopped")
    return ExitCode.CLEAN


async def _serve(name: str, config: _Config, build: Build[_Config]) -> None:
    async with build(config) as service:
        if service.job is not None:
            await _do_job(service.job, service.tasks)
            return
        for server in service.servers:
            await server.start()
            _log.info("host.listening", extra={"address": server.address})
        await serve(
            {**service.tasks, "readiness": lambda: _become_ready(name, service, config.host.ready_file)},
            drain=lambda: _drain(service, config.host.grace_s),
            grace_s=config.host.grace_s,
        )


async def _do_job(job: Run, tasks: Mapping[str, Run]) -> None:
    async with asyncio.TaskGroup() as group:
        helping = [group.create_task(_as_coroutine(run), name=name) for name, run in tasks.items()]
        await job()
        for task in helping:
            task.cancel()


async def _as_coroutine(run: Run) -> None:
    await run()


async def _become_ready(name: str, service: Service, ready_file: str) -> None:
    if service.ready is not None:
        await service.ready()
    for server in service.servers:
        await server.health.set_serving(True)
    if ready_file:
        _write_ready(Path(ready_file), service)
    _log.info("host.ready", extra={"service_name": name})
    await asyncio.Event().wait()


def _write_ready(path: Path, service: Service) -> None:
    """Tell the supervisor; a reader sees all of it or nothing."""
    facts: dict[str, object] = {"pid": os.getpid(), "addresses": [server.address for server in service.servers]}
    facts |= service.announce() if service.announce else {}
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(facts, file)
    partial.replace(path)


async def _drain(service: Service, grace_s: float) -> None:
    async with asyncio.TaskGroup() as group:
        for server in service.servers:
            group.create_task(server.stop(grace_s * 0.9))
    if service.drain is not None:
        await service.drain()
