"""A restored sandbox's new identity: each part of it is a hook that is done, or says why it can't be.

What is shared with every other copy of the same snapshot must change: tokens, host name, environment, clock, and the
state of the kernel's random numbers.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from arenero.execd.control import Kind
from arenero.execd.hello import Greeting
from arenero.execd.link import InitLink
from arenero.execd.surroundings import Surroundings
from arenero.execd.tokens import TokenCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a sandbox becomes. Empty and None leave a part as it is, but for the environment, which is replaced."""

    sandbox_id: str = ""
    generation: int = 0
    hostname: str = ""
    wall_clock_ns: int | None = None
    random_seed: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hook:
    """The outcome of one part."""

    name: str
    done: bool
    message: str = ""


class Refresher:
    """Changes the identity of a running sandbox."""

    def __init__(
        self, link: InitLink, surroundings: Surroundings, greeting: Greeting, tokens: TokenCheck | None
    ) -> None:
        self._link = link
        self._surroundings = surroundings
        self._greeting = greeting
        self._tokens = tokens

    async def refresh(self, identity: Identity) -> list[Hook]:
        """Become it, part by part; one that fails doesn't stop the others."""
        hooks = [self._change_tokens(identity), self._change_env(identity)]
        if identity.hostname:
            answer = await self._link.ask(Kind.RENAME, {"hostname": identity.hostname})
            hooks.append(_hook("hostname", int(answer["errno"])))
        if identity.wall_clock_ns is not None:
            hooks.append(_set_clock(identity.wall_clock_ns))
        if identity.random_seed:
            hooks.append(_add_seed(identity.random_seed))
        return hooks

    def _change_tokens(self, identity: Identity) -> Hook:
        greeting = self._greeting
        greeting.sandbox_id = identity.sandbox_id or greeting.sandbox_id
        greeting.generation = identity.generation or greeting.generation
        if self._tokens:
            self._tokens.change(greeting.sandbox_id, greeting.generation)
        return Hook("identity", done=True)

    def _change_env(self, identity: Identity) -> Hook:
        self._surroundings.replace_env(identity.env)
        return Hook("env", done=True)


def _set_clock(at_ns: int) -> Hook:
    try:
        time.clock_settime_ns(time.CLOCK_REALTIME, at_ns)
    except OSError as error:
        return _hook("wall_clock", error.errno or errno.EPERM)
    return Hook("wall_clock", done=True)


def _add_seed(seed: bytes) -> Hook:
    """Mix the seed in. Whoever writes it adds no credit of entropy, but no two copies go on alike."""
    try:
        fd = os.open("/dev/urandom", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, seed)
        finally:
            os.close(fd)
    except OSError as error:
        return _hook("random_seed", error.errno or errno.EIO)
    return Hook("random_seed", done=True)


def _hook(name: str, code: int) -> Hook:
    return Hook(name, done=not code, message=os.strerror(code) if code else "")
