"""Printing a configuration: everything but secrets."""

import tomllib
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arenero.config.render import SECRET, table_to_toml, to_toml

NAMES = st.text(st.characters(codec="utf-8"), max_size=8)
SCALARS = st.text(st.characters(codec="utf-8")) | st.integers(-(2**62), 2**62) | st.booleans()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))


@dataclass(frozen=True)
class Inner:
    token: str = field(default="hunter2", metadata=SECRET)
    ratio: float = 0.5


@dataclass(frozen=True)
class Outer:
    inner: Inner = field(default_factory=Inner)
    prices: dict[str, int] = field(default_factory=lambda: {"a b": 1})
    flag: bool = True
    nothing: int | None = None


def test_secret_is_left_out_and_everything_else_is_there() -> None:
    text = to_toml(Outer())
    assert "hunter2" not in text
    assert "# token = (secret)" in text
    assert "# nothing is not set" in text
    assert tomllib.loads(text) == {"prices": {"a b": 1}, "flag": True, "inner": {"ratio": 0.5}}


def test_value_that_toml_does_not_know_is_a_defect() -> None:
    @dataclass(frozen=True)
    class Odd:
        value: bytes = b""

    with pytest.raises(TypeError):
        to_toml(Odd())


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_table_says_what_was_meant(table: dict[str, object]) -> None:
    assert tomllib.loads(table_to_toml(table)) == table
