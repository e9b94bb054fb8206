"""What surrounds a process that is not stated in its request: who it runs as, where, and in which environment.

All of it comes from the plan and from the sandbox's own passwd and group files, never from execd's own environment.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from arenero.execd.accounts import Account, Accounts, Directory
from arenero.execd.daemon import DAEMON_ID
from arenero.execd.launch import Launch
from arenero.execd.outcome import StartFailure, bad_user
from arenero.execd.plan import InitPlan
from arenero.execd.spec import Spec, UserIds

DEFAULT_PATH: Final = b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHELLS: Final = ((b"/bin/bash", b"bash"), (b"/usr/bin/bash", b"bash"), (b"/bin/sh", b"sh"))
SCRIPT_FD: Final = 9
MAX_ARGUMENT_BYTES: Final = 128 * 1024 - 1
"""The kernel takes no longer single argument (MAX_ARG_STRLEN)."""
_MOST_LOGINS: Final = 64
_SOURCE_SCRIPT: Final = b". /proc/self/fd/%d" % SCRIPT_FD
_CLOSE_SCRIPT: Final = b"exec %d<&-; " % SCRIPT_FD


class Unstartable(Exception):
    """A launch can't even be tried."""

    def __init__(self, failure: StartFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Prepared:
    """A launch without its descriptors' targets, and the shell line that is too long for an argument."""

    launch: Launch
    script: bytes = b""


@dataclass(frozen=True, slots=True)
class _Login:
    """What the execs of one user have in common."""

    ids: UserIds
    home: bytes
    """Where they run when the request doesn't say, if it exists: a missing home is no reason to fail."""
    env: Mapping[bytes, bytes]


class Surroundings:
    """Turns specs into launches."""

    def __init__(self, plan: InitPlan, accounts: Accounts) -> None:
        self._plan = plan
        self._accounts = accounts
        self._env = dict(plan.env)
        self._directory: Directory | None = None
        self._logins: dict[str | UserIds | None, _Login] = {}
        self._rlimits = _rlimits_of(plan)

    def replace_env(self, env: Mapping[str, str]) -> None:
        """Change the sandbox's own environment."""
        self._env = dict(env)
        self._logins.clear()

    def prepare(self, spec: Spec, traceparent: str = "") -> Prepared:
        """Return the launch of a spec.

        Raises:
            Unstartable: The user does not exist.
        """
        login = self._login(spec.user)
        env = _environment(spec, login, traceparent)
        script = _script_of(spec)
        launch = Launch(
            programs=_programs(spec, env),
            arguments=_arguments(spec, script),
            searched=bool(spec.argv) and b"/" not in spec.argv[0],
            env=env,
            cwd=spec.cwd or self._plan.login.workdir.encode() or (login.home if os.path.isdir(login.home) else b"/"),
            uid=login.ids.uid,
            gid=login.ids.gid,
            groups=None if self._plan.ids == 1 or self._plan.one_user else login.ids.groups,
            umask=spec.umask,
            rlimits=(*self._rlimits, *spec.rlimits),
            nice=spec.nice,
            terminal=spec.terminal is not None,
        )
        return Prepared(launch, script)

    def _login(self, user: str | UserIds | None) -> _Login:
        """Return what a user's execs have in common; found out once, until the passwd or group file changes."""
        directory = self._accounts.read()
        if directory is not self._directory or len(self._logins) > _MOST_LOGINS:
            self._directory = directory
            self._logins.clear()
        login = self._logins.get(user)
        if login is None:
            login = self._logins[user] = self._find_login(user, directory)
        return login

    def _find_login(self, user: str | UserIds | None, directory: Directory) -> _Login:
        if user is None and self._plan.login.user:
            return self._find_login(_named(self._plan.login.user), directory)
        if user is None:
            own = self._plan.login
            account = Account(own.name, own.uid, own.gid, own.home, own.shell)
            ids = UserIds(own.uid, own.gid, directory.groups_of(account))
        elif isinstance(user, UserIds):
            account = directory.find_user(str(user.uid)) or Account("", user.uid, user.gid)
            ids = user
        elif (found := directory.find_user(user)) is not None:
            account, ids = found, UserIds(found.uid, found.gid, directory.groups_of(found))
        else:
            raise Unstartable(bad_user(f"there is no {user[:64]!r} in the sandbox's passwd file"))
        self._check(ids)
        home = self._plan.login.cwd if user is None else account.home
        return _Login(ids, home.encode(), self._environment_of(account))

    def _check(self, ids: UserIds) -> None:
        for number in (ids.uid, ids.gid, *ids.groups):
            if number >= self._plan.ids:
                raise Unstartable(bad_user(f"the sandbox has the ids 0 to {self._plan.ids - 1} only, not {number}"))
            if number == DAEMON_ID:
                raise Unstartable(bad_user(f"the id {number} is execd's own"))

    def _environment_of(self, account: Account) -> Mapping[bytes, bytes]:
        name = (account.name or str(account.uid)).encode()
        return {
            b"PATH": DEFAULT_PATH,
            b"HOME": account.home.encode(),
            b"USER": name,
            b"LOGNAME": name,
            b"SHELL": (account.shell or "/bin/sh").encode(),
            b"LANG": b"C.UTF-8",
            b"TERM": b"dumb",
            **{key.encode(): value.encode() for key, value in self._env.items()},
        }


def _named(user: str) -> str | UserIds:
    """Return whom `name` or `uid[:gid]` means."""
    if not user[0].isdigit():
        return user
    uid, _, gid = user.partition(":")
    return UserIds(int(uid), int(gid or uid), ())


def _environment(spec: Spec, login: _Login, traceparent: str) -> dict[bytes, bytes]:
    env = {} if spec.clear_env else dict(login.env)
    if traceparent and not spec.clear_env:
        env[b"TRACEPARENT"] = traceparent.encode()
    if spec.terminal:
        env[b"TERM"] = spec.terminal.term.encode()
    for key, value in spec.env.items():
        env[key.encode()] = value
    return env


def _rlimits_of(plan: InitPlan) -> tuple[tuple[int, int], ...]:
    """Return the plan's limits for every exec, as far as this process itself may go.

    Without those that every exec inherits anyway: an exec that has none of its own is started the quicker way.
    """
    planned = ((resource.RLIMIT_NOFILE, plan.open_files), (resource.RLIMIT_FSIZE, plan.file_bytes))
    limits = ((number, _at_most_hard(number, value)) for number, value in planned if value is not None)
    return tuple((number, value) for number, value in limits if resource.getrlimit(number) != (value, value))


def _at_most_hard(number: int, value: int) -> int:
    _, hard = resource.getrlimit(number)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _programs(spec: Spec, env: Mapping[bytes, bytes]) -> tuple[tuple[bytes, bytes], ...]:
    if not spec.argv:
        return SHELLS
    name = spec.argv[0]
    if b"/" in name:
        return ((name, name),)
    places = env.get(b"PATH", DEFAULT_PATH).split(b":")
    return tuple(((place or b".") + b"/" + name, name) for place in places)


def _arguments(spec: Spec, script: bytes) -> tuple[bytes, ...]:
    if spec.argv:
        return spec.argv[1:]
    line = _SOURCE_SCRIPT if script else spec.shell.encode()
    # A line that starts like an option must not become one.
    return (b"-c", b"--", line) if line[:1] in (b"-", b"+") else (b"-c", line)


def _script_of(spec: Spec) -> bytes:
    """Return a line that is too long for an argument as a script that closes its own descriptor first."""
    if len(spec.shell) * 4 <= MAX_ARGUMENT_BYTES:
        return b""
    line = spec.shell.encode()
    return _CLOSE_SCRIPT + line if len(line) > MAX_ARGUMENT_BYTES else b""
