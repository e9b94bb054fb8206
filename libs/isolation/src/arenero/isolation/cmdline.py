"""The command line that `ps` shows for a process: overwritten in place, since a forked process shows its parent's.

In a sandbox that would be a path of the host.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Final

_ARG_START_FIELD: Final = 48
_ARG_END_FIELD: Final = 49


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Where this process, and every one forked from it, keeps its command line."""

    start: int
    end: int

    def overwrite(self, text: str) -> None:
        """Show this text from now on, cut to the room there is."""
        room = self.end - self.start
        if room <= 0:
            return
        content = text.encode()[: room - 1].ljust(room, b"\0")
        ctypes.memmove(self.start, content, room)


def find(stat_path: str = "/proc/self/stat") -> CommandLine:
    """Return where the command line is; an empty place when the kernel doesn't tell."""
    with open(stat_path, encoding="utf-8", errors="replace") as stream:
        stat = stream.read()
    # The second field is the name in parentheses, which may hold anything.
    fields = stat[stat.rindex(")") + 2 :].split()
    first = 3
    if len(fields) <= _ARG_END_FIELD - first:
        return CommandLine(0, 0)
    return CommandLine(int(fields[_ARG_START_FIELD - first]), int(fields[_ARG_END_FIELD - first]))
