"""What names a sandbox within the platform: its tenant and its id."""

from __future__ import annotations

from typing import NamedTuple

from arenero.model.ids import SandboxId, TenantId
from arenero.model.record import SandboxRecord


class SandboxKey(NamedTuple):
    """Tenant and id of one sandbox."""

    tenant: TenantId
    id: SandboxId


def key_of(record: SandboxRecord) -> SandboxKey:
    """Return the key of a record."""
    return SandboxKey(record.tenant, record.id)
