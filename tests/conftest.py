"""What every test may rely on: markers skip, with a reason, where the machine lacks what they name."""

import asyncio
import functools
import os
import shutil
import signal
import subprocess
from collections.abc import Callable

import hypothesis
import pytest

# How long an example takes says something about the machine only.
hypothesis.settings.register_profile("arenero", deadline=None)
hypothesis.settings.load_profile("arenero")


def pytest_sessionstart() -> None:
    """Begin alike wherever the tests are started from."""
    # Say that there is no loop yet: looptime asks for the current one, and would get a new one that nobody closes.
    asyncio.set_event_loop(None)
    # A shell ignores SIGINT for what it runs in the background, nohup ignores SIGHUP, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT_S))
        for marker, missing in REQUIREMENTS.items():
            if item.get_closest_marker(marker) and (reason := missing()):
                item.add_marker(pytest.mark.skip(reason=reason))


@functools.cache
def missing_root() -> str | None:
    return None if os.geteuid() == 0 else "needs root"


@functools.cache
def missing_docker() -> str | None:
    return None if answers("docker", "info") else "needs a Docker Engine that answers `docker info`"


@functools.cache
def missing_kubernetes() -> str | None:
    return None if answers("kubectl", "version", "--request-timeout=5s") else "needs a cluster that answers kubectl"


@functools.cache
def missing_kvm() -> str | None:
    """Opening the device is the only honest check: it may exist and refuse."""
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return f"needs a usable /dev/kvm ({error.strerror})"
    return None


def answers(*command: str) -> bool:
    """Whether a command exists and succeeds within 20 s."""
    if shutil.which(command[0]) is None:
        return False
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


SLOW_TIMEOUT_S = 900

REQUIREMENTS: dict[str, Callable[[], str | None]] = {
    "docker": missing_docker,
    "kubernetes": missing_kubernetes,
    "kvm": missing_kvm,
    "root": missing_root,
}
