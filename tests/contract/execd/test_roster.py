"""Whatever ends is collected, and told once with what the kernel knows of it."""

from __future__ import annotations

from arenero.api.execd.v1 import exec_pb2
from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd

LEAVE = exec_pb2.ON_EXIT_LEAVE
OWN_EXIT = exec_pb2.END_CAUSE_OWN_EXIT


async def test_double_forked_daemons_leave_no_zombie(guest: Execd, client: Client) -> None:
    """Case 9."""
    line = "for i in $(seq 50); do (setsid sh -c 'sleep 0.5 & exec true' &); done; sleep 2"
    await client.run(line, on_exit=LEAVE)
    states = [kit.state(pid) for pid in kit.descendants(guest.init_pid)]
    assert "Z" not in states


async def test_exit_code_and_usage_are_told(client: Client) -> None:
    seen = await client.run("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 42")
    assert (seen.end.exit_code, seen.end.cause) == (42, OWN_EXIT)
    assert seen.end.usage.user_time.ToNanoseconds() > 1_000_000
    assert seen.end.ended_at.ToNanoseconds() > seen.end.started_at.ToNanoseconds()


async def test_core_dump_is_told(client: Client) -> None:
    core = exec_pb2.Rlimit(name="CORE", value=1 << 20)
    seen = await client.run(argv=["sh", "-c", "kill -QUIT $$"], rlimits=[core])
    assert seen.end.signal == 3
    assert isinstance(seen.end.core_dumped, bool)
