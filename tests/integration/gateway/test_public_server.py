"""What anybody can learn from the gateway alone: health, and a description of the whole API."""

import asyncio
import subprocess
import sys
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool
from grpc_health.v1 import health_pb2, health_pb2_grpc

from arenero.api.gateway.v1 import key_pb2
from arenero.errors import PermissionDenied, Unauthenticated, Unsupported
from arenero.gateway.catalog import PRIVATE, PUBLIC, Backend
from arenero.rpc.status import from_rpc_error
from tests.fixtures.upstream import echo
from tests.integration.gateway.conftest import Stage
from tests.integration.gateway.proxy.test_relay import CREATE, RUN, START, failure

DESCRIBE = """
import sys, grpc
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
with grpc.insecure_channel(sys.argv[1]) as channel:
    database = ProtoReflectionDescriptorDatabase(channel)
    pool = DescriptorPool(database)
    for name in database.get_services():
        if not name.startswith("grpc."):
            service = pool.FindServiceByName(name)
            for method in service.methods:
                print(f"{name}/{method.name}", len(method.input_type.fields), len(method.output_type.fields))
"""
"""As a client without our stubs does it, in a process that has none of our descriptors."""


async def test_reflection_describes_every_public_service_and_no_other(stage: Stage) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", DESCRIBE, stage.address, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    found = {line.split()[0] for line in out.decode().splitlines()}
    expected = {
        f"{name}/{method}"
        for name in PUBLIC
        for method in descriptor_pool.Default().FindServiceByName(name).methods_by_name
    }
    assert found == expected


async def test_health_needs_no_key_and_is_of_each_service(stage: Stage) -> None:
    stub: Any = health_pb2_grpc.HealthStub(stage.channel)

    async def status(service: str) -> int:
        return int((await stub.Check(health_pb2.HealthCheckRequest(service=service))).status)

    serving, not_serving = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
    assert await status("") == serving
    async with asyncio.timeout(5):
        while await status("arenero.api.lifecycle.v1.SandboxService") != serving:
            await asyncio.sleep(0.02)
    for name, service in PUBLIC.items():
        here = service.backend in (Backend.LIFECYCLE, Backend.EXECD, Backend.GATEWAY)
        assert await status(name) == (serving if here else not_serving)


@pytest.mark.parametrize("method", [CREATE, START, RUN, "/arenero.api.gateway.v1.KeyService/WhoAmI"])
async def test_nothing_else_is_open_without_a_key(stage: Stage, method: str) -> None:
    for metadata in ((), (("authorization", "Bearer ark_" + "x" * 43),), (("arenero-tenant", "default"),)):
        error = await failure(stage.unary(method)(b"", metadata=metadata))
        assert isinstance(from_rpc_error(error), Unauthenticated)
    assert not stage.execd.calls
    assert not stage.lifecycle.calls


@pytest.mark.parametrize("name", sorted(PRIVATE))
async def test_private_services_do_not_exist(stage: Stage, name: str) -> None:
    [method, *_] = descriptor_pool.Default().FindServiceByName(name).methods
    error = await failure(stage.unary(f"/{name}/{method.name}")(b"", metadata=stage.metadata()))
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_control_planes_methods_of_execd_are_closed(stage: Stage) -> None:
    stage.execd.scripts["Shutdown"] = echo
    error = await failure(stage.unary("/arenero.api.execd.v1.LeaseService/Shutdown")(b"", metadata=stage.metadata()))
    assert isinstance(from_rpc_error(error), PermissionDenied)
    assert not stage.execd.calls


async def test_read_key_can_not_run_anything(stage: Stage) -> None:
    stage.execd.scripts.update(Start=echo, Get=echo)
    reader = (await stage.new_key(scopes=[key_pb2.KEY_SCOPE_READ])).secret
    assert await stage.unary("/arenero.api.execd.v1.ExecService/Get")(b"1", metadata=stage.metadata(key=reader)) == b"1"
    error = await failure(stage.unary(START)(b"", metadata=stage.metadata(key=reader)))
    assert isinstance(from_rpc_error(error), PermissionDenied)
    assert [seen.method for seen in stage.execd.calls] == ["/arenero.api.execd.v1.ExecService/Get"]


async def test_service_that_the_platform_runs_without_is_unsupported(stage: Stage) -> None:
    error = await failure(stage.unary("/arenero.api.vault.v1.VaultService/Get")(b"", metadata=stage.metadata()))
    assert isinstance(from_rpc_error(error), Unsupported)
