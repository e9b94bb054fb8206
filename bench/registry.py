"""What is measured: rows with a name, a unit and a bar, each made by a small function.

A row's function takes the `Bench` and returns what it measured. Rows that come from one measurement share it through
`Bench.once`. To add a subject, write `bench/rows/<subject>.py` and name it in `SUBJECTS`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from bench.samples import quantile

if TYPE_CHECKING:
    from bench.context import Bench

SUBJECTS = ("startup", "create", "exec", "output", "files", "idle", "events", "growth")
"""Modules of `bench.rows`, in the order in which they run: what needs a quiet platform comes first."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What a value must reach."""

    limit: float
    is_lower_better: bool = True

    def is_met(self, value: float) -> bool:
        return value <= self.limit if self.is_lower_better else value >= self.limit

    def __str__(self) -> str:
        return f"{'≤' if self.is_lower_better else '≥'} {self.limit:g}"


def at_most(limit: float) -> Bar:
    return Bar(limit)


def at_least(limit: float) -> Bar:
    return Bar(limit, is_lower_better=False)


@dataclass(frozen=True, slots=True)
class Measured:
    """One value, and what it was made from."""

    value: float
    samples: Sequence[float] = ()
    """In the row's unit; p50 and p99 are taken from them."""
    n: int = 0
    """How many times, where that isn't the number of samples."""
    compared_with: Mapping[str, str] = field(default_factory=dict)
    """Other things measured in the same run, with their units."""


class Skipped(Exception):
    """A row can't be measured here; the text says why."""


Measure: TypeAlias = "Callable[[Bench], Awaitable[Measured]]"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table."""

    name: str
    """`subject.what`."""
    title: str
    unit: str
    bar: Bar | None
    measure: Measure


_rows: dict[str, Row] = {}


def row(name: str, title: str, unit: str, bar: Bar | None = None) -> Callable[[Measure], Measure]:
    """Register a function as the measurement of a row."""

    def register(measure: Measure) -> Measure:
        assert name not in _rows, f"there are two rows {name}"
        _rows[name] = Row(name, title, unit, bar, measure)
        return measure

    return register


def rows(only: Sequence[str] = ()) -> list[Row]:
    """Return the rows, or those whose name is one of `only` or begins with it and a dot.

    Raises:
        ValueError: One of `only` names nothing.
    """
    for subject in SUBJECTS:
        import_module(f"bench.rows.{subject}")
    known = [*_rows.values()]
    for wanted in only:
        if not any(_is_named(one, wanted) for one in known):
            raise ValueError(f"there is no row {wanted!r}; there are: {', '.join(_rows)}")
    return [one for one in known if not only or any(_is_named(one, wanted) for wanted in only)]


def of(samples: Sequence[float], share: float = 0.5, *, compared_with: Mapping[str, str] | None = None) -> Measured:
    """Return a quantile of samples as the value."""
    return Measured(quantile(samples, share), samples, compared_with=compared_with or {})


def _is_named(one: Row, wanted: str) -> bool:
    return one.name == wanted or one.name.startswith(f"{wanted}.")
