"""A line per event, with its facts, its trace, and no way to forge one."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from arenero.telemetry.config import LogFormat, LogLevel, TelemetryConfig
from arenero.telemetry.logs import bound, setup_logs

log = logging.getLogger("arenero.test")


@pytest.fixture(autouse=True)
def _root_restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    logging.captureWarnings(capture=False)


def setup(log_format: LogFormat = LogFormat.TEXT, level: LogLevel = LogLevel.INFO) -> io.StringIO:
    stream = io.StringIO()
    setup_logs("lifecycle", TelemetryConfig(log_format=log_format, log_level=level), stream)
    return stream


def test_text_line_has_event_and_facts() -> None:
    stream = setup()
    with bound(sandbox_id="sbx_1"):
        log.info("sandbox.started", extra={"took_ms": 12, "words": "a b"})
    time, rest = stream.getvalue().split(" ", 1)
    assert time.endswith("Z")
    assert rest == 'INFO lifecycle sandbox.started sandbox_id=sbx_1 took_ms=12 words="a b"\n'


def test_json_line_has_the_same() -> None:
    stream = setup(LogFormat.JSON)
    with bound(sandbox_id="sbx_1"), bound(step="rootfs"):
        log.warning("saga.failed", extra={"took_ms": 12, "error": ValueError("x")})
    fields = json.loads(stream.getvalue())
    assert fields.pop("time")
    assert fields == {
        "level": "WARNING",
        "service": "lifecycle",
        "event": "saga.failed",
        "sandbox_id": "sbx_1",
        "step": "rootfs",
        "took_ms": 12,
        "error": "x",
    }


def test_bound_facts_end_with_their_block() -> None:
    stream = setup()
    with bound(sandbox_id="sbx_1"):
        pass
    log.info("other")
    assert "sbx_1" not in stream.getvalue()


@pytest.mark.parametrize("log_format", list(LogFormat))
def test_text_of_strangers_can_not_forge_a_line(log_format: LogFormat) -> None:
    stream = setup(log_format)
    log.info("exec.started\nINFO forged", extra={"program": "x\n2030 ERROR forged y=1\x1b[31m"})
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()


def test_long_value_is_cut() -> None:
    stream = setup()
    log.info("x", extra={"program": "a" * 100_000})
    assert len(stream.getvalue()) < 3_000


def test_line_carries_the_trace_it_belongs_to() -> None:
    stream = setup(LogFormat.JSON)
    context = SpanContext(trace_id=0xABC, span_id=0xDEF, is_remote=False, trace_flags=TraceFlags(1))
    with trace.use_span(NonRecordingSpan(context)):
        log.info("x")
    fields = json.loads(stream.getvalue())
    assert (fields["trace_id"], fields["span_id"]) == (f"{0xABC:032x}", f"{0xDEF:016x}")


@pytest.mark.parametrize("log_format", list(LogFormat))
def test_exception_is_there_with_its_chain(log_format: LogFormat) -> None:
    stream = setup(log_format)
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("outer") from error
    except ValueError:
        log.exception("rpc.defect")
    assert "inner" in stream.getvalue()
    assert "outer" in stream.getvalue()


def test_level_and_noisy_libraries_are_held_back() -> None:
    stream = setup(level=LogLevel.DEBUG)
    logging.getLogger("nats.aio").info("chatter")
    log.debug("kept")
    assert "chatter" not in stream.getvalue()
    assert "kept" in stream.getvalue()
