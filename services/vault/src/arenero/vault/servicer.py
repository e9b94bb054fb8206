"""Vaults over gRPC.

This build has the API and not what is behind it. A method that is not overridden here answers UNIMPLEMENTED with the
reason NOT_YET_AVAILABLE and its own name: `arenero.rpc` does that for whatever a servicer leaves to its generated base.

Not here: `DeliveryService`, on which values leave the vault. It gets a socket of its own, so that nothing that may call
this server can reach it.
"""

from __future__ import annotations

from arenero.api.vault.v1.attachment_service_pb2_grpc import AttachmentServiceServicer
from arenero.api.vault.v1.vault_service_pb2_grpc import VaultServiceServicer


class VaultServicer(VaultServiceServicer):
    """Keeps credentials and bindings."""


class AttachmentServicer(AttachmentServiceServicer):
    """Ties vaults to the lives of sandboxes; for lifecycle alone."""
