"""The line between init and the server: any bytes survive, large bodies too, and descriptors arrive closed to execs."""

from __future__ import annotations

import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arenero.execd import control
from arenero.execd.control import Kind, Message, Outbox


@given(st.binary())
def test_any_bytes_survive_as_text(raw: bytes) -> None:
    assert control.to_bytes(control.to_text(raw)) == raw


@given(st.sampled_from(list(Kind)), st.integers(0, 2**32 - 1), st.dictionaries(st.text(), st.binary(max_size=50)))
def test_message_arrives_as_it_was_sent(kind: Kind, key: int, body: dict[str, bytes]) -> None:
    ours, theirs = control.pair()
    with ours, theirs:
        sent = Message(kind, key, {name: control.to_text(value) for name, value in body.items()})
        control.send(ours, sent)
        assert control.receive(theirs) == sent


@pytest.fixture
def line() -> object:
    ours, theirs = control.pair()
    with ours, theirs:
        yield ours, theirs


def test_body_of_megabytes_travels_with_its_descriptors(line: tuple[socket.socket, socket.socket]) -> None:
    reader, writer = os.pipe()
    control.send(line[0], Message(Kind.SPAWN, 7, {"big": "x" * 5_000_000}, (writer,)))
    received = control.receive(line[1])
    assert received is not None
    assert received.body == {"big": "x" * 5_000_000}
    [copy] = received.fds
    assert not os.get_inheritable(copy), "an exec would get it"
    os.write(copy, b"through")
    assert os.read(reader, 10) == b"through"
    control.close_all((reader, writer, copy))


def test_end_of_the_other_side_is_none(line: tuple[socket.socket, socket.socket]) -> None:
    line[0].close()
    assert control.receive(line[1]) is None


def test_outbox_keeps_what_has_no_room_and_its_descriptors(line: tuple[socket.socket, socket.socket]) -> None:
    line[0].setblocking(False)
    line[1].setblocking(False)
    outbox = Outbox(line[0])
    reader, writer = os.pipe()
    for key in range(500):
        outbox.send(Message(Kind.EXITED, key, {"pad": "x" * 5_000}))
    outbox.send(Message(Kind.SPAWN, 500, fds=(writer,)))
    assert not outbox.empty
    received = []
    while not outbox.empty:
        received += _receive_all(line[1])
        outbox.flush()
    received += _receive_all(line[1])
    assert [message.key for message in received] == list(range(501))
    control.close_all(received[-1].fds)
    assert os.read(reader, 1) == b"", "the sender's copy is closed as well"
    os.close(reader)


def test_outbox_drops_all_when_the_other_side_is_gone(line: tuple[socket.socket, socket.socket]) -> None:
    line[1].close()
    outbox = Outbox(line[0])
    reader, writer = os.pipe()
    outbox.send(Message(Kind.SPAWN, 1, fds=(writer,)))
    assert outbox.empty
    assert os.read(reader, 1) == b"", "its descriptor is closed"
    os.close(reader)


def _receive_all(sock: socket.socket) -> list[Message]:
    found: list[Message] = []
    while True:
        try:
            message = control.receive(sock)
        except BlockingIOError:
            return found
        assert message is not None
        found.append(message)
