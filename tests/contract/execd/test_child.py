"""Launches by fork: for what init can't undo on itself. Most cases of `launcher` run both ways."""

from __future__ import annotations

import pytest

from arenero.api.execd.v1 import exec_pb2
from tests.contract.execd.kit import Client

needs_root = pytest.mark.root


async def test_nice_value_is_set(client: Client) -> None:
    assert (await client.run("nice", nice=7)).out == b"7\n"


@needs_root
async def test_hard_limit_that_may_not_be_raised_names_its_capability(client: Client) -> None:
    """Case 27, for resource limits: this needs a host that grants no CAP_SYS_RESOURCE, as sandboxes do."""
    seen = await client.run("ulimit -Hn", rlimits=[exec_pb2.Rlimit(name="NOFILE", value=100)])
    assert seen.out == b"100\n"
    failing = await client.run("true", rlimits=[exec_pb2.Rlimit(name="NOFILE", value=1 << 40)])
    assert failing.end.start_failure.stage == "rlimit"
    assert "CAP_SYS_RESOURCE" in failing.end.start_failure.message
