"""Checks of single fields."""

import math

import pytest

from arenero.model.fields import (
    check_integer,
    check_number,
    check_size,
    check_span,
    check_text,
    join_path,
    size_text,
    span_text,
)


def test_path_is_dotted() -> None:
    assert join_path("spec", "name") == "spec.name"
    assert join_path("", "name") == "name"


@pytest.mark.parametrize("value", ["", "ok", "größe", "x" * 10])
def test_text_is_taken(value: str) -> None:
    assert not list(check_text("f", value, min_bytes=0, max_bytes=10))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "is empty"),
        ("ä" * 6, "has 12 bytes"),
        ("a\nb", "U+000A"),
        ("a\0", "U+0000"),
        ("a\x85", "U+0085"),
        ("a\u2028", "U+2028"),
        ("\ud800", "not valid Unicode"),
    ],
)
def test_text_is_refused(value: str, words: str) -> None:
    assert [words in fault.message for fault in check_text("f", value, min_bytes=1, max_bytes=10)] == [True]


@pytest.mark.parametrize("value", [0, -1, 11, 2**70, True, 1.0, "1", None])
def test_integer_is_refused(value: object) -> None:
    assert len(list(check_integer("f", value, low=1, high=10))) == 1


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e18, -1, True, "5x", None])
def test_number_is_refused(value: object) -> None:
    assert len(list(check_number("f", value, low=0, high=10))) == 1


@pytest.mark.parametrize("value", [0, 0.0, 5, 10.0])
def test_number_is_taken(value: float) -> None:
    assert not list(check_number("f", value, low=0, high=10))


@pytest.mark.parametrize(
    ("span_s", "text"),
    [
        (0, "0 s"),
        (0.25, "0.25 s"),
        (90, "90 s"),
        (3600, "1 hour"),
        (5400, "1.50 hours"),
        (86_400, "1 day"),
        (400 * 86_400, "400 days"),
        (-2 * 86_400, "-2 days"),
        (math.nan, "nan s"),
        (math.inf, "inf s"),
    ],
)
def test_span_is_told_in_units_that_people_use(span_s: float, text: str) -> None:
    assert span_text(span_s) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 bytes"), (-5, "-5 bytes"), (1024, "1 KiB"), (3 << 29, "1.5 GiB"), (1 << 60, "1 EiB"), (33 << 20, "33 MiB")],
)
def test_size_is_told_in_units_that_people_use(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == text


def test_span_and_size_name_what_they_are_and_what_they_may_be() -> None:
    [span] = check_span("ttl", 86_400 * 400, low_s=1, high_s=86_400 * 365)
    assert (span.field, span.message) == ("ttl", "is 400 days; it must be from 1 s to 365 days")
    [size] = check_size("memory", 1, low_bytes=1 << 25, high_bytes=1 << 50)
    assert (size.field, size.message) == ("memory", "is 1 bytes; it must be from 32 MiB to 1 PiB")
    assert not [*check_span("ttl", 5, low_s=1, high_s=5), *check_size("m", 5, low_bytes=1, high_bytes=5)]


@pytest.mark.parametrize("value", ["1", True, None, math.nan])
def test_what_is_no_span_or_size_is_refused(value: object) -> None:
    assert len([*check_span("f", value, low_s=0, high_s=9), *check_size("f", value, low_bytes=0, high_bytes=9)]) == 2
