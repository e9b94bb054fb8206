"""How a local driver opens where it can't, or must not."""

import os
from pathlib import Path

import pytest

from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.parts import open_parts


async def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    fingerprint, parts = await open_parts(LocalConfig(state_dir=tmp_path / "file/below"))
    assert (fingerprint.usable, parts) == (False, None)
    assert fingerprint.reason
    assert fingerprint.fix


async def test_a_path_too_long_for_sockets_is_told_before_anything_is_made(tmp_path: Path) -> None:
    state = tmp_path / ("d" * 100)
    fingerprint, parts = await open_parts(LocalConfig(state_dir=state))
    assert parts is None
    assert "too long for the paths of sockets" in fingerprint.reason
    assert not state.exists()


async def test_a_host_that_cannot_be_surveyed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = Path(f"/tmp/arn-unit-{os.getpid()}")
    monkeypatch.setattr("arenero.isolation.probe.command", lambda directory: ["/bin/false"])
    try:
        fingerprint, parts = await open_parts(LocalConfig(state_dir=state))
    finally:
        for path in sorted(state.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        state.rmdir()
    assert parts is None
    assert "can't be surveyed" in fingerprint.reason
