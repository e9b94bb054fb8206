"""Times, durations and enums between protobuf and the model. Reading never raises: it notes a fault and goes on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Final, Generic, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from arenero.model.fields import FieldError
from arenero.model.time import EPOCH, from_unix_ns, to_unix_ns

M = TypeVar("M", bound=Enum)
N = TypeVar("N", bound=int)
_NS: Final = 1_000_000_000
_MAX_UNIX_S: Final = 253_402_300_799
"""The last second of the year 9999: where protobuf's and Python's instants end."""


def to_timestamp(instant: datetime | None) -> Timestamp | None:
    """Return an instant in protobuf's form; None stays None, which leaves a field unset."""
    if instant is None:
        return None
    seconds, nanos = divmod(to_unix_ns(instant), _NS)
    return Timestamp(seconds=seconds, nanos=nanos)


def from_timestamp(stamp: Timestamp) -> datetime:
    """Return the instant of a stamp that was written by `to_timestamp`."""
    return from_unix_ns(stamp.seconds * _NS + stamp.nanos)


def read_timestamp(stamp: Timestamp, field: str, faults: list[FieldError]) -> datetime:
    """Return the instant of a stamp that came from outside; note a fault when there is no such instant."""
    if 0 <= stamp.seconds <= _MAX_UNIX_S and 0 <= stamp.nanos < _NS:
        return from_timestamp(stamp)
    faults.append(FieldError(field, "is not an instant between the years 1970 and 9999"))
    return EPOCH


def to_duration(seconds: float | None) -> Duration | None:
    """Return a time span in protobuf's form, exact to the nanosecond; None stays None."""
    if seconds is None:
        return None
    whole, nanos = divmod(round(seconds * _NS), _NS)
    return Duration(seconds=whole, nanos=nanos)


def from_duration(span: Duration) -> float:
    """Return a time span in seconds, whatever its size: who uses it checks the range."""
    return (span.seconds * _NS + span.nanos) / _NS


class EnumCodec(Generic[M, N]):
    """The members of an enum of the model, by their numbers on the wire. Zero, "not stated", reads as the default."""

    def __init__(self, numbers: Mapping[M, N], default: M) -> None:
        self._numbers = numbers
        self._members: dict[int, M] = {number: member for member, number in numbers.items()} | {0: default}

    def encode(self, member: M) -> N:
        """Return the number on the wire."""
        return self._numbers[member]

    def decode(self, number: int, field: str, faults: list[FieldError]) -> M:
        """Return the member of a number; note a fault when this version knows none."""
        if number not in self._members:
            faults.append(FieldError(field, f"has the value {number}, which this version does not know"))
        return self._members.get(number, self._members[0])
