"""What warmpool consists of, and what is connected to what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from arenero.api.warmpool.v1.claim_service_pb2_grpc import add_ClaimServiceServicer_to_server
from arenero.api.warmpool.v1.pool_service_pb2_grpc import add_PoolServiceServicer_to_server
from arenero.host.service import Service
from arenero.rpc.identity import trust_metadata
from arenero.rpc.server import RpcServer
from arenero.warmpool.config import WarmpoolConfig
from arenero.warmpool.servicer import ClaimServicer, PoolServicer


@asynccontextmanager
async def build(config: WarmpoolConfig) -> AsyncIterator[Service]:
    """Connect the parts; nothing runs yet."""
    server = RpcServer(config.server, authenticate=trust_metadata)
    # Abstract to mypy, since no method is written yet.
    server.add(add_PoolServiceServicer_to_server, PoolServicer())  # type: ignore[abstract]
    server.add(add_ClaimServiceServicer_to_server, ClaimServicer())  # type: ignore[abstract]
    yield Service(servers=[server])
