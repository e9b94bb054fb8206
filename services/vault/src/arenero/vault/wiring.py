"""What vault consists of, and what is connected to what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from arenero.api.vault.v1.attachment_service_pb2_grpc import add_AttachmentServiceServicer_to_server
from arenero.api.vault.v1.vault_service_pb2_grpc import add_VaultServiceServicer_to_server
from arenero.host.service import Service
from arenero.rpc.identity import trust_metadata
from arenero.rpc.server import RpcServer
from arenero.vault.config import VaultConfig
from arenero.vault.servicer import AttachmentServicer, VaultServicer


@asynccontextmanager
async def build(config: VaultConfig) -> AsyncIterator[Service]:
    """Connect the parts; nothing runs yet."""
    server = RpcServer(config.server, authenticate=trust_metadata)
    # Abstract to mypy, since no method is written yet.
    server.add(add_VaultServiceServicer_to_server, VaultServicer())  # type: ignore[abstract]
    server.add(add_AttachmentServiceServicer_to_server, AttachmentServicer())  # type: ignore[abstract]
    yield Service(servers=[server])
