"""From a spec to a launch: user, place, environment, program."""

from __future__ import annotations

import dataclasses
import resource
from pathlib import Path

import pytest

from arenero.execd.accounts import Accounts
from arenero.execd.daemon import DAEMON_ID
from arenero.execd.outcome import FailureKind
from arenero.execd.plan import InitPlan, Login
from arenero.execd.spec import Spec, Terminal, UserIds
from arenero.execd.surroundings import MAX_ARGUMENT_BYTES, SHELLS, Surroundings, Unstartable

PASSWD = "root:x:0:0::/root:/bin/bash\nsandbox:x:1000:1000::/home/sandbox:/bin/zsh\nann:x:1001:1002::{home}:\n"
GROUP = "staff:x:50:sandbox,ann\nwheel:x:10:ann\n"


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    (tmp_path / "passwd").write_text(PASSWD.format(home=tmp_path))
    (tmp_path / "group").write_text(GROUP)
    return tmp_path


@pytest.fixture
def plan(etc: Path) -> InitPlan:
    return InitPlan(sandbox_id="x", login=Login(cwd=str(etc)), env={"FROM": "plan"})


@pytest.fixture
def surroundings(plan: InitPlan, etc: Path) -> Surroundings:
    return Surroundings(plan, Accounts(str(etc)))


def test_default_user_is_the_plans_with_the_groups_of_its_name(surroundings: Surroundings, etc: Path) -> None:
    launch = surroundings.prepare(Spec(argv=(b"true",))).launch
    assert (launch.uid, launch.gid, launch.groups) == (1000, 1000, (1000, 50))
    assert launch.cwd == str(etc).encode()
    assert launch.env[b"HOME"] == b"/home/sandbox"
    assert launch.env[b"USER"] == launch.env[b"LOGNAME"] == b"sandbox"


def test_named_user_has_home_groups_and_place_of_its_entry(surroundings: Surroundings, etc: Path) -> None:
    launch = surroundings.prepare(Spec(argv=(b"true",), user="ann")).launch
    assert (launch.uid, launch.gid, launch.groups) == (1001, 1002, (1002, 50, 10))
    assert launch.cwd == launch.env[b"HOME"] == str(etc).encode()
    assert launch.env[b"SHELL"] == b"/bin/sh"


def test_ids_without_entry_have_the_root_as_home(surroundings: Surroundings) -> None:
    """Case 27."""
    launch = surroundings.prepare(Spec(argv=(b"true",), user=UserIds(4000, 4001, (7,)))).launch
    assert (launch.uid, launch.gid, launch.groups) == (4000, 4001, (7,))
    assert (launch.cwd, launch.env[b"HOME"], launch.env[b"USER"]) == (b"/", b"/", b"4000")


@pytest.mark.parametrize("user", ["nobody-here", UserIds(70_000, 0), UserIds(0, 0, (70_000,)), UserIds(DAEMON_ID, 0)])
def test_user_that_cannot_be_is_told(surroundings: Surroundings, user: str | UserIds) -> None:
    with pytest.raises(Unstartable) as caught:
        surroundings.prepare(Spec(argv=(b"true",), user=user))
    assert caught.value.failure.kind is FailureKind.BAD_USER


@pytest.mark.parametrize(("user", "ids"), [("0", (0, 0)), ("4000:4001", (4000, 4001)), ("4000", (4000, 4000))])
def test_user_that_the_sandbox_was_made_with_is_the_default(
    plan: InitPlan, etc: Path, user: str, ids: tuple[int, int]
) -> None:
    theirs = dataclasses.replace(plan, login=Login(user=user, workdir="/srv/not-there"))
    surroundings = Surroundings(theirs, Accounts(str(etc)))
    launch = surroundings.prepare(Spec(argv=(b"true",))).launch
    assert (launch.uid, launch.gid, launch.cwd) == (*ids, b"/srv/not-there")
    assert surroundings.prepare(Spec(argv=(b"true",), user=UserIds(7, 7), cwd=b"/")).launch.uid == 7


def test_unknown_default_user_is_told(plan: InitPlan, etc: Path) -> None:
    theirs = dataclasses.replace(plan, login=Login(user="nobody-here"))
    with pytest.raises(Unstartable, match="nobody-here"):
        Surroundings(theirs, Accounts(str(etc))).prepare(Spec(argv=(b"true",)))


def test_sandbox_with_one_id_keeps_its_groups(plan: InitPlan, etc: Path) -> None:
    alone = dataclasses.replace(plan, ids=1, login=Login(0, 0, "root", "/root", "/"))
    launch = Surroundings(alone, Accounts(str(etc))).prepare(Spec(argv=(b"true",))).launch
    assert (launch.uid, launch.groups) == (0, None)
    with pytest.raises(Unstartable):
        Surroundings(alone, Accounts(str(etc))).prepare(Spec(argv=(b"true",), user="ann"))


def test_environment_is_default_then_plan_then_request(surroundings: Surroundings) -> None:
    env = surroundings.prepare(Spec(shell="x", env={"FROM": b"request", "LANG": b"\xff"}), "00-trace").launch.env
    assert (env[b"FROM"], env[b"LANG"], env[b"TRACEPARENT"]) == (b"request", b"\xff", b"00-trace")
    assert env[b"TERM"] == b"dumb"


def test_terminal_sets_term_and_a_cleared_environment_has_no_more(surroundings: Surroundings) -> None:
    spec = Spec(argv=(b"x",), terminal=Terminal(term="vt100"), clear_env=True, env={"A": b"1"})
    assert surroundings.prepare(spec, "00-trace").launch.env == {b"TERM": b"vt100", b"A": b"1"}


def test_program_without_slash_is_searched_in_the_execs_own_path(surroundings: Surroundings) -> None:
    launch = surroundings.prepare(Spec(argv=(b"prog", b"arg"), env={"PATH": b"/a::/b"})).launch
    assert launch.programs == ((b"/a/prog", b"prog"), (b"./prog", b"prog"), (b"/b/prog", b"prog"))
    assert (launch.searched, launch.arguments) == (True, (b"arg",))


def test_program_with_slash_is_taken_as_it_is(surroundings: Surroundings) -> None:
    launch = surroundings.prepare(Spec(argv=(b"./prog",))).launch
    assert (launch.programs, launch.searched) == (((b"./prog", b"./prog"),), False)


def test_shell_line_runs_in_the_first_shell_there_is(surroundings: Surroundings) -> None:
    launch = surroundings.prepare(Spec(shell="echo hi")).launch
    assert (launch.programs, launch.arguments) == (SHELLS, (b"-c", b"echo hi"))
    assert surroundings.prepare(Spec(shell="-x")).launch.arguments == (b"-c", b"--", b"-x")


@pytest.mark.parametrize("character", ["a", "€", "\U0001f600"])
def test_shell_line_longer_than_an_argument_becomes_a_script(surroundings: Surroundings, character: str) -> None:
    size = len(character.encode())
    fits = character * (MAX_ARGUMENT_BYTES // size)
    assert surroundings.prepare(Spec(shell=fits)).script == b""
    prepared = surroundings.prepare(Spec(shell=fits + character))
    assert prepared.script.endswith((fits + character).encode())
    assert len(prepared.launch.arguments[-1]) < 100


def test_plans_limits_apply_as_far_as_they_may(plan: InitPlan, etc: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limited = Surroundings(dataclasses.replace(plan, open_files=64), Accounts(str(etc)))
    assert limited.prepare(Spec(argv=(b"x",))).launch.rlimits == ((resource.RLIMIT_NOFILE, 64),)
    own = Spec(argv=(b"x",), rlimits=((resource.RLIMIT_NOFILE, 32),))
    assert limited.prepare(own).launch.rlimits[-1] == (resource.RLIMIT_NOFILE, 32)
    if hard != resource.RLIM_INFINITY:
        greedy = Surroundings(dataclasses.replace(plan, open_files=hard * 2), Accounts(str(etc)))
        # What is inherited anyway is not set again.
        expected = () if soft == hard else ((resource.RLIMIT_NOFILE, hard),)
        assert greedy.prepare(Spec(argv=(b"x",))).launch.rlimits == expected
