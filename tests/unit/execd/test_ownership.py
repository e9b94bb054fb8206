"""Who owns new and changed files."""

import errno
import os
from pathlib import Path

import pytest

from arenero.errors import InvalidArgument
from arenero.execd.ownership import Owners, owners_of_existing, owners_of_new, set_mode, tolerated
from tests.unit.execd.filekit import USERS

DEFAULT = (1000, 1000)


@pytest.mark.parametrize(
    ("owner", "group", "expected"),
    [
        ("", "", Owners(1000, 1000)),
        ("alice", "", Owners(4001, 4001, is_asked_for=True)),
        ("alice", "team", Owners(4001, 4100, is_asked_for=True)),
        ("4242", "", Owners(4242, 1000, is_asked_for=True)),
        ("", "team", Owners(1000, 4100, is_asked_for=True)),
        ("", "77", Owners(1000, 77, is_asked_for=True)),
    ],
)
def test_new_file(owner: str, group: str, expected: Owners):
    assert owners_of_new(owner, group, USERS, DEFAULT) == expected


def test_new_file_of_an_acting_user_is_theirs_anyway():
    assert owners_of_new("", "", USERS, None) == Owners()


def test_existing_file_changes_only_what_is_named():
    assert owners_of_existing("bob", "", USERS) == Owners(4002, -1, is_asked_for=True)
    assert owners_of_existing("", "team", USERS) == Owners(-1, 4100, is_asked_for=True)


@pytest.mark.parametrize(
    ("owner", "group", "reason", "field"),
    [
        ("no", "", "USER_NOT_FOUND", "ownership.owner"),
        ("", "no", "GROUP_NOT_FOUND", "ownership.group"),
        ("-1", "", "USER_NOT_FOUND", "ownership.owner"),
        ("4294967295", "", "USER_NOT_FOUND", "ownership.owner"),
    ],
)
def test_unknown_name_is_an_error(owner: str, group: str, reason: str, field: str):
    for make in (lambda: owners_of_new(owner, group, USERS, DEFAULT), lambda: owners_of_existing(owner, group, USERS)):
        with pytest.raises(InvalidArgument) as error:
            make()
        assert (error.value.reason, error.value.field) == (reason, field)


def test_existing_file_needs_something_to_change():
    with pytest.raises(InvalidArgument):
        owners_of_existing("", "", USERS)


def failing(code: int):
    def change() -> None:
        raise OSError(code, os.strerror(code))

    return change


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP])
def test_refusal_of_the_file_system_is_tolerated_only_when_it_must_be_the_file_systems(code: int):
    assert tolerated(failing(code), has_rights=True) is False
    with pytest.raises(OSError):  # noqa: PT011
        tolerated(failing(code), has_rights=False)


def test_other_errors_are_errors():
    with pytest.raises(OSError, match="space"):
        tolerated(failing(errno.ENOSPC), has_rights=True)
    with pytest.raises(OSError, match="Invalid"):
        tolerated(failing(errno.EINVAL), has_rights=True)
    assert tolerated(failing(errno.EINVAL), has_rights=True, also=frozenset({errno.EINVAL})) is False


@pytest.mark.root
def test_owner_and_mode_are_given_by_descriptor_and_by_name(tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    fd = os.open(tmp_path / "file", os.O_RDONLY)
    dir_fd = os.open(tmp_path, os.O_PATH)
    try:
        assert Owners(4001, 4002).apply(fd, has_rights=True)
        assert set_mode(fd, 0o4750, has_rights=True)
        assert Owners(4003, -1).apply_to_link(dir_fd, b"link", has_rights=True)
        assert Owners().apply(fd, has_rights=True)
        assert Owners().apply_to_link(dir_fd, b"no such name", has_rights=True)
    finally:
        os.close(fd)
        os.close(dir_fd)
    file, link = (tmp_path / "file").stat(), (tmp_path / "link").lstat()
    assert (file.st_uid, file.st_gid, file.st_mode & 0o7777) == (4001, 4002, 0o4750)
    assert (link.st_uid, link.st_gid) == (4003, 0)
