"""What the command prints."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from arenero.cli.output import (
    Progress,
    age,
    duration_text,
    json_text,
    message_dict,
    note,
    plain,
    print_record,
    print_rows,
    size_text,
    until,
)
from arenero.sdk.types import (
    IsolationLevel,
    Key,
    KeyScope,
    Lifetime,
    Resources,
    Sandbox,
    SandboxSpec,
    SandboxState,
    TimeoutAction,
)

HOSTILE = "a\x1b[31m\r\nb\x07\x9b2J\u202e\x00"


def test_table_is_aligned_and_has_a_head(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"id": "sbx_1", "name": ""}, {"id": "b", "name": "long name"}], ("id", "name"), "table")
    assert capsys.readouterr().out == "ID     NAME\nsbx_1\nb      long name\n"


def test_empty_table_has_its_head(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([], ("id", "name"), "table")
    assert capsys.readouterr().out == "ID  NAME\n"


def test_cells_of_any_kind(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"none": None, "yes": True, "no": False, "map": {"a": 1, "b": True}, "list": ["x", "y"], "number": 3}
    print_rows([row], tuple(row), "table")
    assert capsys.readouterr().out.splitlines()[1].split() == ["yes", "no", "a=1,b=yes", "x,", "y", "3"]


def test_json_has_all_fields_and_is_one_line_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"id": "a", "hidden": 1}], ("id",), "json")
    output = capsys.readouterr().out
    assert json.loads(output) == [{"id": "a", "hidden": 1}]
    assert output.count("\n") == 1


def test_record_shows_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_record({"id": "a", "longer name": 0, "none": None, "empty": "", "list": [], "map": {}}, "table")
    assert capsys.readouterr().out == "id           a\nlonger name  0\n"


@pytest.mark.parametrize("output", ["table", "json"])
def test_text_from_a_sandbox_can_not_change_the_screen(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"text": HOSTILE, "map": {HOSTILE: [HOSTILE]}}], ("text", "map"), output)
    print_record({HOSTILE: HOSTILE}, output)
    note(HOSTILE)
    shown = capsys.readouterr()
    unprintable = {char for char in shown.out + shown.err if not char.isprintable()}
    assert unprintable == {"\n"}


def test_json_of_hostile_text_is_still_that_text() -> None:
    assert json.loads(json_text({"a": HOSTILE, "half": "\udcff", "ñ": "€"})) == {
        "a": HOSTILE,
        "half": "\udcff",
        "ñ": "€",
    }
    assert "€" in json_text("€")
    json_text("\udcff").encode()


def test_plain_text_stays_as_it_is() -> None:
    assert plain("ñ €, 日本") == "ñ €, 日本"
    assert plain(HOSTILE).isprintable()


def test_values_that_json_does_not_know() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 600000, tzinfo=timezone(timedelta(hours=1)))
    value = {"time": moment, "span": timedelta(minutes=1.5), "bytes": b"a\xff", "state": SandboxState.RUNNING}
    assert json.loads(json_text(value)) == {
        "time": "2026-01-02T02:04:05.600000Z",
        "span": 90.0,
        "bytes": "a\\xff",
        "state": SandboxState.RUNNING.value,
    }


def test_message_has_the_names_of_the_proto() -> None:
    shown = message_dict(Sandbox(id="sbx_1", created_at=datetime(2026, 1, 2, tzinfo=UTC), state=SandboxState.RUNNING))
    assert shown["id"] == "sbx_1"
    assert shown["created_at"] == "2026-01-02T00:00:00Z"
    assert shown["state"] == "running"


def test_message_has_numbers_words_and_spans_as_programs_want_them() -> None:
    spec = SandboxSpec(
        isolation_level=IsolationLevel.BEST_EFFORT,
        resources=Resources(memory_bytes=2**40, cpus=0.5),
        lifetime=Lifetime(ttl=timedelta(seconds=90, microseconds=500_000), on_timeout=TimeoutAction.PAUSE),
        env={"A": "1"},
    )
    shown = message_dict(Sandbox(spec=spec, state=SandboxState(77)))
    assert json.loads(json_text(shown)) == {
        "spec": {
            "isolation_level": "best_effort",
            "resources": {"memory_bytes": 2**40, "cpus": 0.5},
            "lifetime": {"ttl": "90.5s", "on_timeout": "pause"},
            "env": {"A": "1"},
        },
        "state": "77",
    }
    key = Key(scopes=[KeyScope.READ, KeyScope.ADMIN])
    assert message_dict(key) == {"scopes": ["read", "admin"]}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59.9, "59s"), (60, "1m0s"), (3725, "1h2m"), (90061, "1d1h"), (-5, "0s")],
)
def test_duration_has_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration_text(timedelta(seconds=seconds)) == text


def test_ages_and_ends() -> None:
    now = datetime.now(UTC)
    assert age(now - timedelta(seconds=90.5)) == "1m30s"
    assert until(now + timedelta(seconds=90.5)) == "1m30s"
    assert (age(None), until(None)) == ("", "")


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB"), (1 << 60, "1048576.0 TiB")],
)
def test_size_has_a_binary_unit(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == text


class Terminal:
    """A screen that notes what is written to it."""

    def __init__(self, *, is_tty: bool = True) -> None:
        self.written = ""
        self._is_tty = is_tty

    def isatty(self) -> bool:
        return self._is_tty

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


def test_progress_is_shown_on_a_terminal_and_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with Progress("uploading x", total_bytes=2048, after_s=0) as progress:
        progress.update(1024)
        assert screen.written.startswith("\ruploading x 1.0 KiB of 2.0 KiB, ")
        progress.step("waiting")
        assert "uploading x waiting (0." in screen.written
    assert screen.written.endswith(" \r")


def test_progress_of_work_that_is_over_at_once_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with Progress("x") as progress:
        progress.update(1)
    assert screen.written == ""


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_progress_is_silent_elsewhere(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    screen = Terminal(is_tty=term == "dumb")
    monkeypatch.setattr("sys.stderr", screen)
    with Progress("x", after_s=0) as progress:
        progress.update(1)
        progress.step("y")
    assert screen.written == ""
