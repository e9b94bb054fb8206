"""The driver's end of the line to the zygote; the other end is spoken by the test."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from arenero.errors import FailedPrecondition, ResourceExhausted, Unavailable
from arenero.isolation import frames
from arenero.isolation.plan import SandboxPlan
from arenero.runtime.local.zygote import Built, Zygote, _Line, errno_name


class Other:
    """The zygote's end."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._decoder = frames.Decoder()

    def say(self, **message: Any) -> None:
        self.sock.sendall(frames.encode(message))

    async def hear(self) -> dict[str, Any]:
        received = await asyncio.get_running_loop().sock_recv(self.sock, 65_536)
        (message,) = self._decoder.feed(received)
        return message


@pytest.fixture
async def exits() -> list[tuple[int, int]]:
    return []


@pytest.fixture
async def pair(exits: list[tuple[int, int]]) -> AsyncIterator[tuple[Zygote, Other]]:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    zygote = Zygote(lambda pid, status: exits.append((pid, status)), "/dev/null")
    line = _Line(lambda pid, status: exits.append((pid, status)))
    transport, _ = await asyncio.get_running_loop().create_connection(lambda: line, sock=ours)
    zygote._line = line
    other = Other(theirs)
    other.say(event="loaded", pid=1)
    await line.loaded
    yield zygote, other
    transport.close()
    theirs.close()
    await asyncio.sleep(0)


def order(zygote: Zygote) -> asyncio.Future[Built]:
    return zygote.order(SandboxPlan("c1"), "/record")


async def test_an_order_is_answered(pair: tuple[Zygote, Other]) -> None:
    zygote, other = pair
    answer = order(zygote)
    asked = await other.hear()
    assert (asked["do"], asked["plan"]["name"], asked["record"]) == ("build", "c1", "/record")
    other.say(event="built", id=asked["id"], pid=42, spans=[["cgroup", 1, 2]])
    built = await answer
    assert (built.pid, built.spans, built.order_id) == (42, (("cgroup", 1, 2),), asked["id"])


async def test_orders_are_told_apart(pair: tuple[Zygote, Other]) -> None:
    zygote, other = pair
    first = order(zygote)
    first_id = (await other.hear())["id"]
    second = order(zygote)
    second_id = (await other.hear())["id"]
    other.say(event="built", id=second_id, pid=2, spans=[])
    other.say(event="built", id=first_id, pid=1, spans=[])
    assert [(await first).pid, (await second).pid] == [1, 2]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (2, FailedPrecondition),
        (0, FailedPrecondition),
        (12, ResourceExhausted),
        (28, ResourceExhausted),
        (11, ResourceExhausted),
    ],
)
async def test_a_failed_step_is_an_error_with_its_name(
    pair: tuple[Zygote, Other], code: int, error: type[Exception]
) -> None:
    zygote, other = pair
    answer = order(zygote)
    asked = await other.hear()
    other.say(event="failed", id=asked["id"], step="layers", errno=code, message="no luck")
    with pytest.raises(error, match="the step layers failed: no luck") as failed:
        await answer
    assert getattr(failed.value, "metadata")["step"] == "layers"  # noqa: B009


async def test_entering_waits_until_the_server_serves(pair: tuple[Zygote, Other]) -> None:
    zygote, other = pair
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        entering = group.create_task(zygote.enter(Built("c1.1", 0, 42, ()), {"hostname": "box"}, rename=True))
        asked = await other.hear()
        assert (asked["do"], asked["id"], asked["rename"], asked["plan"]) == (
            "enter",
            "c1.1",
            True,
            {"hostname": "box"},
        )
        other.say(event="ready", id="c1.1", spans=[["execd.serve", 1, 2]])
    assert entering.result() == (("execd.serve", 1, 2),)


async def test_ends_are_passed_on(pair: tuple[Zygote, Other], exits: list[tuple[int, int]]) -> None:
    _, other = pair
    other.say(event="exited", pid=42, status=9)
    async with asyncio.timeout(5):
        while not exits:
            await asyncio.sleep(0)
    assert exits == [(42, 9)]


async def test_losing_it_fails_what_waits_and_what_comes(pair: tuple[Zygote, Other]) -> None:
    zygote, other = pair
    answer = order(zygote)
    await other.hear()
    other.sock.close()
    with pytest.raises(Unavailable):
        await answer
    with pytest.raises(Unavailable):
        await order(zygote)


async def test_an_answer_that_nobody_waits_for_is_dropped(pair: tuple[Zygote, Other]) -> None:
    zygote, other = pair
    order(zygote).cancel()
    asked = await other.hear()
    other.say(event="built", id=asked["id"], pid=1, spans=[])
    other.say(event="ready", id="nobody")
    answer = order(zygote)
    asked = await other.hear()
    other.say(event="built", id=asked["id"], pid=2, spans=[])
    assert (await answer).pid == 2


async def test_a_frame_that_cannot_be_meant_ends_the_line(pair: tuple[Zygote, Other]) -> None:
    zygote, other = pair
    answer = order(zygote)
    await other.hear()
    other.sock.sendall(b"\xff\xff\xff\xff")
    with pytest.raises(Unavailable):
        await answer


@pytest.mark.parametrize(("code", "name"), [(0, ""), (2, "ENOENT"), (9999, "9999")])
def test_errno_names(code: int, name: str) -> None:
    assert errno_name(code) == name
