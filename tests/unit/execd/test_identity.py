"""Acting with a user's rights: the kernel checks them, in one thread only."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arenero.errors import InvalidArgument, Unsupported
from arenero.execd import filecalls
from arenero.execd.identity import Identity, acting_as, identity_of
from arenero.isolation import capabilities
from tests.unit.execd.filekit import ALICE, USERS, shared_directory


@pytest.mark.parametrize(
    ("who", "identity"),
    [
        ("alice", ALICE),
        ("4001", ALICE),
        ("alice:bob", Identity(4001, 4002, (4001, 4100))),
        ("4242", Identity(4242, 4242, (4242,))),
        ("4242:team", Identity(4242, 4100, (4242,))),
    ],
)
def test_user_may_be_named_in_several_ways(who: str, identity: Identity):
    assert identity_of(who, USERS) == identity


@pytest.mark.parametrize(
    ("who", "reason"), [("nobody", "USER_NOT_FOUND"), (":0", "USER_NOT_FOUND"), ("alice:no", "GROUP_NOT_FOUND")]
)
def test_unknown_user_is_an_error(who: str, reason: str):
    with pytest.raises(InvalidArgument) as error:
        identity_of(who, USERS)
    assert (error.value.reason, error.value.field) == (reason, "root.as_user")


@pytest.fixture
def shared():
    with shared_directory() as path:
        yield path


def in_thread(call):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(20)


def state() -> tuple[object, ...]:
    return filecalls.filesystem_ids(), os.getgroups(), capabilities.read()


@pytest.mark.root
def test_thread_has_the_users_rights_and_gets_its_own_back(shared: Path):
    (shared / "secret").write_text("x")
    (shared / "secret").chmod(0o600)
    (shared / "for the team").write_text("x")
    (shared / "for the team").chmod(0o040)
    os.chown(shared / "for the team", 0, 4100)

    def work() -> None:
        before = state()
        with acting_as(ALICE):
            with pytest.raises(PermissionError):
                (shared / "secret").read_text()
            assert (shared / "for the team").read_text() == "x"
            assert capabilities.read()[0] == 0
        assert state() == before
        assert (shared / "secret").read_text() == "x"

    in_thread(work)


@pytest.mark.root
def test_user_0_has_no_capabilities_either(shared: Path):
    (shared / "bobs").write_text("x")
    os.chown(shared / "bobs", 4002, 4002)
    (shared / "bobs").chmod(0o600)

    def work() -> None:
        with acting_as(Identity(0, 0, (0,))), pytest.raises(PermissionError):
            (shared / "bobs").read_text()

    in_thread(work)


@pytest.mark.root
def test_rights_come_back_after_an_error():
    def work() -> None:
        before = state()
        with pytest.raises(ZeroDivisionError), acting_as(ALICE):
            raise ZeroDivisionError
        assert state() == before

    in_thread(work)


@pytest.mark.root
def test_nothing_is_done_where_users_cant_be_changed():
    """Fail closed: a daemon without the capability must not go on with its own rights."""

    def work() -> bool:
        _, permitted, _ = capabilities.read()
        no_switch = permitted & ~capabilities.mask_of(frozenset({"SETUID", "SETGID"}))
        capabilities.write(no_switch, no_switch, 0)
        with pytest.raises(Unsupported) as error, acting_as(ALICE):
            pytest.fail("must not get here")
        assert error.value.reason == "USER_SWITCH_UNAVAILABLE"
        return filecalls.filesystem_ids() == (0, 0)

    assert in_thread(work)


@pytest.mark.root
def test_a_user_that_cant_be_become_is_refused():
    def work() -> None:
        _, permitted, _ = capabilities.read()
        no_uids = permitted & ~capabilities.mask_of(frozenset({"SETUID"}))
        capabilities.write(no_uids, no_uids, 0)
        with pytest.raises(Unsupported), acting_as(ALICE):
            pytest.fail("must not get here")

    in_thread(work)
