"""The local driver with fewer rights than root's: as an ordinary user, and where namespaces are refused."""

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import landlock

ROOT = Path(__file__).parents[2]
USER = 61_234
pytestmark = pytest.mark.root


@pytest.fixture
def directory() -> Iterator[Path]:
    """A short one: sockets are in it."""
    path = Path(tempfile.mkdtemp(prefix="arn-"))
    os.chown(path, USER, USER)
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@functools.cache
def interpreter_for(user: int) -> str:
    """Return a Python of this version that the user may run; the one of the tests may be in root's home."""
    for path in (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
        with contextlib.suppress(OSError):
            command = [path, "-c", "import grpc, nacl, arenero.execd.wiring"]
            if subprocess.run(command, **identity(user), check=False).returncode == 0:
                return path
    pytest.skip("no Python of this version that an ordinary user may run")


def identity(user: int) -> dict[str, Any]:
    paths = os.pathsep.join(path for path in sys.path if path)
    return {
        "user": user,
        "group": user,
        "extra_groups": [],
        "cwd": ROOT,
        "env": {"PATH": "/usr/bin:/bin", "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        "capture_output": True,
        "text": True,
    }


def scenario(directory: Path, level: str, *commands: str, user: int = 0, contained: bool = False) -> dict[str, Any]:
    python = interpreter_for(user) if user else sys.executable
    module = [python, "-m", "tests.security.local_scenario", *(["--as-in-a-container"] if contained else [])]
    done = subprocess.run([*module, str(directory), level, *commands], **identity(user), check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_an_ordinary_user_gets_all_but_limits(directory: Path) -> None:
    found = scenario(
        directory,
        "standard",
        "id -u; cat /proc/1/comm; ls /proc | grep -c '^[0-9]'",
        f"ls {directory} /work /root/x; echo x > /usr/bin/x; echo x > /tmp/x && cat /tmp/x",
        "grep -E '^Cap(Eff|Bnd)' /proc/self/status | grep -vc 0000000000000000; unshare -U true",
        "mkdir -p /var/tmp/closed/inside && chmod 000 /var/tmp/closed",
        user=USER,
    )
    if "refused" in found:
        pytest.skip(f"no user namespaces for ordinary users here: {found['fix']}")
    assert {"user-namespace", "pid-namespace", "network-namespace", "overlay", "seccomp"} <= set(found["features"])
    assert any(reason.startswith("disk-limit: ") for reason in found["missing"])
    first, files, rights, _ = found["ran"]
    uid, comm, processes = first[1].split()
    assert (uid in ("0", "1000"), comm) == (True, "arenero-init")
    assert int(processes) < 10
    assert files[1] == "x\n"
    assert rights[1] == "0\n"
    assert "Operation not permitted" in rights[2]
    assert found["held"] == []
    assert os.listdir(directory) == []


@pytest.mark.parametrize("user", [0, USER], ids=["root", "user"])
def test_standard_isolation_is_refused_where_namespaces_are(directory: Path, user: int) -> None:
    found = scenario(directory, "standard", user=user, contained=True)
    assert found["refused"] == "ISOLATION_UNAVAILABLE"
    assert "seccomp" in found["fix"]


@pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
@pytest.mark.parametrize("user", [0, USER], ids=["root", "user"])
def test_best_effort_keeps_the_host_closed_and_says_what_is_missing(directory: Path, user: int) -> None:
    secret = Path("/var/tmp/arenero-secret")
    secret.write_text("secret")
    secret.chmod(0o644)
    host = "import socket\nfor f in (2, 10):\n try:\n  socket.socket(f); print('socket')\n except OSError: pass"
    try:
        found = scenario(
            directory,
            "best-effort",
            f"cat {secret} /etc/hosts; ls /; ls /root; ls {directory}; echo x > /tmp/x; echo x > /var/tmp/x",
            "echo mine > file; cat file; echo $HOME $TMPDIR; touch $HOME/a $TMPDIR/b && echo made",
            f'python3 -c "{host}"; kill -9 {os.getpid()}; cat /proc/{os.getpid()}/environ',
            f"grep -E '^Cap({'Eff|Prm|Inh|Amb' if user else '...'})' /proc/self/status | grep -vc 0000000000000000",
            "nohup setsid sleep 300 >/dev/null 2>&1 & echo started",
            user=user,
            contained=True,
        )
    finally:
        secret.unlink()
    assert {"landlock", "seccomp", "no-network"} <= set(found["features"])
    assert {"pid-namespace", "network-namespace", "overlay", "disk-limit"} <= {
        reason.partition(":")[0] for reason in found["missing"]
    }
    closed, private, others, rights, _ = found["ran"]
    assert closed[1] == ""
    assert private[1].startswith("mine\n")
    assert private[1].endswith("made\n")
    assert others[1] == ""
    assert rights[1] == "0\n"
    assert found["held"] == []
    assert not subprocess.run(["pgrep", "-f", "sleep 300"], capture_output=True, check=False).stdout
