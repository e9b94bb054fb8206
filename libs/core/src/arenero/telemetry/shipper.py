"""Sends ended spans away in batches, from a thread of its own.

Ending a span never waits: it goes into a bounded queue, and when that is full it is dropped and counted. A receiver
that is away costs the spans that do not fit meanwhile, nothing else. How a batch travels is the business of `send`.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

_log = logging.getLogger(__name__)
_BATCH: Final = 512
_EVERY_S: Final = 0.25
"""How old a span may get before it is sent: `arenero trace` right after a call should show it."""
_MAX_PAUSE_S: Final = 5.0

Send = Callable[[bytes], None]
"""Delivers one serialized ExportTraceServiceRequest, or raises."""


class SpanShipper(SpanProcessor):
    """A span processor for `tracing`. Its thread starts with the first span: until then a process may fork."""

    def __init__(self, send: Send, *, queue_spans: int) -> None:
        self._send = send
        self._limit = queue_spans
        self._queue: deque[ReadableSpan] = deque()
        self._changed = threading.Condition()
        self._in_flight = 0
        self._flushing = False
        self._stopping = False
        self._thread: threading.Thread | None = None
        self.dropped = 0
        """Spans that did not fit into the queue or could not be delivered."""

    def on_start(self, span: Span, parent_context: object = None) -> None:
        """Do nothing: only ended spans are sent."""

    def on_end(self, span: ReadableSpan) -> None:
        """Take one span; never waits for the receiver."""
        if not span.context or not span.context.trace_flags.sampled:
            return
        with self._changed:
            if len(self._queue) >= self._limit or self._stopping:
                self.dropped += 1
                return
            self._queue.append(span)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="spans", daemon=True)
                self._thread.start()
            elif len(self._queue) == _BATCH:
                self._changed.notify_all()

    def force_flush(self, timeout_millis: int = 5_000) -> bool:
        """Send what is queued; return whether all of it was handled in time."""
        with self._changed:
            self._flushing = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._queue and not self._in_flight, timeout_millis / 1000)

    def shutdown(self) -> None:
        """Try once more to send what is queued, for a short time; then end the thread."""
        self.force_flush(2_000)
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(2.0)

    def _run(self) -> None:
        pause_s = _EVERY_S
        while batch := self._next_batch(pause_s):
            delivered = self._deliver(batch)
            pause_s = _EVERY_S if delivered else min(pause_s * 2, _MAX_PAUSE_S)
            with self._changed:
                self._in_flight = 0
                self._changed.notify_all()

    def _next_batch(self, pause_s: float) -> list[ReadableSpan]:
        """Wait until there is something to send; an empty list means that it is over."""
        with self._changed:
            while not self._stopping:
                self._changed.wait_for(self._is_urgent, pause_s)
                self._flushing = self._flushing and bool(self._queue)
                if self._queue:
                    break
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), _BATCH))]
            self._in_flight = len(batch)
            return batch

    def _is_urgent(self) -> bool:
        return self._stopping or self._flushing or len(self._queue) >= _BATCH

    def _deliver(self, batch: list[ReadableSpan]) -> bool:
        try:
            self._send(encode_spans(batch).SerializeToString())
        except Exception as error:  # noqa: BLE001  # whatever went wrong, telemetry must not end its thread
            self.dropped += len(batch)
            _log.debug("telemetry.spans_lost", extra={"spans": len(batch), "error": str(error)})
            return False
        return True
