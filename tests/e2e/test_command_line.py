"""The command as a person, or a script, uses it."""

import fcntl
import io
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tarfile
import termios
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.e2e.kit import ARENERO, Instance, eventually


@pytest.fixture
def sandbox_id(platform: Instance) -> Iterator[str]:
    made = platform.run("sandbox", "create", "--ttl", "10m").stdout.strip()
    yield made
    platform.run("sandbox", "delete", made)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["true"], 0),
        (["false"], 1),
        (["sh", "-c", "exit 42"], 42),
        (["sh", "-c", "kill -9 $$"], 137),
        (["no-such-program"], 127),
        (["/etc/passwd"], 126),
    ],
    ids=["true", "false", "42", "killed", "missing", "not executable"],
)
def test_run_exits_as_the_command_did(platform: Instance, command: list[str], code: int) -> None:
    done = platform.run("run", "--", *command, check=False)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""


def test_run_passes_streams_through(platform: Instance) -> None:
    line = "cat; echo err >&2"
    done = platform.run("run", "-i", "--", "sh", "-c", line, input="in\n")
    assert (done.stdout, done.stderr) == ("in\n", "err\n")


def test_run_deletes_its_sandbox(platform: Instance) -> None:
    before = set(platform.run("sandbox", "list", "-q", "--all").stdout.split())
    platform.run("run", "--", "true")
    [made] = set(platform.run("sandbox", "list", "-q", "--all").stdout.split()) - before
    assert json.loads(platform.run("sandbox", "get", made, "-o", "json").stdout)["state"] == "terminated"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_deletes_its_sandbox_when_it_is_interrupted(platform: Instance, number: signal.Signals) -> None:
    label = f"l{time.time_ns()}"
    with platform.begin("run", "-l", f"test={label}", "--", "sh", "-c", "echo ready; sleep 300") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(number)
        assert running.wait(30) == 128 + number
    assert platform.run("sandbox", "list", "-q", "-l", f"test={label}").stdout == ""


def test_sandbox_of_a_run_whose_client_was_killed_ends_by_itself(platform: Instance) -> None:
    label = f"l{time.time_ns()}"
    with platform.begin("run", "-l", f"test={label}", "--", "sh", "-c", "echo ready; sleep 300") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.kill()
    [left] = json.loads(platform.run("sandbox", "list", "-l", f"test={label}", "-o", "json").stdout)
    expires_at = datetime.fromisoformat(left["expires_at"])
    assert expires_at - datetime.now(UTC) <= timedelta(seconds=120)
    platform.run("sandbox", "delete", left["id"])


@pytest.mark.parametrize("lines", ["echo $((6 * 7))\nexit 3\n", "echo 42; exit 3"], ids=["lines", "no end of line"])
def test_shell_takes_its_commands_from_a_pipe(platform: Instance, sandbox_id: str, lines: str) -> None:
    done = platform.run("shell", sandbox_id, input=lines, check=False, timeout_s=30)
    assert (done.stdout, done.returncode) == ("42\n", 3), done.stderr


def test_terminal_ends_with_piped_input(platform: Instance, sandbox_id: str) -> None:
    """Also when the shell in it is just about to change the terminal's modes, which loses the key for the end."""
    done = platform.run("exec", "-it", sandbox_id, "--", "bash", "-l", input="sleep 0.3; echo done\n", timeout_s=30)
    assert "done" in done.stdout


def test_everything_has_json(platform: Instance, sandbox_id: str) -> None:
    platform.run("exec", sandbox_id, "--", "true")
    for command in (
        ("sandbox", "list"),
        ("sandbox", "get", sandbox_id),
        ("sandbox", "stats", sandbox_id),
        ("ps", sandbox_id),
        ("ps", "--all", sandbox_id),
        ("key", "list"),
        ("key", "whoami"),
        ("doctor",),
        ("status",),
    ):
        json.loads(platform.run(*command, "-o", "json").stdout)
    lines = platform.run("events", sandbox_id, "-o", "json").stdout.splitlines()
    assert json.loads(lines[0])["subject"].endswith(".requested")


def test_errors_have_their_codes(platform: Instance) -> None:
    missing = "sbx_" + "a" * 20
    assert platform.run("sandbox", "get", missing, check=False).returncode == 3
    assert platform.run("exec", missing, "--", "true", check=False).returncode == 3
    assert platform.run("sandbox", "create", "--ttl", "0s", check=False).returncode == 2
    nobody = platform.run("--address", "127.0.0.1:9", "--api-key", "x", "sandbox", "list", check=False)
    assert nobody.returncode == 4, nobody.stderr
    wrong_key = platform.run("--api-key", "nonsense", "sandbox", "list", check=False)
    assert wrong_key.returncode == 1
    assert "UNAUTHENTICATED" in wrong_key.stderr or "KEY" in wrong_key.stderr


def test_environment_for_other_clients(platform: Instance) -> None:
    shown = platform.run("env").stdout
    script = 'eval "$1"; env -u ARENERO_HOME "${@:2}" sandbox list -q >/dev/null && echo "$OPEN_SANDBOX_DOMAIN"'
    done = subprocess.run(
        ["bash", "-c", script, "x", shown, *ARENERO],
        env=platform.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == platform.state()["http"].removeprefix("http://")
    names = {line.split("=")[0].removeprefix("export ") for line in shown.splitlines()}
    assert names >= {"ARENERO_ADDRESS", "ARENERO_API_KEY", "OPEN_SANDBOX_DOMAIN", "OPEN_SANDBOX_API_KEY"}


def test_files_are_copied_in_between_and_out(platform: Instance, sandbox_id: str, tmp_path: Path) -> None:
    (tmp_path / "d/sub").mkdir(parents=True)
    (tmp_path / "d/sub/x").write_bytes(os.urandom(300_000))
    (tmp_path / "d/tool").write_text("#!/bin/sh\necho tool\n")
    (tmp_path / "d/tool").chmod(0o755)
    (tmp_path / "d/absolute").symlink_to("/usr/bin/env")
    (tmp_path / "d/up").symlink_to("../../x")
    platform.run("cp", str(tmp_path / "d"), f"{sandbox_id}:work")
    shown = platform.run("exec", sandbox_id, "--", "readlink", "work/absolute", "work/up").stdout
    assert shown == "/usr/bin/env\n../../x\n"
    assert platform.run("exec", sandbox_id, "--", "work/tool").stdout == "tool\n"
    other = platform.run("sandbox", "create").stdout.strip()
    platform.run("cp", f"{sandbox_id}:work", f"{other}:copy")
    platform.run("cp", f"{other}:copy", str(tmp_path / "back"))
    platform.run("sandbox", "delete", other)
    assert (tmp_path / "back/sub/x").read_bytes() == (tmp_path / "d/sub/x").read_bytes()
    assert os.access(tmp_path / "back/tool", os.X_OK)
    platform.run("cp", "-", f"{sandbox_id}:/tmp/piped", input="from a pipe")
    assert platform.run("cp", f"{sandbox_id}:/tmp/piped", "-").stdout == "from a pipe"


def test_directory_arrives_as_a_directory(platform: Instance, sandbox_id: str, tmp_path: Path) -> None:
    """As with `cp -r`: into what is there under its own name, else under the new name; `/.` is the content."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d/x").write_text("x")
    platform.run("cp", f"{tmp_path}/d", f"{sandbox_id}:")
    platform.run("cp", f"{tmp_path}/d", f"{sandbox_id}:new")
    platform.run("cp", f"{tmp_path}/d/.", f"{sandbox_id}:new/deep")
    shown = platform.run("exec", sandbox_id, "--", "find", "d", "new", "-type", "f").stdout
    assert sorted(shown.split()) == ["d/x", "new/deep/x", "new/x"]
    platform.run("cp", f"{sandbox_id}:new", ".", cwd=tmp_path)
    platform.run("cp", f"{sandbox_id}:new", "other", cwd=tmp_path)
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("x"))
    assert found == ["d/x", "new/deep/x", "new/x", "other/deep/x", "other/x"]
    tar = platform.run("cp", f"{sandbox_id}:new", "-", text=False).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        assert {name.rstrip("/") for name in archive.getnames()} == {"new", "new/x", "new/deep", "new/deep/x"}
    platform.run("cp", "-", f"{sandbox_id}:d", input=tar, text=False)
    assert platform.run("exec", sandbox_id, "--", "cat", "d/new/deep/x").stdout == "x"


def test_copy_that_lacks_something_says_so_and_fails(platform: Instance, sandbox_id: str, tmp_path: Path) -> None:
    deep = "deep/" + "/".join("d" * 600)
    script = f"mkdir -p {deep} && echo lost > {deep}/file && echo kept > deep/file"
    platform.run("exec", sandbox_id, "--", "sh", "-c", script)
    other = platform.run("sandbox", "create").stdout.strip()
    for destination in (str(tmp_path / "here"), f"{other}:there", "-"):
        done = platform.run("cp", f"{sandbox_id}:deep", destination, check=False, text=False)
        assert done.returncode == 1, destination
        [line] = done.stderr.decode().splitlines()
        assert line.startswith("arenero: left out ")
        assert line.endswith("/d/d: what is in it can't be read, or lies too deep")
    assert (tmp_path / "here/file").read_text() == "kept\n"
    assert platform.run("exec", other, "--", "cat", "there/file").stdout == "kept\n"
    platform.run("sandbox", "delete", other)


def test_commands_of_a_sandbox(platform: Instance, sandbox_id: str) -> None:
    exec_id = platform.run("exec", "-d", sandbox_id, "--", "sleep", "271").stdout.strip()
    assert "sleep 271" in platform.run("ps", sandbox_id).stdout
    assert exec_id in platform.run("ps", "--all", sandbox_id).stdout
    platform.run("sandbox", "label", sandbox_id, "team=x")
    assert "team=x" in platform.run("sandbox", "get", sandbox_id).stdout
    assert platform.run("sandbox", "renew", sandbox_id, "2h").stdout.startswith("expires in 1h59m")
    eventually(lambda: "gateway.sandbox.Create" in platform.run("trace", sandbox_id, check=False).stdout, 30)
    assert "local (default): usable" in platform.run("doctor").stdout


def test_events_are_followed_until_interrupted(platform: Instance) -> None:
    with platform.begin("events", "--follow", "--subject", "sandbox.*.terminated") as following:
        time.sleep(1.5)
        made = platform.run("sandbox", "create").stdout.strip()
        platform.run("sandbox", "delete", made)
        assert following.stdout is not None
        ready, _, _ = select.select([following.stdout], [], [], 30)
        assert ready
        assert made.encode() in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert following.wait(30) == 130


def test_keys_on_the_command_line(platform: Instance) -> None:
    secret = platform.run("key", "create", "ci", "--tenant", "team-a").stdout.strip()
    shown = platform.run("--api-key", secret, "key", "whoami").stdout
    assert "tenant  team-a\n" in shown
    key_id = shown.split()[1]
    assert secret not in platform.run("key", "list", "--tenant", "team-a").stdout
    platform.run("key", "revoke", key_id)
    assert platform.run("--api-key", secret, "key", "whoami", check=False).returncode == 1


class Person:
    """Somebody in front of a terminal."""

    def __init__(self, platform: Instance, *args: str) -> None:
        self.controller, terminal = pty.openpty()
        self.resize(24, 80)
        self.seen = b""
        command = ["setsid", "--ctty", *ARENERO, *args]
        environment = {**platform.environment, "TERM": "xterm"}
        self.process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
        os.close(terminal)

    def type(self, keys: bytes) -> None:
        os.write(self.controller, keys)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.controller, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, text: bytes, timeout_s: float = 30) -> bytes:
        """Wait until the screen has shown some text; return what came before it and was not waited for."""
        deadline_s = time.monotonic() + timeout_s
        while text not in self.seen:
            assert time.monotonic() < deadline_s, self.seen
            if select.select([self.controller], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.controller, 65536)
                except OSError:
                    pytest.fail(f"it ended, and showed {self.seen!r}")
        before, _, self.seen = self.seen.partition(text)
        return before

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.controller)


def test_shell_is_a_real_terminal(platform: Instance, sandbox_id: str) -> None:
    person = Person(platform, "shell", sandbox_id)
    try:
        person.wait_for(b"$ ")
        person.type(b"stty size; echo 'size' shown\r")
        person.wait_for(b"24 80")
        person.wait_for(b"size shown")
        person.resize(50, 132)
        person.type(b"sleep 0.3; stty size\r")
        person.wait_for(b"50 132")
        person.type(b"sleep 600\r")
        time.sleep(0.5)
        person.type(b"\x03")
        person.type(b"echo 'interrupted' only\r")
        person.wait_for(b"interrupted only")
        person.type(b"\x10\x11")
        person.wait_for(b"--attach ")
        exec_id = person.wait_for(b"\r\n").decode()
        assert person.process.wait(30) == 0
    finally:
        person.close()
    again = Person(platform, "shell", sandbox_id, "--attach", exec_id)
    try:
        again.type(b"echo 'attached' again; exit 7\r")
        again.wait_for(b"attached again")
        assert again.process.wait(30) == 7
    finally:
        again.close()


def test_command_starts_quickly(platform: Instance) -> None:
    """Loading is most of what a short command takes; on a quiet machine it is a third of this."""
    code = "import time; t = time.process_time(); import arenero.cli.execs; print(time.process_time() - t)"
    shortest = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    )
    assert shortest < 1.0
