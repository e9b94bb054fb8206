"""What a copy leaves out, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from arenero.cli.output import note
from arenero.cli.running import EXIT_FAILED

_MOST_LINES: Final = 20


@dataclass(slots=True)
class LeftOut:
    """What of a tree was not copied."""

    reasons: list[str] = field(default_factory=list)
    """What, and why."""
    has_failed: bool = False
    """Whether some of it should have been there."""

    def fail(self, reason: str) -> None:
        """Add what should have been there."""
        self.reasons.append(reason)
        self.has_failed = True

    def extend(self, other: LeftOut) -> None:
        """Add what another part of the same copy left out."""
        self.reasons.extend(other.reasons)
        self.has_failed |= other.has_failed

    def tell(self) -> int:
        """Say it in a bounded number of lines; return the command's exit code."""
        for reason in self.reasons[:_MOST_LINES]:
            note(f"arenero: left out {reason}")
        if (more := len(self.reasons) - _MOST_LINES) > 0:
            note(f"arenero: left out {more} more")
        return EXIT_FAILED if self.has_failed else 0
