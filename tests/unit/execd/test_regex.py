"""Expressions that callers send, on texts that sandboxes hold."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arenero.errors import InvalidArgument
from arenero.execd.regex import LONGEST_EXPRESSION, line_expression, name_expression


def found(pattern: str, text: bytes, begin: int = 0, *, ignore_case: bool = False) -> tuple[int, int] | None:
    return line_expression(pattern, ignore_case=ignore_case, field="content").find(text, begin)


def test_edges_of_lines_are_edges():
    text = b"one\ntwo\nthree"
    assert found("^t", text) == (4, 5)
    assert found("^t", text, 8) == (8, 9)
    assert found("o$", text) == (6, 7)
    assert found("^two$", text, 4) == (4, 7)


@pytest.mark.parametrize("pattern", [r"a\s*b", "a[^x]b", "(?s)a.b", "a\\nb"])
def test_no_match_crosses_a_line(pattern: str):
    assert found(pattern, b"a\nb") is None


def test_case_can_be_ignored():
    assert found("É", "é".encode(), ignore_case=True) == (0, 2)
    assert found("É", "é".encode()) is None


def test_text_that_is_not_utf8_is_searched():
    assert found("needle", b"\xff\xfe needle \xff") == (3, 9)


@settings(deadline=None)
@given(
    st.sampled_from(["a+b", "^a?$", "[ab]{2,3}", "a|bb", "(a|b)*c"]),
    st.text("abc\n", max_size=30).map(str.encode),
)
def test_finds_what_pythons_own_finds_in_each_line(pattern: str, text: bytes):
    ours = found(pattern, text) is not None
    theirs = any(re.search(pattern.encode(), line) for line in text.split(b"\n"))
    assert ours == theirs


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*a){12}$", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_evil_expression_takes_linear_time(pattern: str):
    """Each of these keeps Python's own engine busy for years."""
    text = b"a" * 200_000 + b"!"
    began = time.process_time()
    found(pattern, text)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "INVALID_PATTERN"),
        (r"(a)\1", "INVALID_PATTERN"),
        ("(?=a)", "INVALID_PATTERN"),
        ("((a{100}){100}){100}", "INVALID_PATTERN"),
        (r"\Aa", "INVALID_PATTERN"),
        (r"\\\z", "INVALID_PATTERN"),
        (r"a\Cb", "INVALID_PATTERN"),
        ("\udcff", "INVALID_PATTERN"),
        ("a" * (LONGEST_EXPRESSION + 1), "PATTERN_TOO_LONG"),
    ],
)
def test_impossible_expression_is_refused_by_its_field(pattern: str, reason: str):
    with pytest.raises(InvalidArgument) as error:
        found(pattern, b"")
    assert (error.value.reason, error.value.field) == (reason, "content")


def test_escaped_backslash_before_a_letter_is_no_edge():
    assert found(r"\\A", rb"x\A") == (1, 3)


def test_whole_names_match():
    assert name_expression("é.", is_bytes=False).matches("éx")
    assert name_expression("\xe9.", is_bytes=True).matches(b"\xe9\xff")
    assert not name_expression("a", is_bytes=False).matches("ab")
