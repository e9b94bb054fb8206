"""List filters from the API to the model."""

import pytest

from arenero.api.lifecycle.v1 import sandbox_pb2, sandbox_service_pb2
from arenero.errors import InvalidArgument
from arenero.lifecycle.codec.filters import decode_filter
from arenero.lifecycle.index import LIVE_STATES
from arenero.model.states import SandboxState


def test_nothing_said_means_everything_alive() -> None:
    assert decode_filter(sandbox_service_pb2.SandboxFilter()).states == LIVE_STATES


def test_ended_ones_are_included_when_asked() -> None:
    assert decode_filter(sandbox_service_pb2.SandboxFilter(include_ended=True)).states == frozenset(SandboxState)


def test_named_states_go_ahead() -> None:
    states = [sandbox_pb2.SANDBOX_STATE_FAILED, sandbox_pb2.SANDBOX_STATE_PAUSED]
    found = decode_filter(sandbox_service_pb2.SandboxFilter(states=states, metadata={"a": "b"}, name="n", runtime="r"))
    assert found.states == {SandboxState.FAILED, SandboxState.PAUSED}
    assert (found.metadata, found.name, found.runtime) == ({"a": "b"}, "n", "r")


@pytest.mark.parametrize("number", [0, 99])
def test_an_unknown_state_is_refused(number: int) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        decode_filter(sandbox_service_pb2.SandboxFilter(states=[1, number]))  # type: ignore[list-item]
    assert refusal.value.field == "filter.states[1]"
