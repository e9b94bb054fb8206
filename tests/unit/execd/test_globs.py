"""Globs, against a matcher that is slow and simple."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arenero.errors import InvalidArgument
from arenero.execd.globs import LONGEST_GLOB, MOST_GLOBS, Globs, glob


def matches(pattern: str, path: bytes | str) -> bool:
    return glob(pattern, "glob").matches(path.encode() if isinstance(path, str) else path)


def reference(pattern: str, path: str) -> bool:
    """Match part by part and letter by letter, trying every way."""
    parts = [part for part in pattern.split("/") if part]
    if "/" not in pattern.strip("/") and parts != ["**"]:
        return name_matches(parts[0], path.rpartition("/")[2])
    return parts_match(parts, path.split("/"))


def parts_match(parts: list[str], names: list[str]) -> bool:
    if not parts:
        return not names
    if parts[0] == "**":
        if len(parts) == 1:
            return bool(names)
        return any(parts_match(parts[1:], names[at:]) for at in range(len(names) + 1))
    return bool(names) and name_matches(parts[0], names[0]) and parts_match(parts[1:], names[1:])


def name_matches(part: str, name: str) -> bool:
    if not part:
        return not name
    if part[0] == "*":
        return any(name_matches(part[1:], name[at:]) for at in range(len(name) + 1))
    if part[0] == "[" and (end := part.find("]", 3 if part[1:2] in ("!", "^") else 2)) > 0:
        body = part[1:end]
        negated = body[:1] in ("!", "^")
        members = set(body[1:] if negated else body)
        return bool(name) and (name[0] in members) != negated and name_matches(part[end + 1 :], name[1:])
    if part[0] == "\\" and len(part) > 1:
        return name[:1] == part[1] and name_matches(part[2:], name[1:])
    return bool(name) and part[0] in ("?", name[0]) and name_matches(part[1:], name[1:])


words = st.text("ab*?[]!^\\.é", max_size=5)
patterns = (
    st.lists(st.one_of(words, st.just("**")), min_size=1, max_size=4).map("/".join).filter(lambda p: p.strip("/"))
)
names = st.text("ab*[]!^\\.é\n", min_size=1, max_size=4)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


@settings(deadline=None)
@given(pattern=patterns, path=paths)
def test_glob_matches_what_the_reference_matches(pattern: str, path: str):
    assert matches(pattern, path) == reference(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a/b/c.py", True),
        ("*.py", "c.pyc", False),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/*.py", "a/c.py", True),
        ("a/**/*.py", "a/b/x/c.py", True),
        ("**/node_modules/**", "x/node_modules/y/z", True),
        ("**/node_modules/**", "node_modules/y", True),
        ("**/node_modules/**", "node_modules", False),
        ("**", "a/b", True),
        ("/a/b", "a/b", True),
        ("build/", "x/build", True),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[z-a]x", "bx", False),
        ("[+-9]", "+", True),
        ("a[/]b", "a/b", False),
        ("[]]", "]", True),
        ("[", "[", True),
        ("?", "é", True),
        ("\\*", "*", True),
        ("\\*", "a", False),
        ("*", ".hidden", True),
        ("(a|b)+$", "(a|b)+$", True),
    ],
)
def test_examples(pattern: str, path: str, expected: bool):
    assert matches(pattern, path) is expected


def test_names_that_are_no_text_match_byte_by_byte():
    assert matches("caf?", b"caf\xe9")
    assert matches("*", b"\xff\xfe")
    assert not matches("é", b"\xe9")
    assert matches("*é*", b"\xff\xc3\xa9\xff")


def test_glob_that_explodes_elsewhere_is_quick_here():
    assert not matches("*a" * 400, "a" * 200 + "b" * 4000)


@pytest.mark.parametrize("pattern", ["", "/", "x" * (LONGEST_GLOB + 1), "\udcff"])
def test_impossible_glob_is_refused(pattern: str):
    with pytest.raises(InvalidArgument) as error:
        glob(pattern, "exclude")
    assert (error.value.reason, error.value.field) == ("INVALID_PATTERN", "exclude")


def test_any_of_several():
    globs = Globs(["*.o", "tmp/**"], "exclude")
    assert globs.match(b"x/y.o")
    assert globs.match(b"tmp/a")
    assert not globs.match(b"a")
    assert not Globs([], "exclude").match(b"a")
    with pytest.raises(InvalidArgument):
        Globs(["a"] * (MOST_GLOBS + 1), "exclude")
