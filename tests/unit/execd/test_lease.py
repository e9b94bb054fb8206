"""The lease: one deadline, moved by revision."""

from __future__ import annotations

from arenero.execd.lease import Lease


def test_lease_without_end_never_expires() -> None:
    lease = Lease(None, 100.0)
    assert lease.left_s(1e9) is None
    assert not lease.expired(1e9)


def test_lease_expires_at_its_deadline() -> None:
    lease = Lease(10.0, 100.0)
    assert lease.left_s(104.0) == 6.0
    assert not lease.expired(109.999)
    assert lease.expired(110.0)
    assert lease.left_s(120.0) == 0.0


def test_newer_or_same_revision_moves_it_either_way() -> None:
    lease = Lease(10.0, 100.0)
    lease.set(100.0, 3, 105.0)
    assert lease.left_s(105.0) == 100.0
    lease.set(1.0, 3, 105.0)
    assert lease.left_s(105.0) == 1.0
    lease.set(None, 4, 105.0)
    assert lease.left_s(105.0) is None
    assert lease.revision == 4


def test_older_revision_changes_nothing() -> None:
    lease = Lease(10.0, 100.0)
    lease.set(50.0, 3, 100.0)
    lease.set(0.0, 2, 100.0)
    assert (lease.revision, lease.left_s(100.0)) == (3, 50.0)


def test_cleared_lease_does_not_expire_again() -> None:
    lease = Lease(1.0, 100.0)
    lease.clear()
    assert not lease.expired(200.0)
