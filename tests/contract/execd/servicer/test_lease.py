"""LeaseService beside the lease itself, which is init's: metrics and their stream."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from arenero.api.execd.v1 import lease_service_pb2 as api
from tests.contract.execd import kit
from tests.contract.execd.kit import Client


async def test_metrics_count_processes_and_execs(client: Client) -> None:
    quiet = (await client.lease.GetMetrics(api.GetMetricsRequest(), metadata=client.metadata)).metrics
    started = await client.start("sleep 30 & sleep 30 & wait")
    await asyncio.sleep(0.2)
    busy = (await client.lease.GetMetrics(api.GetMetricsRequest(), metadata=client.metadata)).metrics
    await client.call("Kill", exec_id=started.exec_id)
    assert (busy.processes - quiet.processes, busy.execs - quiet.execs) == (3, 1)
    assert busy.memory_used_bytes > 0
    assert busy.uptime.ToNanoseconds() > quiet.uptime.ToNanoseconds()


async def test_metrics_are_streamed_at_their_interval(client: Client) -> None:
    request = api.WatchMetricsRequest()
    request.interval.FromMilliseconds(100)
    started = await client.start("while :; do :; done")
    times, shares = [], []
    stream = client.lease.WatchMetrics(request, metadata=client.metadata)
    async for answer in stream:
        times.append(answer.metrics.measured_at.ToNanoseconds())
        shares.append(answer.metrics.cpu_used_percent)
        if len(times) == 5:
            stream.cancel()
            break
    await client.call("Kill", exec_id=started.exec_id)
    assert times == sorted(set(times))
    assert times[-1] - times[0] >= 0.4e9
    assert shares[0] == 0.0
    assert max(shares) > 0


async def test_token_that_was_given_out_reads_metrics_and_changes_nothing(client: Client) -> None:
    given = (("authorization", f"Bearer {kit.token(control=False)}"),)
    await client.lease.GetMetrics(api.GetMetricsRequest(), metadata=given)
    for attempt in (
        client.lease.SetLease(api.SetLeaseRequest(revision=99), metadata=given),
        client.lease.Shutdown(api.ShutdownRequest(), metadata=given),
        client.lease.Refresh(api.RefreshRequest(), metadata=given),
    ):
        with pytest.raises(grpc.aio.AioRpcError, match="only the control plane"):
            await attempt
    await client.call("List")


async def test_interval_that_would_flood_is_refused(client: Client) -> None:
    request = api.WatchMetricsRequest()
    request.interval.FromMilliseconds(1)
    with pytest.raises(grpc.aio.AioRpcError, match="interval"):
        await anext(aiter(client.lease.WatchMetrics(request, metadata=client.metadata)))
