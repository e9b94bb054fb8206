"""A gRPC server as all parts run one: on a Unix socket or TCP, with health, reflection, limits and an orderly stop."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import grpc
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from arenero.errors import FailedPrecondition
from arenero.rpc.health import Health
from arenero.rpc.identity import Authenticate
from arenero.rpc.interceptors import Parse, Surroundings, wrap

UNIX: Final = "unix:"
MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
MAX_UNIX_PATH_BYTES: Final = 107
_WINDOW_OF_UNIX_SOCKETS: Final[Sequence[tuple[str, Any]]] = (
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 2 * 1024 * 1024),
)
"""How far a sender may be ahead of its reader. gRPC's own estimate, of what is on a long way, takes a busy machine for
one, and memory grows by tens of MiB; between processes there is no distance to make up for."""
_WRAPPED_LIMIT: Final = 1024
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RpcServerConfig:
    """Where a server listens and what it allows."""

    address: str
    """`unix:/path`, or `host:port`; port 0 takes any free one."""
    max_streams: int = 4096
    """Calls at once on one connection. gRPC's own default of 100 makes the hundred-and-first wait in silence."""
    max_message_bytes: int = MAX_MESSAGE_BYTES
    keepalive_s: float = 30.0
    """Pause between HTTP/2 pings that find dead peers."""

    def to_options(self) -> list[tuple[str, Any]]:
        """Return gRPC's channel arguments."""
        return [
            ("grpc.max_concurrent_streams", self.max_streams),
            ("grpc.max_receive_message_length", self.max_message_bytes),
            ("grpc.max_send_message_length", self.max_message_bytes),
            ("grpc.keepalive_time_ms", int(self.keepalive_s * 1000)),
            ("grpc.keepalive_timeout_ms", 20_000),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
            # Two servers on one port would share the calls between them; the second must fail instead.
            ("grpc.so_reuseport", 0),
            *(_WINDOW_OF_UNIX_SOCKETS if self.address.startswith(UNIX) else ()),
        ]


class RpcServer:
    """One server. Add servicers, start, `health.set_serving(True)` when ready, stop. Starts and stops once."""

    def __init__(
        self,
        config: RpcServerConfig,
        *,
        authenticate: Authenticate,
        credentials: grpc.ServerCredentials | None = None,
        span_area: str | None = "",
    ) -> None:
        self.health = Health()
        self._config = config
        self._credentials = credentials
        self._server = grpc.aio.server(options=config.to_options())
        self._around = Surroundings(authenticate, lambda: self.health.is_serving, span_area)
        self._services: list[str] = []
        self._shown: list[str] = []
        self._address = config.address
        self._listening = False

    @property
    def address(self) -> str:
        """Where it listens, as a gRPC target; with the real port once started."""
        return self._address

    @property
    def services(self) -> Sequence[str]:
        """Full names of what was added."""
        return tuple(self._services)

    def add(
        self, add_to_server: Callable[[_T, Any], None], servicer: _T, *, parsers: Mapping[str, Parse] | None = None
    ) -> None:
        """Add a servicer by its generated `add_…Servicer_to_server`; its handlers get the surroundings.

        Args:
            add_to_server: The generated function.
            servicer: Serves.
            parsers: By name of a method, what reads its requests in the place of the protobuf runtime.
        """
        registrar = _Registrar(self._around, parsers or {})
        add_to_server(servicer, registrar)
        self._server.add_generic_rpc_handlers(registrar.handlers)
        self._services += registrar.services

    def add_later(
        self,
        service: str,
        add_to_server: Callable[[_T, Any], None],
        make: Callable[[], _T],
        *,
        parsers: Mapping[str, Parse] | None = None,
    ) -> None:
        """Add a servicer that is made when it is called for the first time; until then it costs next to nothing.

        Args:
            service: Its full name.
            add_to_server: As in `add`.
            make: Makes the servicer.
            parsers: As in `add`.
        """

        def build() -> grpc.GenericRpcHandler:
            registrar = _Registrar(self._around, parsers or {})
            add_to_server(make(), registrar)
            (handler,) = registrar.handlers
            return handler

        self._server.add_generic_rpc_handlers((_Later(service, build),))
        self._services.append(service)

    def add_generic(self, handler: grpc.GenericRpcHandler, *, services: Sequence[str] = ()) -> None:
        """Add a handler that decides by name at each call, such as a proxy; its handlers get the surroundings.

        Args:
            handler: Decides.
            services: What it answers for, to be shown by reflection; their messages must be imported. Their health is
                theirs: `health.servicer.set`.
        """
        self._server.add_generic_rpc_handlers((_WrappedGeneric(handler, self._around),))
        self._shown += services

    async def listen(self) -> None:
        """Take connections before it is known what will be served: what is called is unknown until `start`.

        Raises:
            FailedPrecondition: The address is taken or not usable.
        """
        self._bind()
        await self._server.start()
        self._listening = True

    async def start(self) -> None:
        """Listen, unless it does. Calls are refused as unavailable until `health` says serving.

        Raises:
            FailedPrecondition: The address is taken or not usable.
        """
        self.add(health_pb2_grpc.add_HealthServicer_to_server, self.health.servicer)
        await self.health.announce(self._services)
        shown = [*self._services, *self._shown, reflection.SERVICE_NAME]
        self.add_later(
            reflection.SERVICE_NAME,
            reflection_pb2_grpc.add_ServerReflectionServicer_to_server,
            lambda: reflection.aio.ReflectionServicer(shown),
        )
        if not self._listening:
            await self.listen()

    async def stop(self, grace_s: float, *, stream_grace_s: float = 0.5) -> None:
        """Refuse new calls, let running ones finish within `grace_s`, cancel the rest.

        Calls that answer with a stream have `stream_grace_s` only: most of them end when the client wants, which may be
        never, and every client of a stream must know how to take it up again.
        """
        await self.health.set_serving(False)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._server.stop(grace_s))
            if self._around.streams:
                await asyncio.wait(set(self._around.streams), timeout=min(stream_grace_s, grace_s))
            self._around.end_streams()

    async def wait(self) -> None:
        """Wait until the server has stopped."""
        await self._server.wait_for_termination()

    def _bind(self) -> None:
        path = unix_path(self._config.address)
        if path is not None:
            _prepare_socket(path)
        try:
            port = self._add_port(self._config.address, is_unix=path is not None)
        except RuntimeError as error:
            raise _unusable(self._config.address) from error
        if port == 0:
            raise _unusable(self._config.address)
        if path is not None:
            path.chmod(0o600)
        else:
            self._address = f"{self._config.address.rpartition(':')[0]}:{port}"

    def _add_port(self, address: str, *, is_unix: bool) -> int:
        if self._credentials is not None:
            return self._server.add_secure_port(address, self._credentials)
        if is_unix:
            return self._server.add_secure_port(address, grpc.local_server_credentials(grpc.LocalConnectionType.UDS))
        return self._server.add_insecure_port(address)


class _Registrar:
    """Stands in for the server towards generated code: wraps the handlers and keeps them."""

    def __init__(self, around: Surroundings, parsers: Mapping[str, Parse]) -> None:
        self._around = around
        self._parsers = parsers
        self.handlers: tuple[grpc.GenericRpcHandler, ...] = ()
        self.services: list[str] = []

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Wrap and keep the handlers of services."""
        self.handlers += tuple(_WrappedGeneric(handler, self._around, self._parsers) for handler in handlers)
        self.services += [handler.service_name() for handler in handlers if isinstance(handler, grpc.ServiceRpcHandler)]

    def add_registered_method_handlers(self, service: str, handlers: dict[str, Any]) -> None:
        """Do nothing: newer generated code registers the same handlers a second time, by name."""


class _Later(grpc.GenericRpcHandler):
    """Answers for one service, which is built when it is called for the first time."""

    def __init__(self, service: str, build: Callable[[], grpc.GenericRpcHandler]) -> None:
        self._prefix = f"/{service}/"
        self._build = build
        self._handler: grpc.GenericRpcHandler | None = None

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Return the handler of a method of this service."""
        if not str(details.method).startswith(self._prefix):
            return None
        if self._handler is None:
            self._handler = self._build()
        return self._handler.service(details)


class _WrappedGeneric(grpc.GenericRpcHandler):
    """Wraps what a generic handler returns, remembering it per method. Callers choose the names, so not without end."""

    def __init__(
        self, handler: grpc.GenericRpcHandler, around: Surroundings, parsers: Mapping[str, Parse] | None = None
    ) -> None:
        self._handler = handler
        self._around = around
        self._parsers = parsers or {}
        self._wrapped: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Return the wrapped handler of a method."""
        method = str(details.method)
        found = self._wrapped.get(method)
        if found is None:
            handler = self._handler.service(details)
            if handler is None:
                return None
            found = wrap(method, handler, self._around, self._parsers.get(method.rpartition("/")[2]))
            if len(self._wrapped) < _WRAPPED_LIMIT:
                self._wrapped[method] = found
        return found


def unix_path(address: str) -> Path | None:
    """Return the path of a `unix:` address, None for others."""
    return Path(address.removeprefix(UNIX)) if address.startswith(UNIX) else None


def _prepare_socket(path: Path) -> None:
    """Make the private directory, and make sure that no living server is there: gRPC would silently replace it."""
    if len(os.fsencode(path)) > MAX_UNIX_PATH_BYTES:
        raise FailedPrecondition(f"the socket path {path} is longer than {MAX_UNIX_PATH_BYTES} bytes")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return
    raise FailedPrecondition(f"another server answers on {path}", reason="ADDRESS_IN_USE")


def _unusable(address: str) -> FailedPrecondition:
    return FailedPrecondition(f"can't listen on {address}", reason="ADDRESS_IN_USE", fix="choose another address")
