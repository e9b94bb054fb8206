"""The private line between init and the server: datagrams over one socket pair, with descriptors riding along.

A *message* has a kind, a key (the number that the server gave to an exec or to a question) and a small JSON body. Bytes
of the outside world (arguments, paths) travel in JSON text by `surrogateescape`, so any byte survives. A body that is
too large for a datagram travels in a memfd. Both ends are ours; nothing of a sandbox's programs ever holds one.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, unique
from typing import Any, Final

MAX_FDS: Final = 8
_INLINE_BYTES: Final = 60_000
DATAGRAM_BYTES: Final = 65_536
_FD: Final = struct.Struct("i")
_ANCILLARY_BYTES: Final = socket.CMSG_SPACE(MAX_FDS * _FD.size)
_HEADER: Final = struct.Struct("<BBI")
_BODY_IN_MEMFD: Final = 1
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


@unique
class Kind(IntEnum):
    """What a message means. The first block goes from the server to init, the second one back."""

    SPAWN = 1
    """Run a process: a `launch.Launch`, with its descriptors. Keyed by exec, as are RELEASE and the answers to it."""
    LIMIT = 2
    """Limits for the cgroup of the exec whose SPAWN comes next."""
    RELEASE = 3
    """Nothing will be asked about this exec any more."""
    SIGNAL = 4
    """Signal processes of an exec. Keyed by question, as are all below and their answers."""
    KILL = 5
    """Kill every process of an exec and say when they are gone."""
    LEASE = 6
    """Set the time to live."""
    RENAME = 7
    """Set the host name."""
    STOP = 8
    """End the sandbox."""

    STARTED = 32
    START_FAILED = 33
    EXITED = 34
    """The exec's first process has ended."""
    SIGNALLED = 36
    KILLED = 37
    LEASE_SET = 38
    RENAMED = 39
    STOPPING = 40
    """Unasked, without a key: every process is about to be ended, for the reason in the body."""
    PLAN = 41
    """The `InitPlan`, whole: the first message of all, unasked and without a key."""


@dataclass(frozen=True, slots=True)
class Message:
    """One datagram. Whoever receives it owns its descriptors."""

    kind: Kind
    key: int
    body: Mapping[str, Any] = field(default_factory=dict)
    fds: tuple[int, ...] = ()


def to_text(raw: bytes) -> str:
    """Return bytes as text that JSON can carry; `to_bytes` undoes it."""
    return raw.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """Undo `to_text`."""
    return text.encode("utf-8", "surrogateescape")


def pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected ends. SEQPACKET: datagrams, in order, and an end of file when the other side is gone."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(sock: socket.socket, message: Message) -> None:
    """Send a message whole; its descriptors stay open here too.

    Raises:
        BlockingIOError: The socket doesn't block and the other side doesn't read.
        OSError: The other side is gone.
    """
    body = _encode(message.body).encode() if message.body else b""
    if len(body) <= _INLINE_BYTES:
        _send(sock, _HEADER.pack(message.kind, 0, message.key) + body, message.fds)
        return
    memfd = write_memfd("arenero-message", body)
    try:
        _send(sock, _HEADER.pack(message.kind, _BODY_IN_MEMFD, message.key), (*message.fds, memfd))
    finally:
        os.close(memfd)


def receive(sock: socket.socket) -> Message | None:
    """Return the next message, or None when the other side is gone.

    Raises:
        BlockingIOError: The socket doesn't block and there is none.
    """
    # Not socket.recv_fds, which drops its flags: descriptors without CLOEXEC would leak into the exec.
    raw, ancillary, _, _ = sock.recvmsg(DATAGRAM_BYTES, _ANCILLARY_BYTES, socket.MSG_CMSG_CLOEXEC)
    return unpack(raw, _descriptors(ancillary) if ancillary else ()) if raw else None


def unpack(raw: bytes, fds: tuple[int, ...] = ()) -> Message:
    """Read a datagram."""
    kind, flags, key = _HEADER.unpack_from(raw)
    if flags & _BODY_IN_MEMFD:
        *kept, memfd = fds
        return Message(Kind(kind), key, _decode(_read_memfd(memfd)), tuple(kept))
    body = _decode(raw[_HEADER.size :].decode()) if len(raw) > _HEADER.size else {}
    return Message(Kind(kind), key, body, fds)


def close_all(fds: Sequence[int]) -> None:
    """Close descriptors that came with a message."""
    for fd in fds:
        os.close(fd)


def write_memfd(name: str, content: bytes) -> int:
    """Return a descriptor of an anonymous file with this content."""
    memfd = os.memfd_create(name, os.MFD_CLOEXEC)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(memfd, view) :]
    except OSError:
        os.close(memfd)
        raise
    return memfd


def _descriptors(ancillary: Iterable[tuple[int, int, bytes]]) -> tuple[int, ...]:
    found: list[int] = []
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            whole = len(content) - len(content) % _FD.size
            found.extend(fd for (fd,) in _FD.iter_unpack(content[:whole]))
    return tuple(found)


def _read_memfd(memfd: int) -> str:
    with os.fdopen(memfd, "rb") as stream:
        stream.seek(0)
        return stream.read().decode()


def _send(sock: socket.socket, raw: bytes, fds: Sequence[int]) -> None:
    if fds:
        socket.send_fds(sock, [raw], fds)
    else:
        sock.send(raw)


class Outbox:
    """Sends without ever waiting: what the other side has no room for is kept, in order, until `flush`.

    It owns the descriptors of every message given to it and closes them once they are sent.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._waiting: deque[Message] = deque()

    @property
    def empty(self) -> bool:
        """Everything was sent."""
        return not self._waiting

    def send(self, message: Message) -> None:
        """Send a message, now or later."""
        self._waiting.append(message)
        self.flush()

    def flush(self) -> None:
        """Send what waits, as far as there is room. When the other side is gone, it is dropped."""
        while self._waiting:
            try:
                send(self._sock, self._waiting[0])
            except BlockingIOError:
                return
            except OSError:
                # The other side is gone, and whoever reads from the socket learns it there.
                pass
            close_all(self._waiting.popleft().fds)
