"""What a state says about the sandbox in it."""

from arenero.model.states import SandboxState


def test_ended_states_hold_nothing_of_the_host() -> None:
    ended = {SandboxState.TERMINATED, SandboxState.FAILED}
    assert {state for state in SandboxState if state.is_final} == ended
    assert {state for state in SandboxState if not state.is_live} == ended


def test_transient_states_change_by_themselves() -> None:
    assert {state.value for state in SandboxState if state.is_transient} == {
        "pending",
        "pausing",
        "resuming",
        "stopping",
    }
