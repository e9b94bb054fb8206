"""Runs an instance: nats-server, then the services, until it is told to stop; then ends the sandboxes and all of them.

Nothing of the platform's own state is here: if the supervisor dies, its children end with it, the sandboxes run on, and
the next `arenero up` finds them again. It never decides about sandboxes (lifecycle does), nor writes a service's data.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from arenero.bus.server import NatsServer
from arenero.cli.platform.children import Service, ServiceFailed, end_with_parent
from arenero.cli.platform.configuration import (
    UpOptions,
    access_files,
    client_settings,
    drain_command,
    nats_config,
    service_specs,
)
from arenero.cli.platform.instance import Instance, is_alive, start_ticks, write_private

_GRACE_S: Final = 10.0
_STOP_ORDER: Final = (("gateway",), ("warmpool", "snapshot", "vault"))
"""Lifecycle comes last."""
_LIFECYCLE_SLACK_S: Final = 5.0
"""It stops by itself when its grace runs out, and closes its drivers then."""
_DRAIN_TIMEOUT_S: Final = 120.0
_POLL_S: Final = 0.02


class AlreadyRunning(Exception):
    """Another supervisor holds this instance."""


class Supervisor:
    """One run of an instance."""

    def __init__(self, instance: Instance, options: UpOptions) -> None:
        self._instance = instance
        self._options = options
        self._nats = NatsServer(nats_config(instance, options), in_child=end_with_parent)
        self._services: dict[str, Service] = {}
        self._phase = "starting"
        self._ready: dict[str, Any] = {}
        self._keeps_sandboxes = False
        self._began_s = time.monotonic()

    async def run(self) -> None:
        """Start all, run until SIGTERM or SIGINT, stop all. SIGUSR1 before it: leave the sandboxes running.

        Raises:
            ServiceFailed: Something did not start; all that did was stopped again.
        """
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        loop.add_signal_handler(signal.SIGUSR1, self._keep_sandboxes)
        self._note()
        try:
            starting = asyncio.ensure_future(self._start())  # noqa: TID251 - awaited or cancelled right below
            stopping = asyncio.ensure_future(stop.wait())  # noqa: TID251 - likewise
            await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                starting.cancel()
            else:
                starting.result()
                await self._supervise(stop)
            stopping.cancel()
        finally:
            await self._stop()

    async def drain(self) -> bool:
        """End the sandboxes of an instance that isn't running, with no more of it than that takes."""
        try:
            await self._start_nats()
            service_specs(self._instance, self._options, self._nats)
            return await self._end_sandboxes()
        finally:
            await self._nats.stop()

    async def _start_nats(self) -> None:
        end_stale_nats(self._instance)
        access_files(self._instance).install()
        await self._nats.start()

    async def _start(self) -> None:
        await self._start_nats()
        for spec in service_specs(self._instance, self._options, self._nats):
            service = self._services[spec.name] = Service(spec, self._instance.logs / f"{spec.name}.log")
            service.start()
        self._note()
        for service in self._services.values():
            await service.wait_ready()
        self._ready = self._services["gateway"].ready
        # A gateway that starts again has to be where clients have found it, also when any free port was asked for.
        self._options = replace(self._options, grpc=self._ready["grpc"], http=self._ready["http"])
        service_specs(self._instance, self._options, self._nats)
        self._phase = "ready"
        write_private(self._instance.client_file, client_settings(self._instance, self._ready))
        self._note()

    async def _supervise(self, stop: asyncio.Event) -> None:
        print(f"ready after {time.monotonic() - self._began_s:.2f} s", flush=True)
        async with asyncio.TaskGroup() as group:
            keepers = [group.create_task(service.keep_running(self._note)) for service in self._services.values()]
            keepers.append(group.create_task(self._keep_nats()))
            await stop.wait()
            for keeper in keepers:
                keeper.cancel()

    async def _keep_nats(self) -> None:
        while True:
            await self._nats.wait()
            print("nats-server ended; starting it again", flush=True)
            await self._nats.start()
            self._note()

    async def _stop(self) -> None:
        self._phase = "stopping"
        self._note()
        for names in _STOP_ORDER:
            async with asyncio.TaskGroup() as group:
                for service in [self._services[name] for name in names if name in self._services]:
                    group.create_task(service.stop(_GRACE_S))
        if not await self._stop_lifecycle() and self._nats.pid and not self._keeps_sandboxes:
            await self._end_sandboxes()
        await self._nats.stop()
        self._instance.forget()

    async def _stop_lifecycle(self) -> bool:
        """Have lifecycle end every sandbox, unless they are kept, and then itself; return whether that is done."""
        service = self._services.get("lifecycle")
        if service is None:
            return False
        if not self._keeps_sandboxes:
            service.send_signal(signal.SIGUSR1)
        return await service.stop(_GRACE_S + _LIFECYCLE_SLACK_S) == 0

    async def _end_sandboxes(self) -> bool:
        """Have lifecycle end every sandbox and write it to the log: one of its own, as the one that ran did not."""
        command = drain_command(self._instance)
        with (self._instance.logs / "lifecycle.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(*command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            async with asyncio.timeout(_DRAIN_TIMEOUT_S):
                status = await process.wait()
        except TimeoutError:
            process.kill()
            status = await process.wait()
        if status != 0:
            print(f"sandboxes may be left: ending them failed with status {status}", file=sys.stderr, flush=True)
        return status == 0

    def _keep_sandboxes(self) -> None:
        self._keeps_sandboxes = True

    def _note(self) -> None:
        pid = os.getpid()
        self._instance.write_state(
            {
                "pid": pid,
                "start_ticks": start_ticks(pid),
                "phase": self._phase,
                "grpc": self._ready.get("grpc", ""),
                "http": self._ready.get("http", ""),
                "nats": self._nats.url if self._nats.pid else "",
                "nats_pid": self._nats.pid or 0,
                "services": {name: service.describe() for name, service in self._services.items()},
            }
        )


@contextmanager
def holding(instance: Instance) -> Iterator[None]:
    """Hold an instance, so that it runs once.

    Raises:
        AlreadyRunning: Somebody holds it.
    """
    descriptor = os.open(instance.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise AlreadyRunning(str(instance.home)) from None
    try:
        yield
    finally:
        os.close(descriptor)


def end_stale_nats(instance: Instance) -> None:
    """End the nats-server of a supervisor that was killed, if it hasn't ended yet: it would hold the store."""
    try:
        pid = int((instance.nats / "nats-server.pid").read_text())
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read()
    except (OSError, ValueError):
        return
    if os.fsencode(instance.nats) not in words:
        return
    ticks = start_ticks(pid)
    for number, wait_s in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        deadline_s = time.monotonic() + wait_s
        while is_alive(pid, ticks) and time.monotonic() < deadline_s:
            os.kill(pid, number)
            time.sleep(0.05)


def run(instance: Instance, options: UpOptions) -> int:
    """Run an instance in the foreground; return the exit code.

    Raises:
        AlreadyRunning: Somebody else runs it, or is about to, or ends what is left of it.
    """
    try:
        with holding(instance):
            asyncio.run(Supervisor(instance, options).run())
    except ServiceFailed as error:
        print(f"arenero: {error}", file=sys.stderr)
        return 1
    return 0


def end_sandboxes(instance: Instance) -> int:
    """End the sandboxes of an instance that isn't running; return the exit code."""
    try:
        with holding(instance):
            _wait_for_services(instance)
            return 0 if asyncio.run(Supervisor(instance, UpOptions("127.0.0.1:0", "127.0.0.1:0")).drain()) else 1
    except AlreadyRunning:
        print(f"arenero: something else is at work in {instance.home}", file=sys.stderr)
        return 1


def _wait_for_services(instance: Instance) -> None:
    """Let the services of a supervisor that was killed end: their sandboxes are theirs until then."""
    deadline_s = time.monotonic() + _GRACE_S + _LIFECYCLE_SLACK_S
    while instance.has_services() and time.monotonic() < deadline_s:
        time.sleep(_POLL_S)
