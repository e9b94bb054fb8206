"""ExecService: start, follow, signal, list. Its two-way streams are in `interact` and `stdin`."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from arenero.api.execd.v1 import exec_service_pb2 as api
from arenero.api.execd.v1 import exec_service_pb2_grpc as api_grpc
from arenero.errors import FailedPrecondition
from arenero.execd import inventory
from arenero.execd.execution import Exec
from arenero.execd.follow import FROM_START, Follower, Place
from arenero.execd.hello import GENERATION, VERSION, Greeting
from arenero.execd.outcome import Cause, Ended
from arenero.execd.processes import Processes
from arenero.execd.servicer import frames
from arenero.execd.servicer.fields import (
    at_most,
    exec_id_of,
    heartbeat_of,
    invalid,
    new_exec_id_of,
    offsets_of,
    seconds_of,
    signal_named,
    stream_of,
    traceparent_of,
)
from arenero.execd.servicer.interact import Interaction
from arenero.execd.servicer.specs import MAX_GRACE_S, size_of, spec_of
from arenero.execd.servicer.stdin import write_stdin
from arenero.execd.spec import OnDisconnect, OnExit
from arenero.rpc.interceptors import Context

DEFAULT_LIST_LIMIT: Final = 1000
_TARGETS: Final[Mapping[int, str]] = {
    api.SIGNAL_TARGET_UNSPECIFIED: "group",
    api.SIGNAL_TARGET_GROUP: "group",
    api.SIGNAL_TARGET_LEADER: "leader",
    api.SIGNAL_TARGET_ALL: "all",
    api.SIGNAL_TARGET_FOREGROUND: "foreground",
}


class ExecServicer(api_grpc.ExecServiceServicer):
    """Serves one sandbox's execs."""

    def __init__(self, processes: Processes, greeting: Greeting) -> None:
        self._processes = processes
        self._greeting = greeting

    async def Hello(self, request: api.HelloRequest, context: Context) -> api.HelloResponse:  # noqa: N802
        greeting = self._greeting
        login = greeting.plan.login
        return api.HelloResponse(
            protocol_generation=min(request.protocol_generation or GENERATION, GENERATION),
            version=VERSION,
            sandbox_id=greeting.sandbox_id,
            generation=greeting.generation,
            capabilities=greeting.capabilities,
            boot_spans=[
                api.BootSpan(name=name, start_unix_ns=start_ns, end_unix_ns=end_ns)
                for name, start_ns, end_ns in greeting.take_boot_spans()
            ],
            default_user=login.name,
            default_cwd=login.cwd.encode(),
        )

    async def Start(self, request: api.StartRequest, context: Context) -> api.StartResponse:  # noqa: N802
        exec_, repeated = await self._start(request, context, streams=False)
        if exec_.ended and exec_.ended.failure:
            return api.StartResponse(failure=frames.start_failure(exec_.ended.failure))
        return api.StartResponse(started=frames.started(exec_, repeated=repeated))

    async def Run(  # noqa: N802
        self, request: api.RunRequest, context: Context
    ) -> AsyncIterator[api.RunResponse]:
        beat_s = heartbeat_of(request)
        offsets = offsets_of(request.from_offsets, "from_offsets")
        exec_, repeated = await self._start(request, context, streams=True)
        delivered = False
        try:
            if exec_.pid:
                yield api.RunResponse(started=frames.started(exec_, repeated=repeated))
            place = Place(offsets) if repeated else FROM_START
            with Follower(exec_, place.resolve(exec_), beat_s) as follower:
                while (frame := await follower.next()) is not None:
                    delivered = isinstance(frame, Ended)
                    yield frames.run_response(frame)
                    if delivered:
                        break
        finally:
            if not delivered and exec_.spec.on_disconnect is OnDisconnect.KILL:
                exec_.stop(Cause.CANCELLED, exec_.spec.kill_grace_s)

    async def Attach(  # noqa: N802
        self, request: api.AttachRequest, context: Context
    ) -> AsyncIterator[api.AttachResponse]:
        beat_s = heartbeat_of(request)
        exec_ = self._processes.get(exec_id_of(request.exec_id))
        place = _place_of(request)
        await exec_.begun.wait()
        with Follower(exec_, place.resolve(exec_), beat_s) as follower:
            yield api.AttachResponse(exec=frames.record(exec_))
            following = not request.no_follow
            while (frame := await follower.next() if following else follower.next_kept()) is not None:
                yield frames.attach_response(frame)
                if isinstance(frame, Ended):
                    return

    async def Wait(self, request: api.WaitRequest, context: Context) -> api.WaitResponse:  # noqa: N802
        exec_ = self._processes.get(exec_id_of(request.exec_id))
        return api.WaitResponse(ended=frames.ended(await _end_of(exec_)))

    async def List(self, request: api.ListRequest, context: Context) -> api.ListResponse:  # noqa: N802
        limit = at_most("limit", request.limit, 1 << 20) or DEFAULT_LIST_LIMIT
        wanted = request.labels.items()
        found = [
            exec_
            for exec_ in reversed(list(self._processes))
            if not (request.running_only and exec_.ended) and wanted <= exec_.spec.labels.items()
        ]
        return api.ListResponse(execs=[frames.record(exec_) for exec_ in found[:limit]])

    async def Get(self, request: api.GetRequest, context: Context) -> api.GetResponse:  # noqa: N802
        return api.GetResponse(exec=frames.record(self._processes.get(exec_id_of(request.exec_id))))

    async def Signal(self, request: api.SignalRequest, context: Context) -> api.SignalResponse:  # noqa: N802
        exec_ = self._processes.get(exec_id_of(request.exec_id))
        target = _TARGETS.get(request.target)
        if target is None:
            raise invalid("target", f"is {request.target}, which this execd doesn't know")
        if target == "foreground" and exec_.spec.terminal is None:
            raise FailedPrecondition("the exec has no terminal", reason="NO_TERMINAL", field="target")
        return api.SignalResponse(delivered=await exec_.signal(_signal_of(request), target))

    async def Kill(self, request: api.KillRequest, context: Context) -> api.KillResponse:  # noqa: N802
        exec_ = self._processes.get(exec_id_of(request.exec_id))
        grace_s = seconds_of(request, "grace", high_s=MAX_GRACE_S) or 0.0
        await exec_.begun.wait()
        if exec_.ended and not exec_.ended.failure and exec_.spec.on_exit is OnExit.LEAVE:
            await exec_.kill_rest()
        exec_.stop(Cause.CANCELLED, grace_s)
        return api.KillResponse(ended=frames.ended(await _end_of(exec_)))

    async def Resize(self, request: api.ResizeRequest, context: Context) -> api.ResizeResponse:  # noqa: N802
        exec_ = self._processes.get(exec_id_of(request.exec_id))
        if exec_.spec.terminal is None:
            raise FailedPrecondition("the exec has no terminal", reason="NO_TERMINAL")
        exec_.resize(size_of(request.size, "size"))
        return api.ResizeResponse()

    def WriteStdin(  # noqa: N802
        self, requests: AsyncIterator[api.WriteStdinRequest], context: Context
    ) -> AsyncIterator[api.WriteStdinResponse]:
        return write_stdin(self._processes, requests)

    async def CloseStdin(  # noqa: N802
        self, request: api.CloseStdinRequest, context: Context
    ) -> api.CloseStdinResponse:
        await self._processes.get(exec_id_of(request.exec_id)).input.end()
        return api.CloseStdinResponse()

    def Interact(  # noqa: N802
        self, requests: AsyncIterator[api.InteractRequest], context: Context
    ) -> AsyncIterator[api.InteractResponse]:
        return Interaction(self._processes, requests).run(_traceparent(context))

    async def Forget(self, request: api.ForgetRequest, context: Context) -> api.ForgetResponse:  # noqa: N802
        self._processes.forget(exec_id_of(request.exec_id))
        return api.ForgetResponse()

    async def ListProcesses(  # noqa: N802
        self, request: api.ListProcessesRequest, context: Context
    ) -> api.ListProcessesResponse:
        execs = list(self._processes)
        by_cgroup = {exec_.cgroup: exec_.id for exec_ in execs if exec_.cgroup}
        by_session = {exec_.pid: exec_.id for exec_ in execs if exec_.pid and not exec_.ended}
        found = await asyncio.to_thread(inventory.list_processes, by_cgroup, by_session)
        return api.ListProcessesResponse(processes=[frames.process(process) for process in found])

    async def ListPorts(self, request: api.ListPortsRequest, context: Context) -> api.ListPortsResponse:  # noqa: N802
        found = await asyncio.to_thread(inventory.list_ports)
        return api.ListPortsResponse(ports=[frames.port(port) for port in found])

    async def _start(self, request: Any, context: Context, *, streams: bool) -> tuple[Exec, bool]:
        exec_id = new_exec_id_of(request.exec_id)
        if not request.HasField("spec"):
            raise invalid("spec", "is missing")
        spec = spec_of(request.spec)
        if spec.on_disconnect is OnDisconnect.KILL and not streams:
            raise invalid("spec.on_disconnect", "is kill, but Start keeps no connection; use Run or Interact")
        exec_, repeated = self._processes.start(exec_id, spec, _traceparent(context))
        await exec_.begun.wait()
        return exec_, repeated


async def _end_of(exec_: Exec) -> Ended:
    await exec_.over.wait()
    assert exec_.ended is not None  # over says so
    return exec_.ended


def _traceparent(context: Context) -> str:
    return traceparent_of({key: value for key, value in context.invocation_metadata() if isinstance(value, str)})


def _signal_of(request: api.SignalRequest) -> int:
    kind = request.WhichOneof("signal")
    if kind == "number":
        return at_most("number", request.number, int(signal.NSIG) - 1, low=1)
    if kind == "name":
        return signal_named(request.name, "name")
    raise invalid("name", "is missing; set name or number")


def _place_of(request: api.AttachRequest) -> Place:
    streams = frozenset(stream_of(number, "streams") for number in request.streams)
    kind = request.WhichOneof("from")
    if kind == "offsets":
        return Place(offsets_of(request.offsets.offsets, "offsets"), streams=streams)
    if kind == "last_bytes":
        return Place(last_bytes=request.last_bytes, streams=streams)
    if kind == "now" and request.now:
        return Place(last_bytes=0, streams=streams)
    return Place(streams=streams)
