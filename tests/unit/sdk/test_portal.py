"""The event loop behind synchronous code."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from arenero.sdk._portal import Portal, Wrapper, iterator, method


@pytest.fixture
def portal() -> Iterator[Portal]:
    made = Portal()
    yield made
    made.stop()


async def count(closed: threading.Event) -> AsyncIterator[int]:
    try:
        for number in range(10):
            yield number
    finally:
        closed.set()


def test_result_and_error_come_out(portal: Portal) -> None:
    async def fail() -> None:
        raise KeyError("k")

    assert portal.run(asyncio.sleep(0, "done")) == "done"
    with pytest.raises(KeyError):
        portal.run(fail())


def test_calls_run_on_one_loop_in_one_thread(portal: Portal) -> None:
    async def where() -> tuple[int, int]:
        return id(asyncio.get_running_loop()), threading.get_ident()

    assert portal.run(where()) == portal.run(where())
    assert portal.run(where())[1] != threading.get_ident()


def test_calls_of_several_threads_run_at_once(portal: Portal) -> None:
    barrier = asyncio.Barrier(2)

    async def meet() -> None:
        async with asyncio.timeout(10):
            await barrier.wait()

    other = threading.Thread(target=lambda: portal.run(meet()))
    other.start()
    portal.run(meet())
    other.join()


def test_iterating_to_the_end(portal: Portal) -> None:
    closed = threading.Event()
    assert [*portal.iterate(count(closed))] == [*range(10)]
    assert closed.is_set()


def test_leaving_a_loop_closes_what_it_iterates_over(portal: Portal) -> None:
    closed = threading.Event()
    items = portal.iterate(count(closed))
    assert next(items) == 0
    items.close()  # type: ignore[attr-defined]
    assert closed.is_set()


def test_forgotten_iterator_is_closed(portal: Portal) -> None:
    closed = threading.Event()
    next(portal.iterate(count(closed)))
    gc.collect()
    assert closed.wait(10)


def test_iterator_that_is_collected_on_the_loop_does_not_stop_it(portal: Portal) -> None:
    closed = threading.Event()
    items = portal.iterate(count(closed))
    next(items)

    async def collect() -> None:
        items.close()  # type: ignore[attr-defined]

    portal.run(collect())
    assert closed.wait(10)


def test_call_on_its_own_loop_is_refused(portal: Portal) -> None:
    async def nested() -> None:
        portal.run(asyncio.sleep(0))

    with pytest.raises(RuntimeError, match="own event loop"):
        portal.run(nested())


def test_stop_waits_for_what_was_cancelled_and_cancels_the_rest() -> None:
    portal, done, begun = Portal(), [], threading.Event()

    async def undo() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            done.append("undone")
            raise

    async def begin() -> list[asyncio.Task[None]]:
        return [asyncio.get_running_loop().create_task(undo()) for _ in range(2)]

    async def cancel(task: asyncio.Task[None]) -> None:
        task.cancel()
        await asyncio.sleep(0)

    tasks = portal.run(begin())
    assert begun.wait(10)
    portal.run(cancel(tasks[0]))
    portal.stop()
    assert done == ["undone", "undone"]
    assert all(task.cancelled() for task in tasks)


def test_portal_starts_again_after_it_was_stopped(portal: Portal) -> None:
    portal.run(asyncio.sleep(0))
    portal.stop()
    portal.stop()
    assert portal.run(asyncio.sleep(0, 1)) == 1


def test_wrapped_methods_keep_their_names_and_documentation() -> None:
    class Inner:
        async def get(self, number: int) -> int:
            """Return it."""
            return number

        async def numbers(self, stop: int) -> AsyncIterator[int]:
            """Stream them."""
            for number in range(stop):
                yield number

    class Face(Wrapper[Inner]):
        get = method(Inner.get)
        numbers = iterator(Inner.numbers)

    face = Face(Inner())
    assert face.get(3) == 3
    assert [*face.numbers(3)] == [0, 1, 2]
    assert (Face.get.__name__, Face.get.__doc__) == ("get", "Return it.")
    assert (Face.numbers.__name__, Face.numbers.__doc__) == ("numbers", "Stream them.")


def test_ctrl_c_cancels_the_call_and_lets_it_clean_up() -> None:
    """In a process of its own, as a person would do it."""
    program = textwrap.dedent("""
        import asyncio
        from arenero.sdk._portal import PORTAL

        async def work():
            try:
                print("working", flush=True)
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(0.2)
                print("cleaned up", flush=True)
                raise

        try:
            PORTAL.run(work())
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        os.kill(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    assert output == "interrupted\ncleaned up\n"
    assert process.returncode == 0
