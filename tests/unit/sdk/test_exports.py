"""What `arenero.sdk` offers, and what it loads for it."""

import subprocess
import sys

import pytest

import arenero.sdk


def loaded_after(code: str) -> set[str]:
    """The modules that a fresh interpreter has after some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("name", [name for name in arenero.sdk.__all__ if not name.startswith("_")])
def test_every_name_is_there(name: str) -> None:
    assert getattr(arenero.sdk, name).__name__ == name
    assert name in dir(arenero.sdk)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nope'"):
        _ = arenero.sdk.Nope


def test_settings_need_no_grpc() -> None:
    assert "grpc" not in loaded_after("from arenero.sdk.settings import default_home")


def test_sandboxes_need_no_events_and_no_keys() -> None:
    loaded = loaded_after("from arenero.sdk import Sandbox")
    prefix = "arenero.sdk._types.arenero.api."
    services = {name.removeprefix(prefix).partition(".")[0] for name in loaded if name.startswith(prefix)}
    assert services == {"common", "lifecycle"}
