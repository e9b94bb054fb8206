"""A platform and an execd on a real gRPC server that say on the wire exactly what a test tells them.

Nothing of Arenero's own code serves here: what the SDK meets are bytes of the published API, and broken connections.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status

from arenero.api.common.v1 import error_pb2
from arenero.api.execd.v1 import exec_pb2, exec_service_pb2, file_service_pb2
from arenero.api.gateway.v1 import key_service_pb2, trace_service_pb2
from arenero.api.lifecycle.v1 import sandbox_pb2, sandbox_service_pb2
from arenero.sdk import Client, Sandbox, Settings
from arenero.sdk._portal import Portal

__all__ = ["Call", "Refused", "Wire", "WirePair"]

SERVED = (exec_service_pb2, file_service_pb2, key_service_pb2, trace_service_pb2, sandbox_service_pb2)
"""Importing them is what fills the descriptor pool."""
STDOUT, STDERR, PTY = exec_pb2.OUTPUT_STREAM_STDOUT, exec_pb2.OUTPUT_STREAM_STDERR, exec_pb2.OUTPUT_STREAM_PTY
SANDBOX_ID = "sbx_aaaaaaaaaaaaaaaaaaaa"


@dataclass(frozen=True)
class Refused(Exception):
    """A status, with the platform's detail unless `detail` is None."""

    code: grpc.StatusCode
    message: str = "no"
    detail: error_pb2.ErrorDetail | None = None
    raw_detail: bytes | None = None

    def trailers(self) -> tuple[tuple[str, bytes], ...]:
        if self.raw_detail is not None:
            return (("grpc-status-details-bin", self.raw_detail),)
        if self.detail is None:
            return ()
        packed = AnyMessage()
        packed.Pack(self.detail)
        status = Status(code=self.code.value[0], message=self.message, details=[packed])
        return (("grpc-status-details-bin", status.SerializeToString()),)


BROKEN = Refused(grpc.StatusCode.UNAVAILABLE, "Socket closed")
"""As grpc words a connection that broke under a call."""

Single: TypeAlias = Message | Refused | Callable[[Any], Awaitable[Message]]
Stream: TypeAlias = Sequence[Message | Refused] | Callable[[Any], AsyncIterator[Message]]


@dataclass
class Call:
    """One call that arrived."""

    method: str
    metadata: Mapping[str, str]
    requests: list[Any] = field(default_factory=list)

    @property
    def request(self) -> Any:
        return self.requests[0]


class Wire(grpc.GenericRpcHandler):
    """A server of the API. A method's calls are answered by its answers in turn, and by the last one from then on."""

    def __init__(self, path: Path) -> None:
        self.address = f"unix:{path}"
        self.path = path
        self.calls: list[Call] = []
        self._answers: dict[str, deque[Any]] = defaultdict(deque)
        self._server: grpc.aio.Server | None = None

    def on(self, method: str, *answers: Single | Stream) -> None:
        """Say how a method answers, by its name alone."""
        self._answers[method] = deque(answers)

    def called(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    async def start(self) -> None:
        self._server = grpc.aio.server()
        self._server.add_generic_rpc_handlers((self,))
        self._server.add_insecure_port(self.address)
        await self._server.start()

    async def stop(self) -> None:
        """Go away, as a process does that is killed: calls break, the socket is gone."""
        if self._server is not None:
            await self._server.stop(None)
            await self._server.wait_for_termination()
        self._server = None
        self.path.unlink(missing_ok=True)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        service, _, name = handler_call_details.method.lstrip("/").partition("/")
        method = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name]
        request, response = (message_factory.GetMessageClass(kind) for kind in (method.input_type, method.output_type))
        sides = (method.client_streaming, method.server_streaming)
        shape = "_".join("stream" if is_stream else "unary" for is_stream in sides)
        make = getattr(grpc, f"{shape}_rpc_method_handler")
        call = Call(name, {key: str(value) for key, value in handler_call_details.invocation_metadata})
        behaviour = self._stream(call) if method.server_streaming else self._single(call)
        return make(behaviour, request_deserializer=request.FromString, response_serializer=response.SerializeToString)

    def _next(self, call: Call, context: Any) -> Any:
        self.calls.append(call)
        answers = self._answers[call.method]
        if not answers:
            return Refused(grpc.StatusCode.UNIMPLEMENTED, f"the test says nothing about {call.method}")
        return answers.popleft() if len(answers) > 1 else answers[0]

    def _single(self, call: Call) -> Any:
        async def answer(incoming: Any, context: Any) -> Any:
            chosen = self._next(call, context)
            source = _requests(call, incoming)
            try:
                if callable(chosen):
                    return await chosen(source if not call.requests else call.request)
                if isinstance(chosen, Refused):
                    raise chosen
                async for _ in source:
                    pass
                return chosen
            except Refused as refused:
                await context.abort(refused.code, refused.message, refused.trailers())

        return answer

    def _stream(self, call: Call) -> Any:
        async def answer(incoming: Any, context: Any) -> Any:
            chosen = self._next(call, context)
            source = _requests(call, incoming)
            try:
                if callable(chosen):
                    async for message in chosen(source if not call.requests else call.request):
                        yield message
                    return
                for step in [chosen] if isinstance(chosen, Refused) else chosen:
                    if isinstance(step, Refused):
                        raise step
                    yield step
            except Refused as refused:
                await context.abort(refused.code, refused.message, refused.trailers())

        return answer


def _requests(call: Call, incoming: Any) -> AsyncIterator[Any]:
    """Note what arrives: at once for a single request, as it is read for a stream of them."""
    if isinstance(incoming, Message):
        call.requests.append(incoming)
        return _none()

    async def read() -> AsyncIterator[Any]:
        async for message in incoming:
            call.requests.append(message)
            yield message

    return read()


async def _none() -> AsyncIterator[Any]:
    return
    yield


@dataclass
class WirePair:
    """A gateway, and the execd of the one sandbox that it knows."""

    gateway: Wire
    execd: Wire

    def endpoint(self, token: str = "token-1", ttl_s: float | None = 3600.0) -> sandbox_service_pb2.Endpoint:
        made = sandbox_service_pb2.Endpoint(address=self.execd.address, token=token, generation=1)
        if ttl_s is not None:
            made.token_expires_at.GetCurrentTime()
            made.token_expires_at.seconds += int(ttl_s)
        return made

    def settings(self, *, direct: bool = True, reconnect_s: float = 5.0, answer_s: float = 30.0) -> Settings:
        return Settings(self.gateway.address, "key-1", prefer_direct=direct, reconnect_s=reconnect_s, answer_s=answer_s)

    def client(self, *, direct: bool = True, reconnect_s: float = 5.0, answer_s: float = 30.0) -> Client:
        return Client(settings=self.settings(direct=direct, reconnect_s=reconnect_s, answer_s=answer_s))

    @asynccontextmanager
    async def sandbox(self, *, direct: bool = True, reconnect_s: float = 5.0) -> AsyncIterator[Sandbox]:
        async with self.client(direct=direct, reconnect_s=reconnect_s) as client:
            made = await Sandbox.connect(SANDBOX_ID, client=client)
            try:
                yield made
            finally:
                await made.close()


@asynccontextmanager
async def wire_pair() -> AsyncIterator[WirePair]:
    directory = Path(tempfile.mkdtemp(prefix="arn-wire-"))  # short: a socket's path has 107 bytes
    pair = WirePair(Wire(directory / "g.sock"), Wire(directory / "e.sock"))
    pair.gateway.on("Get", sandbox_service_pb2.GetResponse(sandbox=record()))
    pair.gateway.on("GetEndpoint", sandbox_service_pb2.GetEndpointResponse(endpoint=pair.endpoint()))
    pair.gateway.on("Delete", sandbox_service_pb2.DeleteResponse(sandbox=record("SANDBOX_STATE_TERMINATED")))
    try:
        await asyncio.gather(pair.gateway.start(), pair.execd.start())
        yield pair
    finally:
        await asyncio.gather(pair.gateway.stop(), pair.execd.stop())
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def wire_pair_elsewhere() -> Iterator[WirePair]:
    """The same on another event loop in another thread, for what has none or one of its own."""
    portal = Portal()
    serving = wire_pair()
    pair = portal.run(serving.__aenter__())
    try:
        yield pair
    finally:
        portal.run(serving.__aexit__(None, None, None))
        portal.stop()


def record(state: str = "SANDBOX_STATE_RUNNING") -> sandbox_pb2.Sandbox:
    return sandbox_pb2.Sandbox(id=SANDBOX_ID, state=state, revision=7)


def detail(
    reason: str, *, field: str = "", fix: str = "", retry_after_s: float | None = None, outcome: str = "OUTCOME_REFUSED"
) -> error_pb2.ErrorDetail:
    made = error_pb2.ErrorDetail(reason=reason, field=field, fix=fix, outcome=outcome, metadata={"limit": "3"})
    if retry_after_s is not None:
        made.retry_after.CopyFrom(Duration(nanos=int(retry_after_s * 1e9)))
    return made


def started(exec_id: str = "x", pid: int = 7) -> exec_service_pb2.RunResponse:
    return exec_service_pb2.RunResponse(started=exec_pb2.ExecStarted(exec=exec_pb2.Exec(exec_id=exec_id, pid=pid)))


def out(offset: int, data: bytes, stream: Any = STDOUT) -> exec_service_pb2.RunResponse:
    return exec_service_pb2.RunResponse(output=chunk(offset, data, stream))


def attached(**offsets: int) -> exec_service_pb2.AttachResponse:
    """The first frame of an attach, with the bytes produced so far."""
    return exec_service_pb2.AttachResponse(exec=exec_pb2.Exec(exec_id="x", pid=7, offsets=places(**offsets)))


def more(offset: int, data: bytes, stream: Any = STDOUT) -> exec_service_pb2.AttachResponse:
    return exec_service_pb2.AttachResponse(output=chunk(offset, data, stream))


def chunk(offset: int, data: bytes, stream: Any = STDOUT) -> exec_pb2.OutputChunk:
    return exec_pb2.OutputChunk(stream=stream, offset=offset, data=data)


def gap(begin: int, end: int, stream: Any = STDOUT) -> exec_pb2.OutputGap:
    return exec_pb2.OutputGap(stream=stream, from_offset=begin, to_offset=end)


def ended(code: int = 0, **final: int) -> exec_pb2.ExecEnded:
    return exec_pb2.ExecEnded(exit_code=code, cause=exec_pb2.END_CAUSE_OWN_EXIT, final_offsets=places(**final))


def run_ended(code: int = 0, **final: int) -> exec_service_pb2.RunResponse:
    return exec_service_pb2.RunResponse(ended=ended(code, **final))


def attach_ended(code: int = 0, **final: int) -> exec_service_pb2.AttachResponse:
    return exec_service_pb2.AttachResponse(ended=ended(code, **final))


def places(**offsets: int) -> list[exec_pb2.StreamOffset]:
    return [exec_pb2.StreamOffset(stream=f"OUTPUT_STREAM_{name.upper()}", offset=at) for name, at in offsets.items()]


def places_of(offsets: Any) -> dict[str, int]:
    """Turn offsets on the wire into a dictionary."""
    names = {STDOUT: "stdout", STDERR: "stderr", PTY: "pty"}
    return {names[item.stream]: item.offset for item in offsets}
