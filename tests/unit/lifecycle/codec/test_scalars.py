"""Times, durations and enums between protobuf and the model."""

from datetime import datetime
from enum import Enum

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given

from arenero.lifecycle.codec.scalars import (
    EnumCodec,
    from_duration,
    from_timestamp,
    read_timestamp,
    to_duration,
    to_timestamp,
)
from arenero.model.fields import FieldError
from tests.unit.lifecycle.samples import instants, seconds


class Colour(Enum):
    RED = "red"
    GREEN = "green"


COLOURS = EnumCodec({Colour.RED: 1, Colour.GREEN: 2}, Colour.GREEN)


@given(instants)
def test_an_instant_comes_back(instant: datetime) -> None:
    stamp = to_timestamp(instant)
    assert stamp is not None
    assert from_timestamp(stamp) == instant
    faults: list[FieldError] = []
    assert read_timestamp(stamp, "x", faults) == instant
    assert not faults


@given(seconds)
def test_a_duration_comes_back(span_s: float) -> None:
    span = to_duration(span_s)
    assert span is not None
    assert from_duration(span) == pytest.approx(span_s, abs=1e-9)


def test_none_stays_unset() -> None:
    assert to_timestamp(None) is None
    assert to_duration(None) is None


@pytest.mark.parametrize(
    "stamp",
    [
        Timestamp(seconds=-1),
        Timestamp(seconds=2**62),
        Timestamp(seconds=253_402_300_800),
        Timestamp(seconds=1, nanos=-1),
        Timestamp(seconds=1, nanos=10**9),
    ],
)
def test_an_impossible_instant_is_a_fault(stamp: Timestamp) -> None:
    faults: list[FieldError] = []
    read_timestamp(stamp, "expires_at", faults)
    assert [fault.field for fault in faults] == ["expires_at"]


def test_a_huge_or_negative_duration_is_read_as_it_is() -> None:
    assert from_duration(Duration(seconds=10**18)) == 1e18
    assert from_duration(Duration(seconds=-1, nanos=-500_000_000)) == -1.5


def test_an_enum_comes_back_and_zero_is_the_default() -> None:
    faults: list[FieldError] = []
    assert [COLOURS.decode(COLOURS.encode(c), "x", faults) for c in Colour] == list(Colour)
    assert COLOURS.decode(0, "x", faults) is Colour.GREEN
    assert not faults


def test_an_unknown_number_is_a_fault() -> None:
    faults: list[FieldError] = []
    COLOURS.decode(9, "spec.colour", faults)
    assert [fault.field for fault in faults] == ["spec.colour"]
    assert "9" in faults[0].message
