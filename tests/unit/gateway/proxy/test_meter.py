import asyncio

import pytest

from arenero.errors import NotFound
from arenero.gateway.catalog import Method, find_method
from arenero.gateway.proxy.meter import CallMetrics
from arenero.telemetry.metrics import Metrics

LABELS = 'method="ExecService/Run"'


def run() -> Method:
    method = find_method("/arenero.api.execd.v1.ExecService/Run")
    assert method is not None
    return method


def test_call_is_counted_with_its_status_bytes_and_time() -> None:
    metrics = Metrics()
    with CallMetrics(metrics).measured(run()) as meter:
        meter.up(3)
        meter.down(5)
        meter.down(7)
        meter.code = "OK"
        assert f"arenero_gateway_open_calls{{{LABELS}}} 1.0" in metrics.render().decode()
    text = metrics.render().decode()
    assert f'arenero_gateway_calls_total{{code="OK",{LABELS}}} 1.0' in text
    assert f'arenero_gateway_bytes_total{{direction="up",{LABELS}}} 3.0' in text
    assert f'arenero_gateway_bytes_total{{direction="down",{LABELS}}} 12.0' in text
    assert f"arenero_gateway_call_seconds_count{{{LABELS}}} 1.0" in text
    assert f"arenero_gateway_open_calls{{{LABELS}}} 0.0" in text


@pytest.mark.parametrize(
    ("error", "code"), [(NotFound("x"), "NOT_FOUND"), (asyncio.CancelledError(), "CANCELLED"), (OSError(), "CANCELLED")]
)
def test_call_that_ends_otherwise_is_counted_too(error: BaseException, code: str) -> None:
    metrics = Metrics()
    with pytest.raises(type(error)), CallMetrics(metrics).measured(run()):
        raise error
    assert f'arenero_gateway_calls_total{{code="{code}",{LABELS}}} 1.0' in metrics.render().decode()
