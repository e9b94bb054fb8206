"""Users and groups from files that belong to the sandbox."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arenero.execd.accounts import Account, Accounts, Directory, parse_group, parse_id, parse_passwd

PASSWD = b"root:x:0:0:root:/root:/bin/bash\nsandbox:x:1000:1000::/home/sandbox:/bin/sh\n"
GROUP = b"root:x:0:\nsandbox:x:1000:\nteam:x:2000:sandbox,other\ntwice:x:2000:sandbox\n"


@pytest.fixture
def directory() -> Directory:
    return Directory(parse_passwd(PASSWD), parse_group(GROUP))


def test_user_is_found_by_name_and_number(directory: Directory):
    by_name = directory.find_user("sandbox")
    assert by_name == directory.find_user("1000") == Account("sandbox", 1000, 1000, "/home/sandbox", "/bin/sh")
    assert directory.find_user("nobody") is None


def test_number_without_entry_is_a_user_without_name(directory: Directory):
    assert directory.find_user("4242") == Account("", 4242, 4242, "/")


def test_groups_of_a_user_hold_the_primary_one_first_and_none_twice(directory: Directory):
    account = directory.find_user("sandbox")
    assert account is not None
    assert directory.groups_of(account) == (1000, 2000)


def test_names_of_ids(directory: Directory):
    assert (directory.user_name(0), directory.group_name(2000), directory.user_name(77)) == ("root", "team", "")


def test_first_of_several_entries_counts():
    directory = Directory(parse_passwd(b"a:x:5:5::/:\na:x:6:6::/:\nb:x:5:5::/:\n"), ())
    assert directory.find_user("a") == Account("a", 5, 5)
    assert directory.user_name(5) == "a"


@pytest.mark.parametrize("text", ["", "-1", "4294967295", "99999999999", "1x", " 1", "\u0661"])
def test_what_is_no_id(text: str):
    assert parse_id(text) is None


@pytest.mark.parametrize(
    "line", [b"a:b:c", b":x:1:1::/:", b"a:x:-1:1::/:", b"a:x:1:99999999999::/:", b"\0\xff:::::::", b"a" * 100_000]
)
def test_line_that_makes_no_sense_is_left_out(line: bytes):
    assert [account.name for account in parse_passwd(line + b"\n" + PASSWD)] == ["root", "sandbox"]


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_content_is_fatal(content: bytes):
    Directory(parse_passwd(content), parse_group(content))


def test_files_are_read_again_when_they_change(tmp_path: Path):
    accounts = Accounts(str(tmp_path))
    assert accounts.read().find_user("sandbox") is None
    (tmp_path / "passwd").write_bytes(PASSWD)
    (tmp_path / "group").write_bytes(GROUP)
    first = accounts.read()
    assert first.user_name(1000) == "sandbox"
    assert accounts.read() is first
    (tmp_path / "passwd").write_bytes(PASSWD.replace(b"sandbox:x:1000", b"renamed:x:1000"))
    assert accounts.read().user_name(1000) == "renamed"


def test_fifo_in_the_place_of_a_file_does_not_hang(tmp_path: Path):
    os.mkfifo(tmp_path / "passwd")
    (tmp_path / "group").symlink_to("/dev/zero")
    done: list[Directory] = []
    thread = threading.Thread(target=lambda: done.append(Accounts(str(tmp_path)).read()), daemon=True)
    thread.start()
    thread.join(5)
    assert done == [Directory()]


def test_endless_file_is_read_in_part(tmp_path: Path):
    (tmp_path / "passwd").write_bytes(PASSWD + b"x" * 5_000_000)
    assert [account.name for account in Accounts(str(tmp_path)).read().accounts] == ["root", "sandbox"]
