"""Documents point at what exists, and decision records have their parts."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.style.sources import ROOT

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
RECORDS = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))


def documents() -> list[Path]:
    """The repository's own Markdown: tracked, or about to be."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    if document.name == "template.md":
        return
    targets = [target.partition("#")[0] for target in LINK.findall(document.read_text())]
    local = [target for target in targets if target and "://" not in target and not target.startswith("mailto:")]
    assert not [target for target in local if not (document.parent / target).exists()]


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_decision_record_has_its_parts(record: Path) -> None:
    text = record.read_text()
    number = record.name[:4]
    assert text.startswith(f"# {number}: ")
    assert re.search(r"^- Status: (proposed|accepted|replaced by \[\d{4}\])", text, re.MULTILINE)
    assert re.search(r"^- Date: \d{4}-\d{2}-\d{2}$", text, re.MULTILINE)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Question", "Options", "Decision", "What got worse"]


def test_decision_records_are_numbered_without_gap_and_listed() -> None:
    assert [record.name[:4] for record in RECORDS] == [f"{number:04}" for number in range(1, len(RECORDS) + 1)]
    index = (ROOT / "docs/adr/README.md").read_text()
    assert not [record.name for record in RECORDS if f"]({record.name})" not in index]
