"""Signals as something to read, with their sender."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator

import pytest

from arenero.execd import signalfd


@pytest.fixture
def signals() -> Iterator[int]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    fd = signalfd.open_for((signal.SIGUSR1, signal.SIGUSR2))
    yield fd
    list(signalfd.read(fd))
    os.close(fd)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_signal_is_read_with_its_sender(signals: int) -> None:
    assert list(signalfd.read(signals)) == []
    os.kill(os.getpid(), signal.SIGUSR1)
    assert select.select([signals], [], [], 1)[0] == [signals]
    assert list(signalfd.read(signals)) == [(signal.SIGUSR1, os.getpid())]


def test_sender_is_told_for_each_signal(signals: int) -> None:
    child = os.fork()
    if child == 0:
        os.kill(os.getppid(), signal.SIGUSR2)
        os._exit(0)  # noqa: TID251 - a forked child
    os.waitpid(child, 0)
    os.kill(os.getpid(), signal.SIGUSR1)
    assert set(signalfd.read(signals)) == {(signal.SIGUSR1, os.getpid()), (signal.SIGUSR2, child)}


def test_descriptor_is_not_inherited(signals: int) -> None:
    assert not os.get_inheritable(signals)
    assert not os.get_blocking(signals)
