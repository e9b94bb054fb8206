"""What every `EventLog` must do. Subclass it and give it a `log` fixture: an empty stream that takes `sandbox.>`.

The in-memory log and the real one pass the same suite, which is what allows tests to use the one for the other.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from datetime import timedelta

import pytest

from arenero.bus.log import MAX_MESSAGE_BYTES, Appended, Entry, EventLog, Following
from arenero.bus.projection import Projection
from arenero.errors import Conflict, InvalidArgument

_KEY = "sandbox.acme.one.>"
_WAIT_S = 5.0


class Writer:
    """Appends to a log with ids of its own; a short form for tests."""

    _ids: Iterator[int] = itertools.count(1)

    def __init__(self, log: EventLog) -> None:
        self.log = log

    async def write(self, subject: str, expected: int, data: bytes = b"x", message_id: str = "") -> Appended:
        """Append under the key of the subject."""
        key = subject.rpartition(".")[0] + ".>"
        chosen = message_id or f"m{next(self._ids)}"
        return await self.log.append(subject, data, key_filter=key, expected_revision=expected, message_id=chosen)


async def take(following: Following, count: int) -> list[Entry]:
    """Return the next entries, or fail after some seconds."""
    async with asyncio.timeout(_WAIT_S):
        return [await anext(following) for _ in range(count)]


class EventLogSuite:
    """The contract of `arenero.bus.log`."""

    @pytest.fixture
    def write(self, log: EventLog) -> Writer:
        """A writer to the log under test."""
        return Writer(log)

    async def test_append_is_the_last_of_its_key(self, log: EventLog, write: Writer) -> None:
        first = await write.write("sandbox.acme.one.requested", 0, b"\x00\xff")
        assert first.duplicate is False
        entry = await log.last(_KEY)
        assert entry is not None
        assert (entry.subject, entry.sequence, entry.data) == (
            "sandbox.acme.one.requested",
            first.sequence,
            b"\x00\xff",
        )
        assert entry.time.tzinfo is not None

    async def test_last_is_none_when_nothing_matches(self, log: EventLog, write: Writer) -> None:
        await write.write("sandbox.acme.one.requested", 0)
        assert await log.last("sandbox.acme.two.>") is None
        assert await log.last("sandbox.other.one.>") is None

    async def test_append_is_refused_when_the_key_moved_on(self, log: EventLog, write: Writer) -> None:
        first = await write.write("sandbox.acme.one.requested", 0)
        second = await write.write("sandbox.acme.one.started", first.sequence)
        for stale in (0, first.sequence, second.sequence + 1):
            with pytest.raises(Conflict) as caught:
                await write.write("sandbox.acme.one.paused", stale)
            assert caught.value.metadata["revision"] == str(second.sequence)
        assert await log.head() == second.sequence

    async def test_keys_do_not_guard_each_other(self, write: Writer) -> None:
        one = await write.write("sandbox.acme.one.requested", 0)
        await write.write("sandbox.acme.two.requested", 0)
        await write.write("sandbox.other.one.requested", 0)
        await write.write("sandbox.acme.one.started", one.sequence)

    async def test_one_of_many_writers_wins_each_revision(self, log: EventLog, write: Writer) -> None:
        revision = 0
        for round_number in range(5):
            results = await asyncio.gather(
                *(write.write(f"sandbox.acme.one.f{n}", revision, message_id=f"r{round_number}-{n}") for n in range(8)),
                return_exceptions=True,
            )
            won = [result for result in results if isinstance(result, Appended)]
            assert len(won) == 1
            assert sum(isinstance(result, Conflict) for result in results) == 7
            revision = won[0].sequence
        assert len(await log.history(_KEY)) == 5

    async def test_repeated_message_id_stores_nothing(self, log: EventLog, write: Writer) -> None:
        first = await write.write("sandbox.acme.one.requested", 0, message_id="same")
        again = await write.write("sandbox.acme.one.requested", 0, message_id="same")
        assert again == Appended(first.sequence, duplicate=True)
        assert len(await log.history("sandbox.>")) == 1

    async def test_repeat_counts_as_done_when_others_wrote_since(self, write: Writer) -> None:
        first = await write.write("sandbox.acme.one.requested", 0, message_id="mine")
        await write.write("sandbox.acme.one.started", first.sequence)
        again = await write.write("sandbox.acme.one.requested", 0, message_id="mine")
        assert again == Appended(first.sequence, duplicate=True)

    async def test_refused_append_does_not_use_up_its_message_id(self, write: Writer) -> None:
        first = await write.write("sandbox.acme.one.requested", 0)
        with pytest.raises(Conflict):
            await write.write("sandbox.acme.one.started", 0, message_id="retry")
        again = await write.write("sandbox.acme.one.started", first.sequence, message_id="retry")
        assert again.duplicate is False

    async def test_publish_needs_no_revision_and_knows_repeats(self, log: EventLog) -> None:
        first = await log.publish("sandbox.acme.one.noted", b"1", message_id="p1")
        second = await log.publish("sandbox.acme.one.noted", b"2", message_id="p2")
        again = await log.publish("sandbox.acme.one.noted", b"1", message_id="p1")
        assert second.sequence > first.sequence
        assert again == Appended(first.sequence, duplicate=True)

    async def test_headers_come_back_without_the_guards(self, log: EventLog) -> None:
        headers = {"traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01", "Content-Type": "application/protobuf"}
        await log.append(
            "sandbox.acme.one.requested",
            b"",
            key_filter=_KEY,
            expected_revision=0,
            message_id="h1",
            headers=headers,
        )
        entry = await log.last(_KEY)
        assert entry is not None
        assert entry.message_id == "h1"
        assert dict(entry.headers) == {**headers, "Nats-Msg-Id": "h1"}
        assert await log.history(_KEY) == [entry]
        async with await log.follow(_KEY, from_sequence=1) as entries:
            assert await take(entries, 1) == [entry]

    @pytest.mark.parametrize(
        ("subject", "key"),
        [
            ("sandbox.acme.*.requested", "sandbox.acme.>"),
            ("sandbox.acme.one.>", "sandbox.acme.one.>"),
            ("sandbox.acme..requested", "sandbox.acme.>"),
            ("sandbox.acme.o ne.requested", "sandbox.acme.>"),
            ("pool.acme.one.requested", "pool.acme.one.>"),
            ("sandbox.acme.one.requested", "sandbox.acme.two.>"),
            ("sandbox.acme.one.requested", "sandbox.>.one"),
        ],
    )
    async def test_malformed_and_foreign_subjects_are_refused(self, log: EventLog, subject: str, key: str) -> None:
        with pytest.raises(InvalidArgument):
            await log.append(subject, b"", key_filter=key, expected_revision=0, message_id="bad")
        assert await log.head() == 0

    async def test_largest_message_is_stored_and_one_byte_more_refused(self, log: EventLog, write: Writer) -> None:
        content = bytes(range(256)) * (MAX_MESSAGE_BYTES // 256)
        await write.write("sandbox.acme.one.requested", 0, content)
        entry = await log.last(_KEY)
        assert entry is not None
        assert entry.data == content
        with pytest.raises(InvalidArgument):
            await write.write("sandbox.acme.two.requested", 0, content + b"!")

    async def test_history_pages_without_gap_or_repeat(self, log: EventLog, write: Writer) -> None:
        expected = [(await write.write(f"sandbox.acme.s{n}.requested", 0, b"%d" % n)).sequence for n in range(25)]
        await write.write("sandbox.other.one.requested", 0)
        seen: list[int] = []
        while page := await log.history("sandbox.acme.>", from_sequence=seen[-1] + 1 if seen else None, limit=10):
            seen += [entry.sequence for entry in page]
            if len(page) < 10:
                break
        assert seen == expected

    async def test_history_from_a_time_includes_that_instant(self, log: EventLog, write: Writer) -> None:
        for number in range(3):
            await write.write(f"sandbox.acme.s{number}.requested", 0)
            await asyncio.sleep(0.002)
        entries = await log.history("sandbox.>")
        assert await log.history("sandbox.>", from_time=entries[1].time) == entries[1:]
        assert await log.history("sandbox.>", from_time=entries[0].time - timedelta(days=1)) == entries
        assert await log.history("sandbox.>", from_time=entries[-1].time + timedelta(seconds=1)) == []

    @pytest.mark.parametrize(
        ("subject_filter", "expected"),
        [
            ("sandbox.acme.*.started", ["sandbox.acme.one.started"]),
            ("sandbox.*.one.requested", ["sandbox.acme.one.requested", "sandbox.other.one.requested"]),
            ("sandbox.acme.one.*", ["sandbox.acme.one.requested", "sandbox.acme.one.started"]),
            ("sandbox.acme", []),
        ],
    )
    async def test_filters_match_as_nats_matches(
        self, log: EventLog, write: Writer, subject_filter: str, expected: list[str]
    ) -> None:
        first = await write.write("sandbox.acme.one.requested", 0)
        await write.write("sandbox.acme.one.started", first.sequence)
        await write.write("sandbox.other.one.requested", 0)
        assert [entry.subject for entry in await log.history(subject_filter)] == expected

    async def test_follow_without_a_start_begins_with_the_next(self, log: EventLog, write: Writer) -> None:
        first = await write.write("sandbox.acme.one.requested", 0)
        async with await log.follow("sandbox.acme.>") as entries:
            second = await write.write("sandbox.acme.one.started", first.sequence)
            assert [entry.sequence for entry in await take(entries, 1)] == [second.sequence]

    async def test_follow_goes_from_past_to_present_in_order(self, log: EventLog, write: Writer) -> None:
        stored = [(await write.write(f"sandbox.acme.s{n}.requested", 0)).sequence for n in range(400)]
        async with await log.follow("sandbox.acme.>", from_sequence=stored[10]) as entries:
            assert [entry.sequence for entry in await take(entries, 390)] == stored[10:]
            later = [(await write.write(f"sandbox.acme.t{n}.requested", 0)).sequence for n in range(300)]
            assert [entry.sequence for entry in await take(entries, 300)] == later

    async def test_follow_from_a_time(self, log: EventLog, write: Writer) -> None:
        for number in range(3):
            await write.write(f"sandbox.acme.s{number}.requested", 0)
            await asyncio.sleep(0.002)
        stored = await log.history("sandbox.>")
        async with await log.follow("sandbox.>", from_time=stored[1].time) as entries:
            assert await take(entries, 2) == stored[1:]

    async def test_two_followers_each_get_everything(self, log: EventLog, write: Writer) -> None:
        async with await log.follow("sandbox.>") as one, await log.follow("sandbox.>") as two:
            stored = [(await write.write(f"sandbox.acme.s{n}.requested", 0)).sequence for n in range(20)]
            assert [entry.sequence for entry in await take(one, 20)] == stored
            assert [entry.sequence for entry in await take(two, 20)] == stored

    async def test_cancelled_wait_loses_nothing(self, log: EventLog, write: Writer) -> None:
        async with await log.follow("sandbox.>") as entries:
            for number in range(10):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.005):
                        await anext(entries)
                receipt = await write.write(f"sandbox.acme.s{number}.requested", 0)
                assert [entry.sequence for entry in await take(entries, 1)] == [receipt.sequence]

    async def test_close_ends_a_waiting_follower(self, log: EventLog) -> None:
        entries = await log.follow("sandbox.>")

        async def read_to_the_end() -> list[Entry]:
            return [entry async for entry in entries]

        async with asyncio.timeout(_WAIT_S), asyncio.TaskGroup() as group:
            reader = group.create_task(read_to_the_end())
            await asyncio.sleep(0.01)
            await entries.close()
        assert reader.result() == []
        await entries.close()

    async def test_latest_has_the_last_of_every_subject(self, log: EventLog, write: Writer) -> None:
        first = await write.write("sandbox.acme.one.requested", 0, b"old")
        second = await write.write("sandbox.acme.one.started", first.sequence)
        third = await write.write("sandbox.acme.one.requested", second.sequence, b"new")
        fourth = await write.write("sandbox.other.one.requested", 0)
        found = [entry async for entry in log.latest("sandbox.>")]
        assert [entry.sequence for entry in found] == [second.sequence, third.sequence, fourth.sequence]
        assert found[1].data == b"new"
        assert [entry.sequence async for entry in log.latest("sandbox.other.>")] == [fourth.sequence]
        assert [entry async for entry in log.latest("sandbox.nobody.>")] == []

    async def test_latest_streams_many_subjects(self, log: EventLog, write: Writer) -> None:
        stored = [(await write.write(f"sandbox.acme.s{n}.requested", 0)).sequence for n in range(600)]
        assert [entry.sequence async for entry in log.latest("sandbox.>")] == stored

    async def test_purge_forgets_one_key_and_no_other(self, log: EventLog, write: Writer) -> None:
        first = await write.write("sandbox.acme.one.requested", 0)
        await write.write("sandbox.acme.one.started", first.sequence)
        kept = await write.write("sandbox.acme.two.requested", 0)
        assert await log.purge(_KEY) == 2
        assert await log.last(_KEY) is None
        assert [entry.sequence for entry in await log.history("sandbox.>")] == [kept.sequence]
        assert await log.head() == kept.sequence
        reborn = await write.write("sandbox.acme.one.requested", 0)
        assert reborn.sequence == kept.sequence + 1

    async def test_projection_holds_what_was_and_what_comes(self, log: EventLog, write: Writer) -> None:
        state: dict[str, bytes] = {}

        def apply(entry: Entry) -> None:
            state[entry.subject.split(".")[2]] = entry.data

        first = await write.write("sandbox.acme.one.requested", 0, b"1")
        second = await write.write("sandbox.acme.one.started", first.sequence, b"2")
        await write.write("sandbox.acme.two.requested", 0, b"3")
        projection = Projection(log, "sandbox.acme.>", apply)
        assert not projection.is_ready
        async with asyncio.timeout(_WAIT_S), asyncio.TaskGroup() as group:
            running = group.create_task(projection.run())
            await projection.wait_ready()
            assert state == {"one": b"2", "two": b"3"}
            third = await write.write("sandbox.acme.one.paused", second.sequence, b"4")
            await projection.wait_for(third.sequence)
            assert state["one"] == b"4"
            assert projection.revision_seen == third.sequence
            running.cancel()
