"""Checks of single fields."""

import math

import pytest

from arenero.model.fields import check_integer, check_number, check_text, join_path


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
