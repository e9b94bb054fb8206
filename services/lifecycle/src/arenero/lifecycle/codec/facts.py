"""Facts about a sandbox between the log and the model: one message for each, in both directions.

A fact of a later version that this one doesn't know reads as None: the record beside it tells all that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from google.protobuf.message import Message

from arenero.api.events.v1 import sandbox_events_pb2 as events
from arenero.api.lifecycle.v1 import sandbox_pb2
from arenero.lifecycle import facts
from arenero.lifecycle.codec.scalars import from_duration, from_timestamp, to_duration, to_timestamp

PAUSE_MODES: Final = {
    "freeze": sandbox_pb2.PAUSE_MODE_FREEZE,
    "checkpoint": sandbox_pb2.PAUSE_MODE_CHECKPOINT,
    "release": sandbox_pb2.PAUSE_MODE_RELEASE,
}
PAUSE_MODE_WORDS: Final = {number: word for word, number in PAUSE_MODES.items()}

_ENCODERS: Final[Mapping[type[facts.Fact], Callable[[Any], Message]]] = {
    facts.Requested: lambda f: events.SandboxRequested(request_id=f.request_id),
    facts.Progressed: lambda f: events.SandboxProgressed(
        saga=f.saga, step=f.step, took=to_duration(f.took_s), undone=f.undone
    ),
    facts.Started: lambda f: events.SandboxStarted(took=to_duration(f.took_s)),
    facts.Failed: lambda f: events.SandboxFailed(reason=f.reason, message=f.message, step=f.step),
    facts.Renewed: lambda f: events.SandboxRenewed(
        previous_expires_at=to_timestamp(f.previous_expires_at), expires_at=to_timestamp(f.expires_at)
    ),
    facts.MetadataUpdated: lambda f: events.SandboxMetadataUpdated(set_keys=f.set_keys, removed_keys=f.removed_keys),
    facts.PolicyUpdated: lambda f: events.SandboxPolicyUpdated(rules=f.rules),
    facts.Pausing: lambda f: events.SandboxPausing(mode=PAUSE_MODES[f.mode]),
    facts.Paused: lambda f: events.SandboxPaused(took=to_duration(f.took_s)),
    facts.Resuming: lambda _: events.SandboxResuming(),
    facts.Resumed: lambda f: events.SandboxResumed(took=to_duration(f.took_s)),
    facts.Stopping: lambda f: events.SandboxStopping(reason=f.reason),
    facts.Terminated: lambda f: events.SandboxTerminated(reason=f.reason, ran_for=to_duration(f.ran_for_s)),
    facts.Claimed: lambda f: events.SandboxClaimed(pool_id=f.pool_id, claimed_by=f.claimed_by),
    facts.Forked: lambda f: events.SandboxForked(sandbox_ids=f.sandbox_ids),
    facts.Recovered: lambda f: events.SandboxRecovered(instance=f.instance),
}

_DECODERS: Final[Mapping[str, Callable[[Any], facts.Fact]]] = {
    "requested": lambda m: facts.Requested(m.request_id),
    "progressed": lambda m: facts.Progressed(m.saga, m.step, from_duration(m.took), m.undone),
    "started": lambda m: facts.Started(from_duration(m.took)),
    "failed": lambda m: facts.Failed(m.reason, m.message, m.step),
    "renewed": lambda m: facts.Renewed(
        from_timestamp(m.previous_expires_at) if m.HasField("previous_expires_at") else None,
        from_timestamp(m.expires_at),
    ),
    "metadata_updated": lambda m: facts.MetadataUpdated(tuple(m.set_keys), tuple(m.removed_keys)),
    "policy_updated": lambda m: facts.PolicyUpdated(m.rules),
    "pausing": lambda m: facts.Pausing(PAUSE_MODE_WORDS[m.mode]),
    "paused": lambda m: facts.Paused(from_duration(m.took)),
    "resuming": lambda _: facts.Resuming(),
    "resumed": lambda m: facts.Resumed(from_duration(m.took)),
    "stopping": lambda m: facts.Stopping(m.reason),
    "terminated": lambda m: facts.Terminated(m.reason, from_duration(m.ran_for) if m.HasField("ran_for") else None),
    "claimed": lambda m: facts.Claimed(m.pool_id, m.claimed_by),
    "forked": lambda m: facts.Forked(tuple(m.sandbox_ids)),
    "recovered": lambda m: facts.Recovered(m.instance),
}


def encode_fact(fact: facts.Fact) -> Message:
    """Return the message of a fact; its field in `SandboxEvent` is called as the fact's word."""
    return _ENCODERS[type(fact)](fact)


def decode_fact(event: events.SandboxEvent) -> facts.Fact | None:
    """Return the fact of an event; None when this version doesn't know it."""
    word = event.WhichOneof("fact")
    decode = _DECODERS.get(word) if word else None
    return decode(getattr(event, word)) if decode and word else None
