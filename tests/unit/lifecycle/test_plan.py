"""What is to do about a sandbox, by its record and the time."""

from datetime import timedelta

import pytest

from arenero.lifecycle.plan import Work, is_expired, work_for
from arenero.model.record import Handle
from arenero.model.states import SandboxState as S
from tests.unit.lifecycle.samples import EPOCH, a_record


@pytest.mark.parametrize(
    ("state", "work"),
    [
        (S.PENDING, Work.CREATE),
        (S.RUNNING, Work.KEEP),
        (S.PAUSING, Work.PAUSE),
        (S.PAUSED, Work.KEEP),
        (S.RESUMING, Work.RESUME),
        (S.STOPPING, Work.DELETE),
        (S.TERMINATED, Work.REST),
        (S.FAILED, Work.REST),
    ],
)
def test_each_state_has_its_work(state: S, work: Work) -> None:
    assert work_for(a_record(state=state), EPOCH) is work


def test_what_failed_and_is_still_held_is_cleaned_up() -> None:
    assert work_for(a_record(state=S.FAILED, handle=Handle("fake", 1)), EPOCH) is Work.CLEAN


@pytest.mark.parametrize("state", [s for s in S if s.is_live and s is not S.STOPPING])
def test_the_end_of_a_lifetime_goes_first(state: S) -> None:
    record = a_record(state=state, expires_at=EPOCH)
    assert work_for(record, EPOCH) is Work.EXPIRE
    assert work_for(record, EPOCH - timedelta(microseconds=1)) is not Work.EXPIRE


@pytest.mark.parametrize("state", [S.STOPPING, S.TERMINATED, S.FAILED])
def test_what_ends_already_does_not_expire(state: S) -> None:
    assert work_for(a_record(state=state, expires_at=EPOCH), EPOCH) is not Work.EXPIRE


def test_without_an_end_nothing_expires() -> None:
    assert not is_expired(a_record(expires_at=None), EPOCH)
