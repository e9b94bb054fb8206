"""Single values: what is taken and what is refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arenero.config.fields import from_env, from_toml, is_table, optional_of


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (float, 3, 3.0),
        (Path, "/x", Path("/x")),
        (Path | None, "/x", Path("/x")),
        (tuple[int, ...], [1, 2], (1, 2)),
        (Mapping[str, int], {"a": 1}, {"a": 1}),
        (dict[str, tuple[str, ...]], {"a": ["b"]}, {"a": ("b",)}),
    ],
)
def test_toml_value_gets_the_fields_type(kind: Any, value: object, expected: object) -> None:
    found = from_toml(kind, value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (int, True),
        (bool, 1),
        (str, 1),
        (tuple[int, ...], ["a"]),
        (Mapping[str, int], []),
        (Path, 3),
        (float, float("inf")),
    ],
)
def test_toml_value_of_another_type_is_refused(kind: Any, value: object) -> None:
    with pytest.raises(ValueError, match="must be"):
        from_toml(kind, value)


def test_table_can_not_come_from_the_environment() -> None:
    with pytest.raises(ValueError, match="TOML file only"):
        from_env(Mapping[str, int], "a=1")


def test_type_that_nobody_can_write_down_is_a_defect() -> None:
    with pytest.raises(TypeError):
        from_env(bytes, "x")


def test_optional_is_taken_apart() -> None:
    assert optional_of(int | None) == (int, True)
    assert optional_of(int) == (int, False)
    assert not is_table(int | None)
