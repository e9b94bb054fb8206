"""Fixtures of the SDK's tests."""

from collections.abc import AsyncIterator

import pytest

from tests.unit.sdk.wire import WirePair, wire_pair


@pytest.fixture
async def wires() -> AsyncIterator[WirePair]:
    """A gateway and an execd."""
    async with wire_pair() as pair:
        yield pair
