"""What a process tells about itself, and to whom."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class LogFormat(Enum):
    """How a log line looks."""

    TEXT = "text"
    """`time level event key=value …`, for people."""
    JSON = "json"
    """One object per line, for collectors."""


class LogLevel(Enum):
    """The least important lines that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class TelemetryConfig:
    """Settings of traces and logs."""

    otlp_address: str = ""
    """OTLP/gRPC receiver for spans, `unix:/path` or `host:port`; empty: spans are made for nobody and cost little."""
    sample_ratio: float = 1.0
    """Share of new traces that are recorded, 0 to 1; a trace that a caller began keeps the caller's decision."""
    queue_spans: int = 8192
    """Spans that wait for sending at most; more are dropped and counted, since work never waits for telemetry."""
    log_level: LogLevel = LogLevel.INFO
    log_format: LogFormat = LogFormat.TEXT

    def __post_init__(self) -> None:
        if not 0 <= self.sample_ratio <= 1:
            raise ValueError("sample_ratio must be from 0 to 1")
        if self.queue_spans < 1:
            raise ValueError("queue_spans must be at least 1")
