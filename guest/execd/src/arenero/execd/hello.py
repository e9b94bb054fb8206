"""What execd says about itself when a client connects."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from arenero.execd.plan import InitPlan

GENERATION: Final = 1
"""Newest generation of the protocol that this execd speaks."""
ALWAYS: Final = ("archive", "attach", "heartbeat", "pty", "retention", "stdin-resume", "watch")


def _own_version() -> str:
    try:
        return version("arenero-execd")
    except PackageNotFoundError:
        return "0.0.0"


VERSION: Final = _own_version()
"""Read at import: later there is no file of ours to read it from."""


@dataclass(slots=True)
class Greeting:
    """The facts of a Hello. The boot's spans are told once: the first caller is who started the sandbox."""

    plan: InitPlan
    sandbox_id: str
    generation: int
    capabilities: tuple[str, ...]
    boot_spans: tuple[tuple[str, int, int], ...]

    @classmethod
    def of(cls, plan: InitPlan) -> Greeting:
        """Return the greeting of a sandbox that was just started."""
        killing = ("cgroup-kill",) if plan.cgroup_fd >= 0 else ()
        return cls(plan, plan.sandbox_id, plan.generation, tuple(sorted((*ALWAYS, *killing))), plan.boot_spans)

    def take_boot_spans(self) -> tuple[tuple[str, int, int], ...]:
        """Return the boot's spans, the first time."""
        spans, self.boot_spans = self.boot_spans, ()
        return spans
