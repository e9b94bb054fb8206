"""The diagram in the guide is the table."""

from pathlib import Path

import pytest

from arenero.lifecycle.diagram import BEGIN, END, draw, insert
from arenero.lifecycle.machine import TRANSITIONS

GUIDE = Path(__file__).resolve().parents[3] / "docs/guides/sandbox-states.md"


def test_the_guide_shows_the_present_table() -> None:
    page = GUIDE.read_text()
    assert insert(page) == page, f"run: python -m arenero.lifecycle.diagram {GUIDE.name}"


def test_every_move_is_an_arrow_and_no_other() -> None:
    arrows = [line for line in draw().splitlines() if "-->" in line and "[*]" not in line]
    moves = [(s, f, after) for s, row in TRANSITIONS.items() for f, after in row.items() if after is not s]
    assert len(arrows) == len(moves)
    for state, fact, after in moves:
        assert f"    {state.value} --> {after.value}: {fact.word}" in arrows


def test_insert_replaces_what_is_between_the_markers_only() -> None:
    page = f"above\n{BEGIN}\nold\n{END}\nbelow\n"
    new = insert(page)
    assert new.startswith("above\n")
    assert new.endswith("\nbelow\n")
    assert "old" not in new
    assert insert(new) == new


def test_insert_needs_its_markers() -> None:
    with pytest.raises(ValueError, match="markers"):
        insert("nothing here")
