"""Decisions about what the reconciler finds out: pure, and never against what was decided otherwise."""

from datetime import timedelta

import pytest

from arenero.lifecycle.facts import EXPIRED, Failed, Recovered, Stopping
from arenero.lifecycle.machine import apply
from arenero.lifecycle.records import Change, Decide
from arenero.lifecycle.verdicts import adopted, expired, found_dead, stopping, taken_over
from arenero.model.record import Endpoint, ExitFacts, Handle, SagaProgress
from arenero.model.states import SandboxState as S
from arenero.runtime.driver import Recovered as Found
from tests.unit.lifecycle.samples import EPOCH, a_record

OOM = ExitFacts(signal=9, oom_killed=True)
LIVING = [s for s in S if s.is_live and s is not S.STOPPING]
ENDING = [S.STOPPING, S.TERMINATED, S.FAILED]
ALL: list[Decide] = [
    found_dead(None),
    adopted("there", Found(running=True)),
    taken_over("there"),
    expired,
]


@pytest.mark.parametrize("state", ENDING)
@pytest.mark.parametrize("decide", ALL)
def test_what_ends_already_is_left_alone(decide: Decide, state: S) -> None:
    assert decide(a_record(state=state, expires_at=EPOCH), EPOCH) is None


@pytest.mark.parametrize("state", LIVING)
@pytest.mark.parametrize("decide", ALL)
def test_every_verdict_is_a_legal_move(decide: Decide, state: S) -> None:
    record = a_record(state=state, expires_at=EPOCH)
    change = decide(record, EPOCH)
    assert change is not None
    apply(record, change.fact, EPOCH, **change.fields)


def test_a_death_is_a_failure_with_its_cause() -> None:
    change = found_dead(OOM)(a_record(), EPOCH)
    assert change is not None
    assert isinstance(change.fact, Failed)
    assert change.fact.reason == "OUT_OF_MEMORY"
    assert change.fields["exit"] == OOM
    assert change.fields["failure"].kind == "FailedPrecondition"


@pytest.mark.parametrize(("early_s", "is_expiry"), [(0.0, True), (0.9, True), (1.1, False), (3600, False)])
def test_a_death_at_the_deadline_is_an_expiry(early_s: float, is_expiry: bool) -> None:
    """execd's own clock may come a moment before lifecycle's."""
    record = a_record(expires_at=EPOCH + timedelta(seconds=early_s))
    change = found_dead(ExitFacts(exit_code=0))(record, EPOCH)
    assert change is not None
    assert (change.fact == Stopping(EXPIRED)) == is_expiry


def test_nothing_expires_before_its_time() -> None:
    assert expired(a_record(expires_at=EPOCH + timedelta(microseconds=1)), EPOCH) is None
    assert expired(a_record(expires_at=EPOCH), EPOCH) == stopping(EXPIRED)


def test_a_deletion_begins_with_its_first_step() -> None:
    assert stopping("DELETED") == Change(Stopping("DELETED"), {"progress": SagaProgress("delete", step="stop")})


def test_an_adoption_takes_what_the_driver_gives() -> None:
    record = a_record(handle=Handle("fake", 1), endpoint=Endpoint("old"), owner="before")
    kept = adopted("here", Found(running=True, address="new"))(record, EPOCH)
    assert kept == Change(
        Recovered("here"), {"handle": Handle("fake", 1), "endpoint": Endpoint("new"), "owner": "here"}
    )
    moved = adopted("here", Found(running=True, handle=Handle("fake", 2)))(record, EPOCH)
    assert moved is not None
    assert (moved.fields["handle"], moved.fields["endpoint"]) == (Handle("fake", 2), None)


def test_what_is_ours_is_not_taken_over() -> None:
    assert taken_over("here")(a_record(owner="here"), EPOCH) is None
