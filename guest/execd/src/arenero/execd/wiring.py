"""What is connected to what in the server, and how long it serves: until init ends the sandbox, or is gone itself."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from arenero.api.execd.v1 import exec_pb2
from arenero.execd import cgroups, control
from arenero.execd.accounts import Accounts
from arenero.execd.execution import Services
from arenero.execd.file_config import FileConfig, transfers_within
from arenero.execd.hello import Greeting
from arenero.execd.link import InitLink
from arenero.execd.memory import MemoryWatch
from arenero.execd.plan import InitPlan
from arenero.execd.processes import Processes
from arenero.execd.refresh import Refresher
from arenero.execd.servicer.execs import ExecServicer
from arenero.execd.servicer.files import FileServicer
from arenero.execd.servicer.lease import LeaseServicer
from arenero.execd.servicer.registering import register
from arenero.execd.servicer.specs import spec_of
from arenero.execd.spool import PLACES, Spool
from arenero.execd.surroundings import Surroundings
from arenero.execd.threads import Threads
from arenero.execd.tokens import TokenCheck
from arenero.host import heap
from arenero.rpc.identity import Caller, bearer_token
from arenero.rpc.server import RpcServer, RpcServerConfig

FLUSH_S: Final = 0.5
"""How long streams may take to send their last frames when the sandbox ends; init waits a little longer."""
_CONTROL: Final = frozenset(
    f"/arenero.api.execd.v1.LeaseService/{name}" for name in ("SetLease", "Shutdown", "Refresh")
)
"""What only the control plane may do: clients that were given a token would get around its rules."""
_INIT_LOST: Final = 3
"""Exit code of a server that has outlived init."""
_LOOKING_THREADS: Final = 4
"""For what takes a look at the whole sandbox: its processes, its ports, what it uses."""


@dataclass(frozen=True, slots=True)
class Execd:
    """The parts that serving needs."""

    plan: InitPlan
    server: RpcServer
    link: InitLink
    processes: Processes
    greeting: Greeting


@dataclass(slots=True)
class _Doors:
    """Whoever calls must have a token of this sandbox, where tokens are asked for; for some calls one for control."""

    tokens: TokenCheck | None = None

    async def __call__(self, method: str, metadata: Mapping[str, str]) -> Caller | None:
        if self.tokens is not None:
            self.tokens.check(bearer_token(metadata), control=method in _CONTROL)
        return None


def serve(surroundings: InitPlan, line: socket.socket) -> int:
    """Be the server until the sandbox ends; return the exit code of this process.

    Args:
        surroundings: The plan as far as it is known before the sandbox is claimed. The whole one comes by the line.
        line: To init.
    """
    # This process never forks; without its fork handlers gRPC keeps fewer threads in order.
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    heap.tune()
    gc.freeze()
    return asyncio.run(_serve(surroundings.listen, line))


@asynccontextmanager
async def build(plan: InitPlan, line: socket.socket, server: RpcServer, doors: _Doors) -> AsyncIterator[Execd]:
    """Connect all parts."""
    loop = asyncio.get_running_loop()
    link = InitLink(line, loop)
    accounts = Accounts()
    surroundings = Surroundings(plan, accounts)
    spool = Spool((plan.spool_dir, *PLACES), plan.spool_bytes)
    processes = Processes(Services(link, surroundings, spool, MemoryWatch(plan.memory_events_fd)))
    greeting = Greeting.of(plan)
    doors.tokens = tokens = _tokens(plan)
    refresher = Refresher(link, surroundings, greeting, tokens)
    made: list[FileServicer] = []

    def files() -> FileServicer:
        if not made:
            made.append(FileServicer(_file_config(plan), accounts))
        return made[0]

    def reserve() -> None:
        loop.set_default_executor(Threads(_LOOKING_THREADS, "looking"))
        files()

    processes.on_first = reserve
    register(
        server,
        execs=lambda: ExecServicer(processes, greeting),
        files=files,
        lease=lambda: LeaseServicer(plan, link, processes, refresher),
    )
    try:
        yield Execd(plan, server, link, processes, greeting)
    finally:
        for servicer in made:
            await servicer.close()
        link.close()


def _file_config(plan: InitPlan) -> FileConfig:
    home = plan.login.workdir or plan.login.cwd
    return FileConfig(
        uid=plan.login.uid,
        gid=plan.login.gid,
        home=home.encode(),
        most_transfers=transfers_within(plan.memory_bytes),
    )


async def _serve(address: str, line: socket.socket) -> int:
    """Listen; when the sandbox is claimed, serve.

    Nobody is told of the address before init has said that this server is ready, and nothing is served before the plan
    is there.
    """
    doors = _Doors()
    # Nobody collects spans in here: what its start took is told by Hello.
    server = RpcServer(RpcServerConfig(address), authenticate=doors, span_area=None)
    await server.listen()
    plan = await _claimed(line)
    if plan is None:
        return _INIT_LOST
    started_ns = time.time_ns()
    async with build(plan, line, server, doors) as execd:
        over = asyncio.Event()
        execd.link.on_lost = over.set
        execd.processes.on_drained = over.set
        await execd.server.start()
        await execd.server.health.set_serving(True)
        spans = (*plan.boot_spans, ("execd.serve", started_ns, time.time_ns()))
        execd.greeting.boot_spans = spans
        _say_ready(plan, spans)
        if plan.entrypoint:
            execd.processes.start(str(uuid.uuid4()), spec_of(_entrypoint(plan)), plan.traceparent)
        await over.wait()
        if execd.link.lost:
            execd.processes.lose_all()
            cgroups.kill_all(plan.cgroup_fd)
        await execd.server.stop(FLUSH_S)
        return _INIT_LOST if execd.link.lost else 0


async def _claimed(line: socket.socket) -> InitPlan | None:
    """Wait for the plan; None when init is gone."""
    readable = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(line, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(line)
    message = control.receive(line)
    return InitPlan.from_json(message.body) if message else None


def _entrypoint(plan: InitPlan) -> exec_pb2.ExecSpec:
    """Return the sandbox's own command as a client would ask for it: listed, and open to be attached to."""
    argv = exec_pb2.Argv(args=[os.fsencode(word) for word in plan.entrypoint])
    return exec_pb2.ExecSpec(argv=argv, on_exit=exec_pb2.ON_EXIT_LEAVE, labels={"arenero.entrypoint": "true"})


def _tokens(plan: InitPlan) -> TokenCheck | None:
    if plan.insecure:
        return None
    return TokenCheck(bytes.fromhex(plan.public_key_hex), plan.sandbox_id, plan.generation)


def _say_ready(plan: InitPlan, spans: tuple[tuple[str, int, int], ...]) -> None:
    if plan.ready_fd >= 0:
        os.write(plan.ready_fd, b"ready %b\n" % json.dumps(spans).encode())
        os.close(plan.ready_fd)
