"""LeaseService: how long the sandbox may live, what it uses, how it ends. For the control plane."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Final

from arenero.api.execd.v1 import lease_service_pb2 as api
from arenero.api.execd.v1 import lease_service_pb2_grpc as api_grpc
from arenero.execd.control import Kind
from arenero.execd.link import InitLink
from arenero.execd.metrics import Meter, Sample
from arenero.execd.plan import InitPlan
from arenero.execd.processes import Processes
from arenero.execd.refresh import Identity, Refresher
from arenero.execd.servicer import frames
from arenero.execd.servicer.fields import invalid, seconds_of
from arenero.execd.servicer.specs import MAX_GRACE_S
from arenero.rpc.interceptors import Context

DEFAULT_GRACE_S: Final = 2.0
DEFAULT_INTERVAL_S: Final = 1.0
MIN_INTERVAL_S: Final = 0.1
MAX_INTERVAL_S: Final = 3600.0
MAX_SEED_BYTES: Final = 4096
MAX_HOSTNAME_BYTES: Final = 64


class LeaseServicer(api_grpc.LeaseServiceServicer):
    """Serves one sandbox's lease."""

    def __init__(self, plan: InitPlan, link: InitLink, processes: Processes, refresher: Refresher) -> None:
        self._plan = plan
        self._link = link
        self._processes = processes
        self._refresher = refresher
        self._meter = Meter(plan)
        self._started_s = time.monotonic()

    async def SetLease(self, request: api.SetLeaseRequest, context: Context) -> api.SetLeaseResponse:  # noqa: N802
        ttl_s = seconds_of(request, "ttl")
        answer = await self._link.ask(Kind.LEASE, {"ttl_s": ttl_s, "revision": request.revision})
        return api.SetLeaseResponse(revision=answer["revision"])

    async def Shutdown(self, request: api.ShutdownRequest, context: Context) -> api.ShutdownResponse:  # noqa: N802
        grace_s = seconds_of(request, "grace", high_s=MAX_GRACE_S)
        self._link.tell(Kind.STOP, {"grace_s": DEFAULT_GRACE_S if grace_s is None else grace_s})
        return api.ShutdownResponse()

    async def Refresh(self, request: api.RefreshRequest, context: Context) -> api.RefreshResponse:  # noqa: N802
        hooks = await self._refresher.refresh(_identity_of(request))
        return api.RefreshResponse(
            hooks=[api.RefreshHook(name=hook.name, done=hook.done, message=hook.message) for hook in hooks]
        )

    async def GetMetrics(  # noqa: N802
        self, request: api.GetMetricsRequest, context: Context
    ) -> api.GetMetricsResponse:
        return api.GetMetricsResponse(metrics=self._message(await asyncio.to_thread(self._meter.measure)))

    async def WatchMetrics(  # noqa: N802
        self, request: api.WatchMetricsRequest, context: Context
    ) -> AsyncIterator[api.WatchMetricsResponse]:
        interval_s = seconds_of(request, "interval", low_s=MIN_INTERVAL_S, high_s=MAX_INTERVAL_S) or DEFAULT_INTERVAL_S
        meter = Meter(self._plan)
        while True:
            yield api.WatchMetricsResponse(metrics=self._message(await asyncio.to_thread(meter.measure)))
            await asyncio.sleep(interval_s)

    def _message(self, sample: Sample) -> api.Metrics:
        return api.Metrics(
            measured_at=frames.timestamp(sample.at_ns),
            cpus=sample.cpus,
            cpu_used_percent=sample.cpu_used_percent,
            memory_limit_bytes=sample.memory_limit_bytes,
            memory_used_bytes=sample.memory_used_bytes,
            disk_free_bytes=sample.disk_free_bytes,
            processes=sample.processes,
            execs=self._processes.running,
            uptime=frames.duration(time.monotonic() - self._started_s),
        )


def _identity_of(request: api.RefreshRequest) -> Identity:
    if len(request.random_seed) > MAX_SEED_BYTES:
        raise invalid("random_seed", f"has {len(request.random_seed)} bytes; at most {MAX_SEED_BYTES} are allowed")
    if len(request.hostname.encode()) > MAX_HOSTNAME_BYTES or "\0" in request.hostname:
        raise invalid("hostname", f"is no host name of at most {MAX_HOSTNAME_BYTES} bytes")
    for name, value in request.env.items():
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise invalid("env", f"has the entry {name[:64]!r}, which no environment can hold")
    return Identity(
        sandbox_id=request.sandbox_id,
        generation=request.generation,
        hostname=request.hostname,
        wall_clock_ns=request.wall_clock.ToNanoseconds() if request.HasField("wall_clock") else None,
        random_seed=request.random_seed,
        env=dict(request.env),
    )
