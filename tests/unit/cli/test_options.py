"""Values on the command line that have a form of their own."""

from typing import Any

import click
import pytest

from arenero.cli.options import DURATION, PAIR, USER, Size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("1.5h", 5400),
        ("250ms", 0.25),
        ("2d", 172800),
        ("1h30m", 5400),
        ("1m1.5s", 61.5),
        ("0", 0),
    ],
)
def test_duration_is_seconds(text: str, seconds: float) -> None:
    assert DURATION.convert(text, None, None) == seconds


@pytest.mark.parametrize(
    "text", ["", "h", "-5", "5x", "1 h", "1h 30m", "1e5", "inf", "nan", "1,5h", "9" * 13, "9" * 400]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        DURATION.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("1048576", 1 << 20),
        ("512M", 1 << 29),
        ("512m", 1 << 29),
        ("2Gi", 1 << 31),
        ("2GiB", 1 << 31),
        ("1.5GB", 3 << 29),
        ("1k", 1024),
        ("3 T", 3 << 40),
        ("7B", 7),
        ("0", 0),
    ],
)
def test_size_is_bytes(text: str, size_bytes: int) -> None:
    assert Size().convert(text, None, None) == size_bytes


@pytest.mark.parametrize("text", ["", "M", "-1M", "5i", "5X", "1e3", "inf", "5MM", "99999999T", "9" * 20])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Size().convert(text, None, None)


def test_pair_is_cut_at_the_first_equals_sign() -> None:
    assert PAIR.convert("A=b=c", None, None) == ("A", "b=c")
    assert PAIR.convert("A=", None, None) == ("A", "")


@pytest.mark.parametrize("text", ["", "A", "=b"])
def test_what_is_no_pair_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        PAIR.convert(text, None, None)


def test_user_is_a_name_or_numbers() -> None:
    assert USER.convert("alice", None, None) == "alice"
    assert USER.convert("1000", None, None) == (1000, 1000)
    assert USER.convert("1000:5", None, None) == (1000, 5)


@pytest.mark.parametrize("text", ["1000:", "1000:x", "10x", "4294967296", "1:4294967296", "1:2:3"])
def test_what_is_no_user_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        USER.convert(text, None, None)


@pytest.mark.parametrize("kind", [DURATION, Size(), PAIR, USER], ids=lambda kind: kind.name)
def test_values_that_are_converted_pass(kind: click.ParamType[Any]) -> None:
    """click converts defaults too, which are of the right type already."""
    value = {"duration": 1.5, "size": 7, "key=value": ("a", "b"), "user": (1, 2)}[kind.name]
    assert kind.convert(value, None, None) == value
