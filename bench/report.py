"""The outcome: a table for people, JSON for programs, and whether all bars were met."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.registry import Measured, Row
from bench.samples import quantile


@dataclass(frozen=True, slots=True)
class Result:
    """A row with its value, or with the reason why it has none."""

    row: Row
    measured: Measured | None = None
    skipped: str = ""
    """It can't be measured here: that is no failure."""
    failed: str = ""
    """It could not be measured though it should: that is one."""

    @property
    def is_ok(self) -> bool | None:
        """Whether the bar was met; None without a bar or a value."""
        if self.failed:
            return False
        if self.measured is None or self.row.bar is None:
            return None
        return self.row.bar.is_met(self.measured.value)

    def missed_by(self) -> str:
        """Say by how much the bar was missed."""
        if self.failed:
            return f"{self.row.name}: failed: {self.failed}"
        assert self.measured is not None
        assert self.row.bar is not None
        value, bar = self.measured.value, self.row.bar
        by = abs(value - bar.limit)
        share = f" ({by / bar.limit:.0%})" if bar.limit else ""
        return f"{self.row.name}: {value:.4g} {self.row.unit}, the bar is {bar}: missed by {by:.3g}{share}"

    def as_json(self) -> dict[str, Any]:
        """Return the row for `latest.json`."""
        measured = self.measured
        samples = measured.samples if measured else ()
        return {
            "name": self.row.name,
            "value": _rounded(measured.value) if measured else None,
            "unit": self.row.unit,
            "p50": _rounded(quantile(samples, 0.5)) if samples else None,
            "p99": _rounded(quantile(samples, 0.99)) if samples else None,
            "n": (measured.n or len(samples) or 1) if measured else 0,
            "bar": str(self.row.bar) if self.row.bar else None,
            "ok": self.is_ok,
            "compared_with": dict(measured.compared_with) if measured else {},
            "title": self.row.title,
            "skipped": self.skipped or None,
            "failed": self.failed or None,
        }


@dataclass(slots=True)
class Report:
    """All results of a run."""

    results: list[Result] = field(default_factory=list)

    @property
    def missed(self) -> list[Result]:
        return [result for result in self.results if result.is_ok is False]

    def write(self, path: Path, facts: Mapping[str, Any]) -> None:
        """Write `latest.json`, in one step."""
        content = {
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": f"{platform.machine()}, Linux {platform.release()}, Python {platform.python_version()}",
            **facts,
            "rows": [result.as_json() for result in self.results],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        partial.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        partial.replace(path)

    def summary(self) -> str:
        """Say in some lines whether all is well."""
        measured = sum(result.measured is not None for result in self.results)
        skipped = sum(bool(result.skipped) for result in self.results)
        lines = [f"{measured} rows measured, {skipped} skipped, {len(self.missed)} missed their bar"]
        lines += [f"  MISSED {result.missed_by()}" for result in self.missed]
        return "\n".join(lines)


HEAD = ("row", "value", "p50", "p99", "n", "bar", "", "compared with")
_WIDTHS = (18, 14, 9, 9, 6, 9, 6)


def table_head() -> str:
    """Return the two lines above the table."""
    return f"{table_line(HEAD)}\n{'-' * 110}"


def table_row(result: Result) -> str:
    """Return a result's line."""
    shown = result.as_json()
    if result.measured is None:
        reason = f"skipped: {result.skipped}" if result.skipped else f"FAILED: {result.failed}"
        return table_line([shown["name"], "–", "", "", "", shown["bar"] or "", "", reason.partition("\n")[0]])
    verdict = {True: "ok", False: "MISSED", None: ""}[result.is_ok]
    others = ", ".join(f"{name} {value}" for name, value in shown["compared_with"].items())
    value = f"{_short(shown['value'])} {shown['unit']}"
    percentiles = [_short(shown["p50"]), _short(shown["p99"])]
    return table_line([shown["name"], value, *percentiles, str(shown["n"]), shown["bar"] or "", verdict, others])


def table_line(cells: Sequence[str]) -> str:
    """Align the cells of a line."""
    *fixed, last = cells
    return "  ".join([*(cell.ljust(width) for cell, width in zip(fixed, _WIDTHS, strict=True)), last]).rstrip()


def _short(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
