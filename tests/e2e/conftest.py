"""Fixtures of the whole platform: one instance for all tests that leave it as it is."""

from collections.abc import AsyncIterator, Iterator

import pytest

from arenero.sdk import Client, Sandbox
from tests.e2e.kit import Instance, instance


@pytest.fixture(scope="session")
def platform() -> Iterator[Instance]:
    """A running instance, shared: tests may create in it what they like, and leave nothing broken."""
    with instance() as made:
        yield made


@pytest.fixture(autouse=True)
def _show_logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Print what the services said when a test fails."""
    failed_before = request.session.testsfailed
    yield
    if request.session.testsfailed > failed_before and "platform" in request.fixturenames:
        made: Instance = request.getfixturevalue("platform")
        print(made.logs())


@pytest.fixture(params=["direct", "gateway"])
def way(request: pytest.FixtureRequest) -> str:
    """Both ways to a sandbox's execd."""
    found: str = request.param
    return found


@pytest.fixture
async def client(platform: Instance) -> AsyncIterator[Client]:
    async with platform.client() as made:
        yield made


@pytest.fixture
async def sandbox(client: Client) -> AsyncIterator[Sandbox]:
    """A sandbox of the test's own."""
    async with Sandbox.create(client=client, ttl_s=600) as made:
        yield made


@pytest.fixture
async def sandbox_either_way(platform: Instance, way: str) -> AsyncIterator[Sandbox]:
    """A sandbox, reached directly in one run and through the gateway in the other."""
    async with platform.client(direct=way == "direct") as client, Sandbox.create(client=client, ttl_s=600) as made:
        yield made
        assert made.is_direct == (way == "direct")
