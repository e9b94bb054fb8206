"""Input: none by default, at offsets otherwise, and a process that closed its end is no error."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Iterable

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2
from arenero.api.execd.v1.exec_service_pb2 import WriteStdinRequest, WriteStdinResponse
from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd

STREAM = exec_pb2.STDIN_MODE_STREAM


async def write(client: Client, exec_id: str, *pieces: tuple[int, bytes, bool]) -> list[WriteStdinResponse]:
    """Send pieces (offset, bytes, end) and return their acknowledgements."""

    async def requests() -> AsyncIterator[WriteStdinRequest]:
        for offset, data, end in pieces:
            yield WriteStdinRequest(exec_id=exec_id, offset=offset, data=data, end_of_file=end)

    return [answer async for answer in client.execs.WriteStdin(requests(), metadata=client.metadata)]


@pytest.mark.parametrize("shell", ["cat", "read x; echo $?", "python3"])
async def test_program_that_reads_sees_the_end_at_once(client: Client, shell: str) -> None:
    """Case 23."""
    began = time.monotonic()
    seen = await client.run(shell)
    assert time.monotonic() - began < kit.BUSY_S
    assert seen.end.exit_code == 0


HEREDOCS = b"""cat > one <<-END
\tindented
\tEND
cat > two <<'EOF'
__ARENERO_DONE__ $? EXIT_CODE=0
END
\xff\xfe
EOF
echo next works
"""


async def test_session_shell_keeps_heredocs_exact(guest: Execd, client: Client) -> None:
    """Case 24: nothing of execd is mixed into a session's input, so no marker can collide."""
    started = await client.start(argv=["bash"], stdin=STREAM)
    await write(client, started.exec_id, (0, HEREDOCS, False), (len(HEREDOCS), b"cat one two\n", True))
    seen = await client.attached(started.exec_id)
    assert seen.out == b"next works\nindented\n__ARENERO_DONE__ $? EXIT_CODE=0\nEND\n\xff\xfe\n"
    assert seen.end.exit_code == 0


async def test_input_is_resumed_at_the_acknowledged_offset(client: Client) -> None:
    started = await client.start("cat", stdin=STREAM)
    [first] = await write(client, started.exec_id, (0, b"0123456789", False))
    assert first.acknowledged_offset == 10
    # As after a broken connection: ask where to go on, then send again from too early on.
    asked, again, last = await write(client, started.exec_id, (0, b"", False), (5, b"56789abc", False), (13, b"", True))
    assert (asked.acknowledged_offset, again.acknowledged_offset) == (10, 13)
    assert last.closed
    assert (await client.attached(started.exec_id)).out == b"0123456789abc"


async def test_input_with_a_hole_is_refused(client: Client) -> None:
    started = await client.start("cat", stdin=STREAM)
    with pytest.raises(grpc.aio.AioRpcError, match="bytes are missing from 0 on"):
        await write(client, started.exec_id, (5, b"x", False))
    await client.call("CloseStdin", exec_id=started.exec_id)
    assert (await client.wait(started.exec_id)).exit_code == 0


async def test_large_input_arrives_whole_through_a_slow_reader(client: Client) -> None:
    content = bytes(range(256)) * 40_000
    started = await client.start("sleep 0.3; sha256sum", stdin=STREAM)
    pieces: Iterable[tuple[int, bytes, bool]] = [
        (at, content[at : at + 1_000_000], at + 1_000_000 >= len(content)) for at in range(0, len(content), 1_000_000)
    ]
    answers = await write(client, started.exec_id, *pieces)
    assert answers[-1].acknowledged_offset == len(content)
    assert hashlib.sha256(content).hexdigest().encode() in (await client.attached(started.exec_id)).out


async def test_closed_input_is_reported_and_does_not_end_the_exec(client: Client) -> None:
    started = await client.start("exec <&-; sleep 1; echo still here", stdin=STREAM)
    await asyncio.sleep(0.3)
    broken, after = await write(client, started.exec_id, (0, b"x", False), (1, b"y", False))
    assert broken.broken_pipe
    assert after.broken_pipe
    assert (await client.attached(started.exec_id)).out == b"still here\n"


async def test_exec_without_input_refuses_it(client: Client) -> None:
    started = await client.start("sleep 1")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await write(client, started.exec_id, (0, b"x", False))
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
