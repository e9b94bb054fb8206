"""The streams and what each keeps.

State streams are the database: nothing ages out, and a full disk refuses new messages instead of dropping old ones.
Messages leave them only by `purge` of a key whose retention is over. The activity stream is a bounded history: it drops
the oldest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from arenero.bus.log import DUPLICATE_WINDOW_S
from arenero.bus.subjects import Kind

_NS_PER_S: Final = 1_000_000_000
_DAY_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream as it should be on the server."""

    name: str
    subject_filter: str
    description: str
    keeps_all: bool = True
    """Refuse new messages when full (state) rather than drop the oldest (history)."""
    max_age_s: float = 0.0
    """Messages older than this are dropped; 0 keeps them for ever."""
    max_bytes: int = -1
    """Size of the stream on disk at which `keeps_all` decides; -1 sets no limit but the disk's."""
    replicas: int = 1

    def to_config(self) -> dict[str, object]:
        """Return the JetStream configuration."""
        return {
            "name": self.name,
            "description": self.description,
            "subjects": [self.subject_filter],
            "retention": "limits",
            "storage": "file",
            "discard": "new" if self.keeps_all else "old",
            "max_age": int(self.max_age_s * _NS_PER_S),
            "max_bytes": self.max_bytes,
            "max_msgs": -1,
            "max_msgs_per_subject": -1,
            "max_consumers": -1,
            "num_replicas": self.replicas,
            "duplicate_window": int(DUPLICATE_WINDOW_S * _NS_PER_S),
            "allow_direct": True,
            "deny_delete": True,
        }


def _state(kind: Kind, description: str) -> Stream:
    return Stream(kind.stream, f"{kind.value}.>", description)


STREAMS: Final[Mapping[Kind, Stream]] = {
    Kind.SANDBOX: _state(Kind.SANDBOX, "Sandbox records and facts; written by lifecycle"),
    Kind.SNAPSHOT: _state(Kind.SNAPSHOT, "Snapshot records and facts; written by snapshot"),
    Kind.POOL: _state(Kind.POOL, "Pool records and facts; written by warmpool"),
    Kind.VAULT: _state(Kind.VAULT, "Vault records and facts; written by vault"),
    Kind.KEY: _state(Kind.KEY, "API key records and facts; written by gateway"),
    Kind.ACTIVITY: Stream(
        Kind.ACTIVITY.stream,
        f"{Kind.ACTIVITY.value}.>",
        "What happened in and around sandboxes without a change of state",
        keeps_all=False,
        max_age_s=7 * _DAY_S,
        max_bytes=1024 * 1024 * 1024,
    ),
}
"""Every stream, by the kind of subject that it holds."""
