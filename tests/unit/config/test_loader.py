"""Defaults, then the file, then the environment; every fault is named."""

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import pytest

from arenero.config.loader import build, load
from arenero.config.render import to_toml
from arenero.errors import InvalidArgument


class Mode(Enum):
    FAST = "fast"
    SAFE = "safe"


@dataclass(frozen=True)
class Bus:
    url: str = "nats://127.0.0.1:4222"
    password_file: Path | None = None
    patience_s: float = 10.0


@dataclass(frozen=True)
class Limits:
    sandboxes: int = 100
    mode: Mode = Mode.SAFE

    def __post_init__(self) -> None:
        if self.sandboxes < 1:
            raise ValueError("sandboxes must be at least 1")


@dataclass(frozen=True)
class Service:
    name: str
    bus: Bus = field(default_factory=lambda: Bus(url="nats://elsewhere:1"))
    limits: Limits = field(default_factory=Limits)
    drivers: tuple[str, ...] = ("local",)
    verbose: bool = False


def read(path: Path | None = None, **environ: str) -> Service:
    return load(Service, "life-cycle", path=path, environ={"ARENERO_LIFE_CYCLE__NAME": "x", "PATH": "/bin", **environ})


def write(folder: Path, text: str) -> Path:
    path = folder / "service.toml"
    path.write_text(text)
    return path


def test_defaults_hold_when_nothing_is_said() -> None:
    assert read() == Service(name="x")


def test_file_overrides_defaults_and_environment_overrides_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "f"\ndrivers = ["docker"]\n[bus]\npatience_s = 3\n[limits]\nmode = "fast"\n')
    config = read(path, ARENERO_LIFE_CYCLE__BUS__PASSWORD_FILE="/run/secret", ARENERO_LIFE_CYCLE__LIMITS__SANDBOXES="7")
    assert config == Service(
        name="x",
        bus=Bus(url="nats://elsewhere:1", password_file=Path("/run/secret"), patience_s=3.0),
        limits=Limits(sandboxes=7, mode=Mode.FAST),
        drivers=("docker",),
    )


@pytest.mark.parametrize(
    ("text", "field_name", "words"),
    [
        ("[bus]\nurll = 'x'", "bus.urll", "did you mean bus.url?"),
        ("nonsense = 1", "nonsense", "is not a known key"),
        ("[bus]\nurl = 3", "bus.url", "must be text, not a whole number"),
        ("[bus]\npatience_s = 'long'", "bus.patience_s", "must be a number, not text"),
        ("[bus]\npatience_s = nan", "bus.patience_s", "finite"),
        ("[limits]\nsandboxes = true", "limits.sandboxes", "must be a whole number, not true or false"),
        ("[limits]\nsandboxes = 1.5", "limits.sandboxes", "must be a whole number, not a number"),
        ("[limits]\nmode = 'slow'", "limits.mode", "one of fast, safe"),
        ("[limits]\nsandboxes = 0", "limits", "at least 1"),
        ("bus = 'x'", "bus", "must be a table"),
        ("drivers = 'local'", "drivers", "must be a list, not text"),
        ("verbose = 1", "verbose", "must be true or false"),
    ],
)
def test_fault_in_the_file_is_named(tmp_path: Path, text: str, field_name: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words.replace("?", r"\?")) as caught:
        read(write(tmp_path, text))
    assert caught.value.field == field_name


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("ARENERO_LIFE_CYCLE__BUS__URI", "x", "did you mean ARENERO_LIFE_CYCLE__BUS__URL"),
        ("ARENERO_LIFE_CYCLE__BUS", "x", "not a known key"),
        ("ARENERO_LIFE_CYCLE__VERBOSE", "perhaps", "true or false"),
        ("ARENERO_LIFE_CYCLE__LIMITS__SANDBOXES", "many", "whole number"),
        ("ARENERO_LIFE_CYCLE__BUS__PATIENCE_S", "inf", "finite"),
    ],
)
def test_fault_in_the_environment_is_named(variable: str, value: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words) as caught:
        read(None, **{variable: value})
    assert caught.value.field == variable


def test_other_services_variables_are_left_alone() -> None:
    assert read(None, ARENERO_GATEWAY__ANYTHING="x", ARENERO_HOME="/x") == Service(name="x")


def test_environment_knows_lists_truths_and_nothing() -> None:
    config = read(
        None,
        ARENERO_LIFE_CYCLE__DRIVERS="local, docker",
        ARENERO_LIFE_CYCLE__VERBOSE="Yes",
        ARENERO_LIFE_CYCLE__BUS__PASSWORD_FILE="",
    )
    assert (config.drivers, config.verbose, config.bus.password_file) == (("local", "docker"), True, None)


def test_required_value_must_be_given() -> None:
    with pytest.raises(InvalidArgument, match="required") as caught:
        load(Service, "other", path=None, environ={})
    assert caught.value.field == "name"


@pytest.mark.parametrize("content", [b"name = ", b"\xff"])
def test_file_that_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidArgument, match="is not TOML"):
        read(path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="No such file"):
        read(tmp_path / "nowhere.toml")


def test_what_is_printed_can_be_loaded(tmp_path: Path) -> None:
    config = build(Service, {"name": 'quo"te\n', "bus": {"password_file": Path("/x")}, "drivers": ("a", "b")})
    assert load(Service, "s", path=write(tmp_path, to_toml(config)), environ={}) == config
