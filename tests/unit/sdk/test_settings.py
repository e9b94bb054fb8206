"""Where the SDK finds the platform and the key."""

import json
import os
from pathlib import Path

import pytest

from arenero.sdk import Settings
from arenero.sdk.errors import Unauthenticated, Unavailable
from arenero.sdk.settings import CLIENT_FILE, default_home, load, read_client_file

LOCAL = {"grpc": "127.0.0.1:1", "http": "http://127.0.0.1:2", "api_key": "local-key"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ARENERO_ADDRESS", "ARENERO_API_KEY", "ARENERO_DIRECT", "OPEN_SANDBOX_DOMAIN", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ARENERO_HOME", str(tmp_path))
    return tmp_path


def leave(home: Path, content: object = LOCAL) -> None:
    (home / CLIENT_FILE).write_text(json.dumps(content))


def test_arguments_go_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENERO_ADDRESS", "env:1")
    monkeypatch.setenv("ARENERO_API_KEY", "env-key")
    found = load("arg:2", "arg-key")
    assert (found.address, found.api_key) == ("arg:2", "arg-key")


def test_environment_goes_before_what_runs_here(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave(home)
    monkeypatch.setenv("ARENERO_ADDRESS", "env:1")
    monkeypatch.setenv("ARENERO_API_KEY", "env-key")
    monkeypatch.setenv("OPEN_SANDBOX_DOMAIN", "example.org:80")
    assert load() == Settings("env:1", "env-key", http_url="http://example.org:80")


def test_what_runs_here_is_found(home: Path) -> None:
    leave(home)
    assert load() == Settings("127.0.0.1:1", "local-key", http_url="http://127.0.0.1:2")


def test_key_of_what_runs_here_is_not_sent_to_another_address(home: Path) -> None:
    leave(home)
    assert load("127.0.0.1:1").api_key == "local-key"
    with pytest.raises(Unauthenticated):
        load("elsewhere:1")


def test_error_says_what_to_do_when_nothing_is_known(home: Path) -> None:
    with pytest.raises(Unavailable, match="arenero up") as raised:
        load()
    assert raised.value.reason == "NO_ADDRESS"
    with pytest.raises(Unauthenticated, match="ARENERO_API_KEY"):
        load("somewhere:1")


@pytest.mark.parametrize("content", [[], {}, {"grpc": "x"}, "text"], ids=["list", "empty", "no key", "text"])
def test_damaged_file_is_none(home: Path, content: object) -> None:
    leave(home, content)
    assert read_client_file(home) is None
    (home / CLIENT_FILE).write_text("{")
    assert read_client_file(home) is None


@pytest.mark.parametrize("word", ["0", "false", "no"])
def test_direct_way_can_be_turned_off(home: Path, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    leave(home)
    assert load().prefer_direct
    monkeypatch.setenv("ARENERO_DIRECT", word)
    assert not load().prefer_direct


def test_key_is_not_shown() -> None:
    assert "secret" not in repr(Settings("a", "secret"))


def test_state_directory_of_root_and_of_others(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    assert default_home() == home
    monkeypatch.delenv("ARENERO_HOME")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_home() == Path("/var/lib/arenero")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("HOME", "/home/u")
    assert default_home() == Path("/home/u/.local/state/arenero")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert default_home() == Path("/state/arenero")
