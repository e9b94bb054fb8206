"""`SandboxFilter` from the API to the model."""

from __future__ import annotations

from arenero.api.lifecycle.v1 import sandbox_service_pb2 as pb
from arenero.errors import InvalidArgument
from arenero.lifecycle.codec.record import STATES_BY_NUMBER
from arenero.lifecycle.index import LIVE_STATES, SandboxFilter
from arenero.model.states import SandboxState


def decode_filter(message: pb.SandboxFilter) -> SandboxFilter:
    """Return a filter from the API's form.

    Raises:
        InvalidArgument: It names a state that this version doesn't know.
    """
    return SandboxFilter(
        states=_states(message), metadata=dict(message.metadata), name=message.name, runtime=message.runtime
    )


def _states(message: pb.SandboxFilter) -> frozenset[SandboxState]:
    for index, number in enumerate(message.states):
        if number not in STATES_BY_NUMBER:
            raise InvalidArgument(f"has the value {number}, which is no state", field=f"filter.states[{index}]")
    if message.states:
        return frozenset(STATES_BY_NUMBER[number] for number in message.states)
    return frozenset(SandboxState) if message.include_ended else LIVE_STATES
