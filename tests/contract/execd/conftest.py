"""One execd for most tests of a module; a test that ends it or needs another plan starts its own by `kit.execd`."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd


@pytest.fixture(scope="module")
def guest() -> Iterator[Execd]:
    with kit.execd() as started:
        yield started


@pytest.fixture
async def client(guest: Execd) -> AsyncIterator[Client]:
    async with kit.connected(guest) as connected:
        yield connected
