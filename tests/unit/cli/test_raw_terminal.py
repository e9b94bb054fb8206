"""`arenero shell` on a real terminal: keys, resize, detaching, and the terminal as it was afterwards."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator

import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from tests.unit.sdk.test_terminal import echo, frame, opened, screen
from tests.unit.sdk.wire import SANDBOX_ID, WirePair, ended


class Screen:
    """A person's terminal with the command in it."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.controller, terminal = pty.openpty()
        self.resize(24, 80)
        self.seen = b""
        self.terminal = terminal
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *command], stdin=terminal, stdout=terminal, stderr=terminal, env=environment
        )

    def type(self, keys: bytes) -> None:
        os.write(self.controller, keys)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.controller, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, text: bytes, timeout_s: float = 30) -> None:
        deadline_s = time.monotonic() + timeout_s
        while text not in self.seen:
            assert time.monotonic() < deadline_s, self.seen
            if select.select([self.controller], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.controller, 65536)
                except OSError:
                    pytest.fail(f"it ended, and showed {self.seen!r}")

    def wait_until_raw(self) -> None:
        wait_until(lambda: self.is_raw() or self.process.poll() is not None)

    def is_raw(self) -> bool:
        return not termios.tcgetattr(self.terminal)[3] & (termios.ICANON | termios.ECHO)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.controller)
        os.close(self.terminal)


@pytest.fixture
def shell(wires: WirePair, environment: dict[str, str]) -> Iterator[Callable[..., Screen]]:
    opened_screens: list[Screen] = []

    def begin(*args: str) -> Screen:
        command = [sys.executable, "-m", "arenero.cli.main", "shell", SANDBOX_ID, *args]
        made = Screen(command, {**os.environ, **environment, "TERM": "xterm"})
        opened_screens.append(made)
        made.wait_until_raw()
        return made

    yield begin
    for one in opened_screens:
        one.close()


def requests(wires: WirePair) -> list[exec_service_pb2.InteractRequest]:
    found: list[exec_service_pb2.InteractRequest] = wires.execd.called("Interact")[0].requests
    return found


def wait_until(condition: Callable[[], bool], timeout_s: float = 30) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_keys_go_in_and_the_screen_comes_out_until_the_shell_ends(wires: WirePair, shell) -> None:
    wires.execd.on("Interact", echo)
    person = shell()
    person.type(b"hello\r\x03")
    person.wait_for(b"hello\r\x03")
    assert person.is_raw()
    assert person.process.poll() is None, "Ctrl-C is the sandbox's, not the command's"
    person.type(b"exit")
    person.wait_for(b"exit")
    assert person.process.wait(30) == 3
    assert not person.is_raw()


def test_size_is_passed_on_at_the_start_and_when_it_changes(wires: WirePair, shell) -> None:
    wires.execd.on("Interact", echo)
    person = shell()
    person.type(b"ready")
    person.wait_for(b"ready")
    person.resize(50, 132)
    wait_until(lambda: any(request.HasField("resize") for request in requests(wires)))
    [size] = [request.resize for request in requests(wires) if request.HasField("resize")]
    spec = requests(wires)[0].start.spec
    assert ((spec.pty.rows, spec.pty.columns), (size.rows, size.columns)) == ((24, 80), (50, 132))


@pytest.mark.parametrize("keys", [[b"ab\x10\x11cd"], [b"ab\x10", b"\x11"]], ids=["at once", "one by one"])
def test_detach_keys_leave_it_running(wires: WirePair, shell, keys: list[bytes]) -> None:
    wires.execd.on("Interact", echo)
    person = shell()
    for piece in keys:
        person.type(piece)
        if piece is not keys[-1]:
            person.wait_for(b"ab")
    person.wait_for(b"--attach t1")
    assert person.process.wait(30) == 0
    assert not person.is_raw()
    wait_until(lambda: any(request.detach for request in requests(wires)))
    assert b"cd" not in b"".join(request.stdin for request in requests(wires))


def test_first_detach_key_alone_is_a_key(wires: WirePair, shell) -> None:
    wires.execd.on("Interact", echo)
    person = shell()
    person.type(b"a\x10")
    person.wait_for(b"a")
    person.type(b"b")
    person.wait_for(b"a\x10b")


def test_shell_is_attached_to(wires: WirePair, shell) -> None:
    wires.execd.on("Interact", echo)
    person = shell("--attach", "t9", "--takeover")
    person.type(b"exit")
    person.wait_for(b"exit")
    assert person.process.wait(30) == 3
    assert (requests(wires)[0].attach.exec_id, requests(wires)[0].attach.takeover) == ("t9", True)


def test_taken_over_terminal_is_left_with_a_word(wires: WirePair, shell) -> None:
    wires.execd.on("Interact", [opened(), screen(0, b"$ "), frame(taken_over=True)])
    person = shell()
    person.wait_for(b"took over")
    assert person.process.wait(30) == 1
    assert not person.is_raw()


def test_terminal_is_as_it_was_when_the_command_is_told_to_stop(wires: WirePair, shell) -> None:
    wires.execd.on("Interact", echo)
    person = shell()
    person.type(b"ready")
    person.wait_for(b"ready")
    person.process.send_signal(signal.SIGTERM)
    assert person.process.wait(30) == 128 + signal.SIGTERM
    assert not person.is_raw()


def test_typing_while_the_shell_ends_is_no_error(wires: WirePair, shell) -> None:
    wires.execd.on("Interact", [opened(), screen(0, b"bye"), frame(ended=ended(4))])
    person = shell()
    person.type(b"typed too late" * 50)
    assert person.process.wait(30) == 4


def test_signal_of_the_shell_is_its_code(wires: WirePair, shell) -> None:
    killed = exec_pb2.ExecEnded(signal=9, cause=exec_pb2.END_CAUSE_CANCELLED)
    wires.execd.on("Interact", [opened(), frame(ended=killed)])
    assert shell().process.wait(30) == 137
