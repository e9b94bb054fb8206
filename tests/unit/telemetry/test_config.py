"""The settings of telemetry are checked when they are made."""

import math

import pytest

from arenero.telemetry.config import TelemetryConfig


@pytest.mark.parametrize("ratio", [-0.1, 1.1, math.nan])
def test_odd_sample_ratio_is_refused(ratio: float) -> None:
    with pytest.raises(ValueError, match="sample_ratio"):
        TelemetryConfig(sample_ratio=ratio)


def test_queue_must_hold_something() -> None:
    with pytest.raises(ValueError, match="queue_spans"):
        TelemetryConfig(queue_spans=0)
