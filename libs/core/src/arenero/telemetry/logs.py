"""Logs: one line per event, with the event's name, its facts, what is bound to the context, and the trace.

Code logs an event name and puts facts into `extra`: `_log.info("sandbox.started", extra={"took_ms": 12})`. `bound` adds
facts to every line below it, such as the sandbox that a saga works on. Text of strangers can't forge a line: control
characters are escaped. An exception is printed once, with its chain, where it is logged.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, TextIO

from opentelemetry import trace

from arenero.telemetry.config import LogFormat, TelemetryConfig

_MAX_VALUE_CHARS: Final = 2048
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_NOISY: Final = ("grpc", "nats", "asyncio", "opentelemetry", "httpx", "httpcore")
_bound: ContextVar[Mapping[str, object]] = ContextVar("arenero_log", default=MappingProxyType({}))


@contextmanager
def bound(**facts: object) -> Iterator[None]:
    """Add facts to every line that is logged in this context, and in tasks that are started in it."""
    token = _bound.set({**_bound.get(), **facts})
    try:
        yield
    finally:
        _bound.reset(token)


def setup_logs(service: str, config: TelemetryConfig, stream: TextIO | None = None) -> None:
    """Send all logs of this process to a stream (stderr), in the configured form. Replaces what was set up before."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter(service) if config.log_format is LogFormat.JSON else TextFormatter(service))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    level = config.log_level.value.upper()
    root.setLevel(level)
    for name in _NOISY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(capture=True)


def facts_of(record: logging.LogRecord) -> dict[str, object]:
    """Return the facts of a line: what is bound, what was given, and the trace that it belongs to."""
    given = {key: value for key, value in vars(record).items() if key not in _STANDARD}
    context = trace.get_current_span().get_span_context()
    ids = {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"} if context.is_valid else {}
    return {**_bound.get(), **given, **ids}


class TextFormatter(logging.Formatter):
    """`2026-01-02T03:04:05.678Z INFO lifecycle sandbox.started sandbox_id=sbx_… took_ms=12`."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and below it the exception if there is one."""
        facts = " ".join(f"{key}={_quoted(value)}" for key, value in facts_of(record).items())
        line = f"{_time(record)} {record.levelname} {self._service} {_one_line(record.getMessage())} {facts}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; an exception becomes a field."""
        fields: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname,
            "service": self._service,
            "event": record.getMessage(),
            **{key: _plain(value) for key, value in facts_of(record).items()},
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False, default=str)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: object) -> object:
    return value if isinstance(value, bool | int | float) or value is None else _cut(str(value))


def _quoted(value: object) -> str:
    """Return a value as it stands if that is unambiguous, else quoted as in JSON."""
    text = _cut(str(value))
    return text if text.isascii() and text.isprintable() and text and not set(' ="') & set(text) else json.dumps(text)


def _one_line(text: str) -> str:
    return _cut(text) if text.isprintable() else json.dumps(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_VALUE_CHARS else text[:_MAX_VALUE_CHARS] + "…"
