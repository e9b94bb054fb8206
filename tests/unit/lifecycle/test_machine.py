"""The state table: complete, and nothing in it that the theory above it denies."""

from datetime import timedelta
from itertools import product

import pytest

from arenero.errors import FailedPrecondition
from arenero.lifecycle import facts
from arenero.lifecycle.facts import FACTS, Fact
from arenero.lifecycle.machine import BIRTH, TRANSITIONS, allows, apply, next_state
from arenero.model.record import Endpoint, Failure, Handle, SagaProgress
from arenero.model.states import SandboxState
from arenero.model.states import SandboxState as S
from tests.unit.lifecycle.samples import EPOCH, a_record

EXAMPLES: dict[type[Fact], Fact] = {
    facts.Requested: facts.Requested(),
    facts.Progressed: facts.Progressed("create", "prepare"),
    facts.Started: facts.Started(1.0),
    facts.Failed: facts.Failed("OUT_OF_MEMORY", "no memory"),
    facts.Renewed: facts.Renewed(None, EPOCH),
    facts.MetadataUpdated: facts.MetadataUpdated(),
    facts.PolicyUpdated: facts.PolicyUpdated(0),
    facts.Pausing: facts.Pausing("freeze"),
    facts.Paused: facts.Paused(1.0),
    facts.Resuming: facts.Resuming(),
    facts.Resumed: facts.Resumed(1.0),
    facts.Stopping: facts.Stopping("DELETED"),
    facts.Terminated: facts.Terminated("DELETED"),
    facts.Claimed: facts.Claimed("pool", "key"),
    facts.Forked: facts.Forked(()),
    facts.Recovered: facts.Recovered("here"),
}
LATER = EPOCH + timedelta(minutes=1)
ENDS = (facts.Terminated, facts.Failed)


def test_every_state_has_a_row_and_every_fact_an_example() -> None:
    assert set(TRANSITIONS) == set(SandboxState)
    assert set(EXAMPLES) == set(FACTS)


def test_facts_have_words_of_their_own() -> None:
    assert len({fact.word for fact in FACTS}) == len(FACTS)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.word)
def test_every_fact_can_happen(fact: type[Fact]) -> None:
    assert fact in BIRTH or any(fact in row for row in TRANSITIONS.values())


@pytest.mark.parametrize(("state", "fact"), list(product([None, *SandboxState], FACTS)))
def test_a_pair_is_listed_or_illegal(state: SandboxState | None, fact: type[Fact]) -> None:
    row = BIRTH if state is None else TRANSITIONS[state]
    if fact in row:
        assert next_state(state, EXAMPLES[fact]) is row[fact]
        assert allows(state, fact)
    else:
        assert not allows(state, fact)
        with pytest.raises(FailedPrecondition) as refusal:
            next_state(state, EXAMPLES[fact])
        assert refusal.value.reason == f"SANDBOX_{state.value.upper() if state else 'ABSENT'}"


@pytest.mark.parametrize("state", [s for s in SandboxState if not s.is_final])
def test_every_living_sandbox_can_be_deleted(state: SandboxState) -> None:
    """Deletion begins from anywhere, and once begun it can only end."""
    if state is not S.STOPPING:
        assert TRANSITIONS[state][facts.Stopping] is S.STOPPING
    assert set(TRANSITIONS[S.STOPPING].values()) == {S.STOPPING, S.TERMINATED}


@pytest.mark.parametrize("state", [s for s in SandboxState if s.is_transient])
def test_every_transient_state_is_left_by_its_saga(state: SandboxState) -> None:
    onward = {fact for fact, after in TRANSITIONS[state].items() if after is not state}
    assert onward - {facts.Stopping, facts.Failed}


def test_nothing_follows_an_end_but_cleaning_up() -> None:
    """Every sandbox ends by exactly one fact."""
    for state in (S.TERMINATED, S.FAILED):
        assert set(TRANSITIONS[state].values()) <= {state}
        assert not set(TRANSITIONS[state]) & set(ENDS)
    for state, row in TRANSITIONS.items():
        for fact, after in row.items():
            assert (after.is_final and not state.is_final) == (fact in ENDS)


@pytest.mark.parametrize(("state", "fact"), [(s, f) for s, row in TRANSITIONS.items() for f in row])
def test_apply_keeps_identity_and_sets_the_time(state: SandboxState, fact: type[Fact]) -> None:
    before = a_record(state=state)
    after = apply(before, EXAMPLES[fact], LATER)
    assert after.state is TRANSITIONS[state][fact]
    assert after.updated_at == LATER
    assert (after.id, after.tenant, after.created_at, after.revision) == (
        before.id,
        before.tenant,
        before.created_at,
        before.revision,
    )
    assert (after.ended_at == LATER) == (fact in ENDS)


def test_started_keeps_the_first_start() -> None:
    first = apply(a_record(state=S.PENDING), facts.Started(1.0), LATER)
    assert first.started_at == LATER
    again = apply(a_record(state=S.PENDING, started_at=EPOCH), facts.Started(1.0), LATER)
    assert again.started_at == EPOCH


def test_failed_keeps_the_handle_and_the_first_cause() -> None:
    handle = Handle("fake", 1)
    running = a_record(handle=handle, endpoint=Endpoint("unix:/x"))
    failed = apply(running, facts.Failed("OUT_OF_MEMORY", "no memory"), LATER)
    assert failed.failure == Failure("OUT_OF_MEMORY", "no memory")
    assert (failed.handle, failed.endpoint) == (handle, None)
    undone = a_record(state=S.PENDING, failure=Failure("NO_ROOM", "full", "ResourceExhausted", "spec"))
    assert apply(undone, facts.Failed("NO_ROOM", "full"), LATER).failure == undone.failure


def test_terminated_leaves_nothing_of_the_host_in_the_record() -> None:
    stopping = a_record(
        state=S.STOPPING, handle=Handle("fake", 1), endpoint=Endpoint("unix:/x"), progress=SagaProgress("delete")
    )
    ended = apply(stopping, facts.Terminated("DELETED"), LATER)
    assert (ended.handle, ended.endpoint, ended.progress) == (None, None, None)


def test_more_fields_go_ahead_of_the_facts_own() -> None:
    progress = SagaProgress("delete", step="stop")
    assert apply(a_record(), facts.Stopping("DELETED"), LATER, progress=progress).progress == progress


def test_a_failed_pause_says_why_until_the_next_one() -> None:
    failure = Failure("BUSY", "it would not stand still")
    back = apply(a_record(state=S.PAUSING, failure=failure), facts.Resumed(0.1), LATER)
    assert (back.state, back.failure) == (S.RUNNING, failure)
    paused = apply(a_record(state=S.PAUSING, failure=failure), facts.Paused(0.1), LATER)
    assert paused.failure is None
