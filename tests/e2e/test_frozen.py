"""A part of the platform stands still: clients say so in time, rather than wait with it."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from arenero.sdk import Client, Sandbox
from arenero.sdk.errors import NO_ANSWER, DeadlineExceeded
from tests.e2e.kit import Instance, instance


@pytest.fixture(scope="module")
def own() -> Iterator[Instance]:
    with instance() as made:
        yield made


@contextmanager
def frozen(platform: Instance, name: str) -> Iterator[None]:
    pid = platform.signal(name, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_command_says_that_the_gateway_is_not_there(own: Instance) -> None:
    with frozen(own, "gateway"):
        began_s = time.monotonic()
        done = own.run("sandbox", "list", check=False, timeout_s=60)
    assert (done.returncode, "[NOT_SENT]" in done.stderr) == (4, True), done.stderr
    assert time.monotonic() - began_s < 20


async def test_call_ends_when_what_is_behind_the_gateway_does_not_answer(own: Instance) -> None:
    async with Client(settings=replace(own.settings(), answer_s=1.0)) as client, Sandbox.create(client=client) as found:
        with frozen(own, "lifecycle"):
            for call in (found.refresh(), found.renew(60), anext(client.replay())):
                with pytest.raises(DeadlineExceeded) as raised:
                    await call
                assert raised.value.reason == NO_ANSWER
            # What is in the sandbox needs none of it.
            assert (await found.exec("echo on")).stdout == b"on\n"


def test_time_limit_of_a_command_holds_without_the_gateway(own: Instance) -> None:
    sandbox_id = own.run("sandbox", "create").stdout.strip()
    through_gateway = {**own.environment, "ARENERO_DIRECT": "0"}
    command = ("exec", "--timeout", "1s", sandbox_id, "--", "sh", "-c", "echo ready; sleep 300")
    own.environment, before = through_gateway, own.environment
    try:
        with own.begin(*command) as running:
            assert running.stdout is not None
            assert running.stdout.readline() == b"ready\n"
            with frozen(own, "gateway"):
                _, errors = running.communicate(timeout=60)
    finally:
        own.environment = before
    assert running.returncode == 4, errors
    assert b"the time limit of 1 s has passed" in errors
    assert not own.run("ps", sandbox_id).stdout.count("sleep 300")
    own.run("sandbox", "delete", sandbox_id)
