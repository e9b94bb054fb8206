"""Instants are aware, and exact to the microsecond."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from arenero.model.time import EPOCH, SystemClock, from_unix_ns, require_utc, to_rfc3339, to_unix_ns

INSTANT = datetime(2030, 1, 2, 3, 4, 5, 678901, UTC)


@pytest.mark.parametrize(
    "instant", [EPOCH, INSTANT, datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), datetime.max.replace(tzinfo=UTC)]
)
def test_nanoseconds_go_there_and_back(instant: datetime) -> None:
    assert from_unix_ns(to_unix_ns(instant)) == instant


def test_other_zones_mean_the_same_instant() -> None:
    tokyo = INSTANT.astimezone(timezone(timedelta(hours=9)))
    assert require_utc(tokyo).tzinfo is UTC
    assert to_rfc3339(tokyo) == to_rfc3339(INSTANT) == "2030-01-02T03:04:05.678901Z"


def test_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        to_unix_ns(datetime(2030, 1, 1))  # noqa: DTZ001  # the mistake that is to be found


def test_system_clock_is_aware_and_never_goes_back() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert clock.monotonic_s() <= clock.monotonic_s()
