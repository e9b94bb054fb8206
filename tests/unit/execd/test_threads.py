"""Threads where the sandbox's processes have used up all that it may have."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from arenero.execd.threads import Threads


@pytest.fixture
def exhausted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the kernel has it when the limit is reached."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_work_is_done_by_the_threads_there_are(request: pytest.FixtureRequest) -> None:
    with Threads(4, "test") as pool:
        request.getfixturevalue("exhausted")
        held = threading.Event()
        first = pool.submit(held.wait, 30)
        others = [pool.submit(pow, 2, number) for number in range(10)]
        assert not any(other.done() for other in others)
        held.set()
        assert first.result(30)
        assert [other.result(30) for other in others] == [2**number for number in range(10)]


def test_more_threads_are_started_where_there_may_be_more() -> None:
    with Threads(3, "test") as pool:
        together = threading.Barrier(3)
        assert sorted(work.result(30) for work in [pool.submit(together.wait, 30) for _ in range(3)]) == [0, 1, 2]


@pytest.mark.usefixtures("exhausted")
def test_pool_without_any_thread_says_so() -> None:
    with pytest.raises(RuntimeError, match="can't start"):
        Threads(1, "test")


def test_pools_own_hook_is_still_what_is_overridden() -> None:
    assert hasattr(ThreadPoolExecutor, "_adjust_thread_count")
