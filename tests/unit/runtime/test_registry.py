"""Which drivers there are."""

from dataclasses import fields
from importlib import import_module
from typing import Any

import pytest

from arenero.errors import InvalidArgument, Unavailable
from arenero.runtime import registry
from arenero.runtime.fake import FakeConfig, FakeDriver
from arenero.runtime.registry import DRIVERS, RuntimeTables, make


def test_every_driver_has_a_table_of_its_name() -> None:
    assert {field.name for field in fields(RuntimeTables)} == set(DRIVERS)


def test_a_driver_is_made_with_its_table() -> None:
    driver = make("fake", RuntimeTables(fake=FakeConfig(address="unix:/x")))
    assert isinstance(driver, FakeDriver)
    assert driver._config.address == "unix:/x"


def test_an_unknown_runtime_says_which_there_are() -> None:
    with pytest.raises(InvalidArgument, match="fake"):
        make("vmware", RuntimeTables())


def test_a_driver_whose_dependencies_are_missing_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def lack(name: str) -> Any:
        if "fake" in name:
            raise ModuleNotFoundError("No module named 'docker'", name="docker")
        return import_module(name)

    monkeypatch.setattr(registry, "import_module", lack)
    with pytest.raises(Unavailable) as refusal:
        make("fake", RuntimeTables())
    assert (refusal.value.reason, "docker" in refusal.value.message) == ("RUNTIME_NOT_INSTALLED", True)
    assert "arenero-runtime[fake]" in refusal.value.fix
