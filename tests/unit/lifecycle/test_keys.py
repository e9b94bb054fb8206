"""What names a sandbox: two tenants may not meet by it."""

from dataclasses import replace

from hypothesis import given

from arenero.lifecycle.keys import key_of
from arenero.model.ids import TenantId
from arenero.model.record import SandboxRecord
from tests.unit.lifecycle import samples


@given(samples.records())
def test_key_has_tenant_and_id(record: SandboxRecord) -> None:
    assert key_of(record) == (record.tenant, record.id)
    assert key_of(replace(record, tenant=TenantId(f"{record.tenant}x"))) != key_of(record)
