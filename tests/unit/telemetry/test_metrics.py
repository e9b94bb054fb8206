"""Counting and timing, as Prometheus reads it."""

import pytest

from arenero.telemetry.metrics import Metrics, timed


def test_counter_and_gauge_are_rendered() -> None:
    metrics = Metrics()
    metrics.counter("sandboxes", "Sandboxes created", ["runtime"]).labels("local").inc(3)
    metrics.gauge("streams", "Open streams").set(2)
    text = metrics.render().decode()
    assert 'arenero_sandboxes_total{runtime="local"} 3.0' in text
    assert "# HELP arenero_streams Open streams" in text
    assert "arenero_streams 2.0" in text


def test_time_is_taken_also_when_the_block_fails() -> None:
    metrics = Metrics()
    histogram = metrics.histogram("create_seconds", "Time to create", ["runtime"])
    with timed(histogram, "local"):
        pass
    with pytest.raises(KeyError), timed(histogram, "local"):
        raise KeyError("x")
    text = metrics.render().decode()
    assert 'arenero_create_seconds_count{runtime="local"} 2.0' in text
    assert 'arenero_create_seconds_bucket{le="0.001",runtime="local"} 2.0' in text


def test_registries_do_not_add_up() -> None:
    for _ in range(2):
        metrics = Metrics()
        metrics.counter("calls", "Calls").inc()
        assert "arenero_calls_total 1.0" in metrics.render().decode()
