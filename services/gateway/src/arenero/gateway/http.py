"""The HTTP door: health and metrics, and traces for those who have no gRPC at hand.

- `/healthz`: whether all parts serve, 200 or 503; open to everybody.
- `/metrics`: for Prometheus; open to this machine, to others with a key of the admin scope.
- `/v1/traces/{trace_id}`, `/v1/traces?sandbox_id=…`: as TraceService answers; with a key.

Errors are flat JSON: `{"code", "reason", "message"}`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from aiohttp import web
from google.protobuf import json_format
from google.protobuf.message import Message

from arenero.api.gateway.v1 import trace_service_pb2 as pb
from arenero.errors import (
    ArenError,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    Unauthenticated,
    Unavailable,
    Unsupported,
)
from arenero.gateway.keys.admission import Admission
from arenero.gateway.keys.record import KeyRecord, Scope
from arenero.gateway.trace_servicer import check_sandbox_id, parse_trace_id, to_message
from arenero.gateway.traces import Traces
from arenero.rpc.status import code_of
from arenero.telemetry.metrics import CONTENT_TYPE, Metrics

_log = logging.getLogger(__name__)
_STATUSES: Final[Mapping[type[ArenError], int]] = {
    InvalidArgument: 400,
    Unauthenticated: 401,
    PermissionDenied: 403,
    NotFound: 404,
    FailedPrecondition: 409,
    Unsupported: 501,
    Unavailable: 503,
}
_MAX_TRACES: Final = 100
_MAX_BODY_BYTES: Final = 64 * 1024
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class HttpParts:
    """What the door shows."""

    admission: Admission
    traces: Traces
    metrics: Metrics
    health: Callable[[], Mapping[str, bool]]
    """Whether each part serves, by name."""


class HttpDoor:
    """The HTTP server; run it as a named task.

    Args:
        address: `host:port`; port 0 takes any free one.
        parts: What it shows.
    """

    def __init__(self, address: str, parts: HttpParts) -> None:
        self._address = address
        self._parts = parts
        self._listening = asyncio.Event()

    @property
    def address(self) -> str:
        """Where it listens; with the real port once it does."""
        return self._address

    async def wait_listening(self) -> None:
        """Wait until connections are taken."""
        await self._listening.wait()

    async def run(self) -> None:
        """Serve until cancelled.

        Raises:
            FailedPrecondition: The address is taken or not usable.
        """
        runner = web.AppRunner(self._application(), access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await self._listen(runner)
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> None:
        host, _, port = self._address.rpartition(":")
        try:
            await web.TCPSite(runner, host.strip("[]"), int(port)).start()
        except (OSError, ValueError) as error:
            text = f"can't listen on {self._address}"
            raise FailedPrecondition(text, reason="ADDRESS_IN_USE", fix="choose another address") from error
        self._address = f"{host}:{runner.addresses[0][1]}"
        self._listening.set()
        _log.info("http.listening", extra={"address": self._address})

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[answer_errors], client_max_size=_MAX_BODY_BYTES)
        application.add_routes(
            [
                web.get("/healthz", self._healthz),
                web.get("/metrics", self._metrics),
                web.get("/v1/traces", self._list_traces),
                web.get("/v1/traces/{trace_id}", self._trace),
            ]
        )
        return application

    async def _healthz(self, request: web.Request) -> web.Response:
        parts = self._parts.health()
        is_ok = all(parts.values())
        body = {"status": "ok" if is_ok else "degraded", "parts": {n: _word(s) for n, s in sorted(parts.items())}}
        return web.json_response(body, status=200 if is_ok else 503, headers={"Cache-Control": "no-store"})

    async def _metrics(self, request: web.Request) -> web.Response:
        if not is_local(request.remote) and Scope.ADMIN not in self._key(request).scopes:
            raise PermissionDenied("metrics are for this machine and for admins", reason="SCOPE_MISSING")
        return web.Response(body=self._parts.metrics.render(), headers={"Content-Type": CONTENT_TYPE})

    async def _trace(self, request: web.Request) -> web.Response:
        view = self._parts.traces.trace(self._key(request).tenant, parse_trace_id(request.match_info["trace_id"]))
        return _json(pb.GetTraceResponse(trace=to_message(view, with_spans=True)))

    async def _list_traces(self, request: web.Request) -> web.Response:
        tenant = self._key(request).tenant
        if sandbox_id := request.query.get("sandbox_id", ""):
            views = self._parts.traces.of_sandbox(tenant, check_sandbox_id(sandbox_id), limit=_MAX_TRACES)
        else:
            views = self._parts.traces.recent(tenant, limit=_MAX_TRACES)
        return _json(pb.ListTracesResponse(traces=[to_message(view, with_spans=True) for view in views]))

    def _key(self, request: web.Request) -> KeyRecord:
        return self._parts.admission.identify({name.lower(): value for name, value in request.headers.items()})


@web.middleware
async def answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer our errors as JSON; a defect is logged and told nobody."""
    try:
        return await handler(request)
    except ArenError as error:
        return _error(error)
    except web.HTTPException as error:
        kind = NotFound if error.status == 404 else InvalidArgument
        return _error(kind(error.reason, reason="HTTP"), status=error.status)
    except Exception:  # noqa: BLE001  # the boundary: whatever it was, the caller gets an answer
        _log.exception("http.defect", extra={"path": request.path[:200]})
        return _error(Internal("the gateway failed; its log has the details"))


def is_local(remote: str | None) -> bool:
    """Whether a peer is on this machine."""
    try:
        return ipaddress.ip_address(remote or "").is_loopback
    except ValueError:
        return False


def _error(error: ArenError, *, status: int = 0) -> web.Response:
    found = status or next((_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES), 500)
    body = {"code": code_of(error).name, "reason": error.reason, "message": str(error)}
    headers = {"WWW-Authenticate": "Bearer"} if found == 401 else None
    return web.json_response(body, status=found, headers=headers)


def _json(message: Message) -> web.Response:
    text = json_format.MessageToJson(message, preserving_proto_field_name=True, indent=None)
    return web.Response(text=text, content_type="application/json", headers={"Cache-Control": "no-store"})


def _word(serving: bool) -> str:
    return "serving" if serving else "not serving"
