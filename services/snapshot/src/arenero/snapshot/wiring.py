"""What snapshot consists of, and what is connected to what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from arenero.api.snapshot.v1.image_service_pb2_grpc import add_ImageServiceServicer_to_server
from arenero.api.snapshot.v1.snapshot_service_pb2_grpc import add_SnapshotServiceServicer_to_server
from arenero.host.service import Service
from arenero.rpc.identity import trust_metadata
from arenero.rpc.server import RpcServer
from arenero.snapshot.config import SnapshotConfig
from arenero.snapshot.servicer import ImageServicer, SnapshotServicer


@asynccontextmanager
async def build(config: SnapshotConfig) -> AsyncIterator[Service]:
    """Connect the parts; nothing runs yet."""
    server = RpcServer(config.server, authenticate=trust_metadata)
    # Abstract to mypy, since no method is written yet.
    server.add(add_SnapshotServiceServicer_to_server, SnapshotServicer())  # type: ignore[abstract]
    server.add(add_ImageServiceServicer_to_server, ImageServicer())  # type: ignore[abstract]
    yield Service(servers=[server])
