import struct

import pytest

from arenero.isolation import landlock
from arenero.isolation.landlock import READ, WRITE, FileRight, Rules


@pytest.mark.parametrize(("level", "size"), [(1, 8), (3, 8), (4, 16), (5, 16), (6, 24), (7, 24), (99, 24)])
def test_attributes_have_the_size_that_the_abi_knows(level: int, size: int) -> None:
    assert len(landlock.ruleset_attributes(Rules(tcp_bind=()), level)) == size


def test_rights_that_an_older_kernel_does_not_know_are_left_out() -> None:
    assert FileRight.REFER not in landlock.handled_rights(1)
    assert FileRight.REFER in landlock.handled_rights(2)
    assert FileRight.TRUNCATE not in landlock.handled_rights(2)
    assert FileRight.IOCTL_DEV in landlock.handled_rights(5)
    assert landlock.handled_rights(42) == landlock.handled_rights(5)


def test_ports_are_handled_only_when_they_are_listed() -> None:
    assert struct.unpack("<QQQ", landlock.ruleset_attributes(Rules(), 6))[1] == 0
    assert struct.unpack("<QQQ", landlock.ruleset_attributes(Rules(tcp_connect=(80,)), 6))[1] == 2
    assert struct.unpack("<QQQ", landlock.ruleset_attributes(Rules(tcp_bind=(), tcp_connect=()), 6))[1] == 3


def test_scoping_can_be_left_out() -> None:
    assert struct.unpack("<QQQ", landlock.ruleset_attributes(Rules(), 6))[2] == 3
    assert struct.unpack("<QQQ", landlock.ruleset_attributes(Rules(scoped=False), 6))[2] == 0


def test_reading_never_writes_and_writing_makes_no_devices() -> None:
    assert not READ & WRITE
    assert not WRITE & (FileRight.MAKE_BLOCK | FileRight.MAKE_CHAR)


def test_gaps_shrink_with_the_abi() -> None:
    gaps = [landlock.missing_at(level) for level in range(8)]
    assert [len(gap) for gap in gaps] == [6, 5, 4, 3, 2, 1, 0, 0]
