from collections import namedtuple
from typing import Any, cast

import grpc
import pytest

from arenero.bus.memory import MemoryEventLog
from arenero.bus.publisher import ActivityPublisher
from arenero.gateway.catalog import PUBLIC, Backend
from arenero.gateway.proxy.destination import ToService
from arenero.gateway.proxy.door import Door
from arenero.gateway.proxy.live import LiveCalls
from arenero.gateway.proxy.meter import CallMetrics
from arenero.gateway.proxy.relay import Books
from arenero.gateway.usage import Usage
from arenero.model.time import SystemClock
from arenero.telemetry.metrics import Metrics

Details = namedtuple("Details", ["method", "invocation_metadata"])


@pytest.fixture
async def door() -> Door:
    publisher = ActivityPublisher(MemoryEventLog("activity.>"), source="test", clock=SystemClock())
    books = Books(CallMetrics(Metrics()), LiveCalls(), Usage(publisher, interval_s=1.0))
    return Door({backend: ToService(None) for backend in Backend if backend is not Backend.GATEWAY}, books)


def handler(door: Door, method: str) -> Any:
    return door.service(cast(grpc.HandlerCallDetails, Details(method, ())))


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("/arenero.api.execd.v1.ExecService/Start", "unary_unary"),
        ("/arenero.api.execd.v1.ExecService/Run", "unary_stream"),
        ("/arenero.api.execd.v1.ExecService/Interact", "stream_stream"),
        ("/arenero.api.execd.v1.FileService/Write", "stream_stream"),
        ("/arenero.api.lifecycle.v1.SandboxService/NotYetKnown", "stream_stream"),
    ],
)
async def test_kind_of_handler_is_that_of_the_method(door: Door, method: str, kind: str) -> None:
    assert getattr(handler(door, method), kind) is not None


@pytest.mark.parametrize(
    "method",
    ["/arenero.api.gateway.v1.KeyService/Create", "/arenero.api.vault.v1.DeliveryService/Deliver", "/x.Y/Z", ""],
)
async def test_nothing_else_is_passed_on(door: Door, method: str) -> None:
    assert handler(door, method) is None


async def test_services_are_those_that_others_answer(door: Door) -> None:
    assert set(door.services) == {s.name for s in PUBLIC.values() if s.backend is not Backend.GATEWAY}
    assert Backend.GATEWAY not in door.backends
