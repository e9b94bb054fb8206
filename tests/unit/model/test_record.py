"""A record is a value that knows whether the runtime may hold something of it."""

import pytest

from arenero.model.ids import SandboxId, TenantId
from arenero.model.record import SandboxRecord
from arenero.model.spec import SandboxSpec
from arenero.model.states import SandboxState
from arenero.model.time import EPOCH


@pytest.mark.parametrize("state", list(SandboxState))
def test_record_is_live_as_its_state_is(state: SandboxState) -> None:
    record = SandboxRecord(SandboxId("sbx_1"), TenantId("acme"), SandboxSpec(), state, EPOCH, EPOCH)
    assert record.is_live is state.is_live
