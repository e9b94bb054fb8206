from collections.abc import AsyncIterator

import pytest

from arenero.bus.memory import MemoryEventLog
from tests.unit.gateway.keys.kit import Keys, keys_over


@pytest.fixture
async def keys() -> AsyncIterator[Keys]:
    async with keys_over(MemoryEventLog("key.>")) as keys:
        yield keys
