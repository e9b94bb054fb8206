"""`SandboxService` on the wire: reads requests, calls `Sandboxes`, writes answers. It decides nothing."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Any, Final

from arenero.api.common.v1 import page_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2 as pb
from arenero.api.lifecycle.v1.sandbox_service_pb2_grpc import SandboxServiceServicer
from arenero.errors import InvalidArgument, Unsupported
from arenero.lifecycle.codec.facts import PAUSE_MODE_WORDS
from arenero.lifecycle.codec.filters import decode_filter
from arenero.lifecycle.codec.record import encode_sandbox
from arenero.lifecycle.codec.scalars import from_duration, read_timestamp, to_duration, to_timestamp
from arenero.lifecycle.codec.spec import decode_spec
from arenero.lifecycle.drivers import Drivers
from arenero.lifecycle.endpoints import DEFAULT_TOKEN_TTL_S, Access, Endpoints, check_endpoint
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.paging import decode_token, encode_token, page_size
from arenero.lifecycle.requests import CreateRequest, check_create
from arenero.lifecycle.sandboxes import Sandboxes, Until
from arenero.lifecycle.watching import Watching
from arenero.model.fields import FieldError
from arenero.model.ids import SandboxId, parse_sandbox_id
from arenero.model.spec import check_metadata, check_ttl
from arenero.model.time import Clock
from arenero.rpc.identity import current_caller
from arenero.runtime.capabilities import Check

_Context = Any
"""A `grpc.aio.ServicerContext`; no code here looks at it."""

TEMPLATES: Final = {
    "host": "The programs of the machine itself, read-only, below a root, an /etc and a home of the sandbox's own",
}
"""What the templates are that drivers bring."""


class SandboxServicer(SandboxServiceServicer):
    """Serves `SandboxService`."""

    def __init__(
        self,
        sandboxes: Sandboxes,
        index: SandboxIndex,
        watching: Watching,
        endpoints: Endpoints,
        drivers: Drivers,
        clock: Clock,
    ) -> None:
        self._sandboxes = sandboxes
        self._index = index
        self._watching = watching
        self._endpoints = endpoints
        self._drivers = drivers
        self._clock = clock

    async def Create(self, request: pb.CreateRequest, context: _Context) -> pb.CreateResponse:  # noqa: N802
        """Make a sandbox."""
        wanted = _read_create(request)
        record, repeated = await self._sandboxes.create(current_caller(), wanted)
        record = self._sandboxes.with_position(record)
        access = self._endpoints.find_execd(record)
        return pb.CreateResponse(
            sandbox=encode_sandbox(record), execd=_encode_access(access) if access else None, repeated_request=repeated
        )

    async def Get(self, request: pb.GetRequest, context: _Context) -> pb.GetResponse:  # noqa: N802
        """Answer one record."""
        record = await self._sandboxes.get(current_caller(), _read_id(request.sandbox_id))
        return pb.GetResponse(sandbox=encode_sandbox(record))

    async def List(self, request: pb.ListRequest, context: _Context) -> pb.ListResponse:  # noqa: N802
        """Answer one page of records, newest first."""
        wanted = decode_filter(request.filter)
        size = page_size(request.page.page_size)
        after = decode_token(request.page.page_token, wanted)
        page = self._index.page(current_caller().tenant, wanted, after=after, size=size)
        return pb.ListResponse(
            sandboxes=[encode_sandbox(self._sandboxes.with_position(r)) for r in page.records],
            page=page_pb2.PageResult(next_page_token=encode_token(page.following, wanted), total_size=page.total),
        )

    async def Watch(self, request: pb.WatchRequest, context: _Context) -> AsyncIterator[pb.WatchResponse]:  # noqa: N802
        """Stream records as they change."""
        tenant = current_caller().tenant
        if request.sandbox_id:
            sightings = self._watching.watch_one(tenant, _read_id(request.sandbox_id))
        else:
            by_state = bool(request.filter.states)
            sightings = self._watching.watch_many(tenant, decode_filter(request.filter), by_state=by_state)
        async for sighting in sightings:
            yield pb.WatchResponse(sandbox=encode_sandbox(sighting.record), fact=sighting.fact)

    async def Delete(self, request: pb.DeleteRequest, context: _Context) -> pb.DeleteResponse:  # noqa: N802
        """End a sandbox."""
        record = await self._sandboxes.delete(
            current_caller(),
            _read_id(request.sandbox_id),
            expected_revision=request.expected_revision,
            wait=not request.no_wait,
        )
        return pb.DeleteResponse(sandbox=encode_sandbox(record))

    async def Renew(self, request: pb.RenewRequest, context: _Context) -> pb.RenewResponse:  # noqa: N802
        """Move the end of a sandbox's life."""
        record = await self._sandboxes.renew(
            current_caller(), _read_id(request.sandbox_id), _read_until(request), extend_only=request.extend_only
        )
        return pb.RenewResponse(sandbox=encode_sandbox(record))

    async def UpdateMetadata(  # noqa: N802
        self, request: pb.UpdateMetadataRequest, context: _Context
    ) -> pb.UpdateMetadataResponse:
        """Change labels."""
        _refuse(check_metadata("set", dict(request.set)))
        record = await self._sandboxes.update_metadata(
            current_caller(),
            _read_id(request.sandbox_id),
            to_set=dict(request.set),
            to_remove=list(request.remove),
            expected_revision=request.expected_revision,
        )
        return pb.UpdateMetadataResponse(sandbox=encode_sandbox(record))

    async def GetEndpoint(self, request: pb.GetEndpointRequest, context: _Context) -> pb.GetEndpointResponse:  # noqa: N802
        """Answer how to reach execd or a port."""
        ttl_s = from_duration(request.token_ttl) if request.HasField("token_ttl") else DEFAULT_TOKEN_TTL_S
        _refuse(check_endpoint(request.port, ttl_s))
        record = await self._sandboxes.get(current_caller(), _read_id(request.sandbox_id))
        access = self._endpoints.port(record, request.port) if request.port else self._endpoints.execd(record, ttl_s)
        return pb.GetEndpointResponse(endpoint=_encode_access(access))

    async def Pause(self, request: pb.PauseRequest, context: _Context) -> pb.PauseResponse:  # noqa: N802
        """Let a sandbox stand still."""
        mode = PAUSE_MODE_WORDS.get(request.mode, "freeze" if not request.mode else "")
        if not mode:
            raise InvalidArgument(f"has the value {request.mode}, which this version does not know", field="mode")
        record = await self._sandboxes.pause(current_caller(), _read_id(request.sandbox_id), mode)
        return pb.PauseResponse(sandbox=encode_sandbox(record))

    async def Resume(self, request: pb.ResumeRequest, context: _Context) -> pb.ResumeResponse:  # noqa: N802
        """Let a paused sandbox go on."""
        record = await self._sandboxes.resume(current_caller(), _read_id(request.sandbox_id))
        access = self._endpoints.find_execd(record)
        return pb.ResumeResponse(sandbox=encode_sandbox(record), execd=_encode_access(access) if access else None)

    async def Fork(self, request: pb.ForkRequest, context: _Context) -> pb.ForkResponse:  # noqa: N802
        """Refuse: copies aren't there yet."""
        raise Unsupported("forking isn't there yet", reason="FORK_UNSUPPORTED")

    async def GetStats(self, request: pb.GetStatsRequest, context: _Context) -> pb.GetStatsResponse:  # noqa: N802
        """Answer what a sandbox uses."""
        stats = await self._sandboxes.stats(current_caller(), _read_id(request.sandbox_id))
        return pb.GetStatsResponse(
            measured_at=to_timestamp(self._clock.now()),
            cpu_time=to_duration(stats.cpu_time_s),
            memory_bytes=stats.memory_bytes,
            memory_peak_bytes=stats.memory_peak_bytes,
            pids=stats.pids,
            disk_bytes=stats.disk_bytes,
            oom_kills=stats.oom_kills,
        )

    async def ListRuntimes(self, request: pb.ListRuntimesRequest, context: _Context) -> pb.ListRuntimesResponse:  # noqa: N802
        """Answer which runtimes there are and whether they can be used."""
        runtimes = [
            pb.Runtime(
                name=opened.driver.name,
                usable=opened.fingerprint.usable,
                is_default=opened.driver.name == self._drivers.default,
                reason=opened.fingerprint.reason,
                fix=opened.fingerprint.fix,
                capabilities=opened.driver.capabilities.names(),
                checks=[_encode_check(check) for check in opened.fingerprint.checks],
            )
            for opened in self._drivers.all()
        ]
        return pb.ListRuntimesResponse(runtimes=runtimes)

    async def ListTemplates(self, request: pb.ListTemplatesRequest, context: _Context) -> pb.ListTemplatesResponse:  # noqa: N802
        """Answer which templates there are."""
        usable = self._drivers.usable()
        names = sorted({name for driver in usable for name in driver.capabilities.templates})
        templates = [
            pb.Template(
                name=name,
                description=TEMPLATES.get(name, ""),
                runtimes=[driver.name for driver in usable if name in driver.capabilities.templates],
            )
            for name in names
        ]
        return pb.ListTemplatesResponse(templates=templates)


def _read_create(request: pb.CreateRequest) -> CreateRequest:
    faults: list[FieldError] = []
    if request.wait not in pb.CreateWait.values():
        faults.append(FieldError("wait", f"has the value {request.wait}, which this version does not know"))
    wanted = CreateRequest(
        spec=decode_spec(request.spec, faults),
        request_id=request.request_id,
        start_timeout_s=from_duration(request.start_timeout) if request.HasField("start_timeout") else None,
        digest=_digest(request),
        wait=request.wait != pb.CREATE_WAIT_ACCEPTED,
    )
    check_create(wanted, faults)
    return wanted


def _digest(request: pb.CreateRequest) -> str:
    """Return what tells two requests apart: all but the id itself, when to answer, and a password."""
    bare = pb.CreateRequest()
    bare.CopyFrom(request)
    bare.ClearField("request_id")
    bare.ClearField("wait")
    if bare.spec.source.HasField("image"):
        bare.spec.source.image.ClearField("password")
    return hashlib.sha256(bare.SerializeToString(deterministic=True)).hexdigest()


def _read_id(text: str) -> SandboxId:
    try:
        return parse_sandbox_id(text)
    except ValueError as error:
        raise InvalidArgument(str(error), field="sandbox_id") from None


def _read_until(request: pb.RenewRequest) -> Until:
    match request.WhichOneof("until"):
        case "ttl":
            ttl_s = from_duration(request.ttl)
            _refuse(check_ttl("ttl", ttl_s))
            return Until(ttl_s=ttl_s)
        case "expires_at":
            faults: list[FieldError] = []
            instant = read_timestamp(request.expires_at, "expires_at", faults)
            _refuse(faults)
            return Until(expires_at=instant)
        case _:
            raise InvalidArgument("say until when: set ttl or expires_at", field="ttl")


def _refuse(faults: Any) -> None:
    if found := list(faults):
        raise InvalidArgument.from_fields(found)


def _encode_access(access: Access) -> pb.Endpoint:
    return pb.Endpoint(
        address=access.address,
        token=access.token,
        token_expires_at=to_timestamp(access.token_expires_at),
        generation=access.generation,
    )


def _encode_check(check: Check) -> pb.RuntimeCheck:
    return pb.RuntimeCheck(name=check.name, ok=check.ok, message=check.message, fix=check.fix)
