"""Reads an exec's output from a descriptor into its record, as fast as it comes and as the record allows.

The exec is held back in two cases only. `BLOCK` holds it while as much as may be kept was not read. `KEEP` holds it
when a reader that keeps pace is about to lose bytes: a reader faster than `PACE_BYTES_PER_S` gets all of an output
that is larger than what is kept, and a slower one holds nobody back for longer than `PATIENCE_S`.

An exec that writes faster than its readers read would soon be far ahead of them, and each byte would be written to disk
and read from there. So it is also held for moments, of `NEAR_PATIENCE_S` at most, while a reader has `NEAR_BYTES` to
read: one that keeps up reads from memory. Whoever doesn't come near meanwhile isn't waited for again until it does.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable
from typing import Any, Final

from arenero.execd.output import CHUNK_BYTES, OutputRecord, Reader, Retention, Stream

PIPE_BYTES: Final = 1 << 20
"""Size of a busy pipe. The kernel grants few of that size to an ordinary user, so quiet ones stay at its default."""
REST_S: Final = 0.001
"""What a program that writes a gigabyte in a second takes to fill a busy pipe."""
NEAR_BYTES: Final = CHUNK_BYTES
NEAR_PATIENCE_S: Final = 0.02
PATIENCE_S: Final = 1.0
PACE_BYTES_PER_S: Final = 4 << 20
_FULL_PIPE_BYTES: Final = 64 * 1024
_BUSY_READS: Final = 2
_PULL_BYTES: Final = PIPE_BYTES + CHUNK_BYTES
_PATIENT_BYTES: Final = int(PACE_BYTES_PER_S * PATIENCE_S)


class Collector:
    """Reads one stream until its end."""

    def __init__(
        self,
        fd: int,
        stream: Stream,
        record: OutputRecord,
        on_output: Callable[[], None],
        on_end: Callable[[], None],
    ) -> None:
        os.set_blocking(fd, False)
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._stream = stream
        self._record = record
        self._on_output = on_output
        self._on_end = on_end
        self._paces = record.policy.retention is Retention.KEEP and record.policy.limit_bytes >= 2 * _PATIENT_BYTES
        self._far_bytes = record.policy.limit_bytes // 2
        self._is_near = True
        self._tolerated_lag = 0
        self._full_reads = 0
        self._discards = False
        self._held = False
        self._wide = False
        self._resting: asyncio.TimerHandle | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._loop.add_reader(fd, self._on_readable)

    @property
    def ended(self) -> bool:
        """Nothing more will be read."""
        return self._fd < 0

    def pull(self) -> None:
        """Read what is there now, even if the exec would be held: it has ended, so this is the last of it."""
        pulled = 0
        while not self.ended and pulled < _PULL_BYTES:
            count = self._read()
            if count <= 0:
                return
            pulled += count

    def discard(self) -> None:
        """From now on read into the void, so that whoever still writes is neither stopped nor ended by it."""
        self._discards = True
        self._release()
        self._record.close_stream(self._stream)

    def close(self) -> None:
        """Stop reading. Whoever still writes is ended by SIGPIPE, or hung up from a terminal."""
        if self._fd < 0:
            return
        self._release()
        self._loop.remove_reader(self._fd)
        os.close(self._fd)
        self._fd = -1
        self._record.close_stream(self._stream)

    def _on_readable(self) -> None:
        count = self._read()
        if count > 0 and not self._discards:
            self._hold_if_needed()
        if self._wide and 0 < count < CHUNK_BYTES // 2 and not self._held:
            self._rest()

    def _rest(self) -> None:
        """Let a busy pipe fill for a moment: a few large reads cost far less than many small ones."""
        self._loop.remove_reader(self._fd)
        self._resting = self._loop.call_later(REST_S, self._wake)

    def _wake(self) -> None:
        self._resting = None
        if not self._held and not self.ended:
            self._loop.add_reader(self._fd, self._on_readable)

    def _read(self) -> int:
        """Read once and return how much; -1 when there is nothing now, 0 at the end."""
        try:
            data = os.read(self._fd, CHUNK_BYTES)
        except BlockingIOError:
            return -1
        except OSError:
            # EIO: the last holder of the terminal's other side is gone.
            data = b""
        if not data:
            self.close()
            self._on_end()
            return 0
        if not self._discards:
            self._record.append(self._stream, data)
            self._on_output()
        if len(data) >= _FULL_PIPE_BYTES and self._full_reads < _BUSY_READS:
            self._note_full_read()
        return len(data)

    def _note_full_read(self) -> None:
        self._full_reads += 1
        if self._full_reads == _BUSY_READS and self._stream is not Stream.PTY:
            try:
                self._wide = fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES) >= PIPE_BYTES
            except OSError:
                # This user's share of pipe memory is used up; the default size works as well, only slower.
                self._wide = False

    def _hold_if_needed(self) -> None:
        if self._record.full(self._stream):
            self._hold()
            return
        lag, reader = self._record.lag(self._stream) if self._paces else (0, None)
        if reader is None or lag <= NEAR_BYTES:
            self._is_near = True
        elif self._is_near:
            self._wait_for_lag(NEAR_BYTES, NEAR_PATIENCE_S, self._go_ahead)
        elif lag > self._far_bytes:
            self._wait_for_lag(self._far_bytes, PATIENCE_S, self._lose_patience, reader, self._place(reader))

    def _wait_for_lag(self, tolerated: int, patience_s: float, lose_patience: Callable[..., None], *about: Any) -> None:
        self._hold()
        self._tolerated_lag = tolerated
        self._patience = self._loop.call_later(patience_s, lose_patience, *about)

    def _go_ahead(self) -> None:
        self._is_near = False
        self._release()

    def _hold(self) -> None:
        if not self._held:
            self._held = True
            self._loop.remove_reader(self._fd)
            self._record.held.append(self._look_again)

    def _look_again(self) -> None:
        """A reader has read: go on if there is room now."""
        if self._record.full(self._stream):
            return
        lag, _ = self._record.lag(self._stream)
        if self._patience and lag > self._tolerated_lag:
            return
        self._release()

    def _lose_patience(self, reader: Reader, place: int) -> None:
        if self._place(reader) - place < _PATIENT_BYTES:
            reader.keeps_pace = False
        self._release()

    def _release(self) -> None:
        if self._patience:
            self._patience.cancel()
            self._patience = None
        if self._held:
            self._held = False
            self._record.held.remove(self._look_again)
            self._loop.add_reader(self._fd, self._on_readable)
        if self._resting:
            self._resting.cancel()
            self._wake()

    def _place(self, reader: Reader) -> int:
        return reader.offsets.get(self._stream, 0)
