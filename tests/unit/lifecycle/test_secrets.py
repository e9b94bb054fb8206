"""The key files, and sealing with one."""

import threading
from pathlib import Path

import pytest

from arenero.errors import FailedPrecondition
from arenero.lifecycle.secrets import Sealer, load_key, load_sealer, load_signing_key


def test_a_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "one.key"
    first = load_key(path)
    assert len(first) == 32
    assert load_key(path) == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [p.name for p in path.parent.iterdir()] == ["one.key"]


def test_many_that_start_at_once_get_the_same_key(tmp_path: Path) -> None:
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(load_key(tmp_path / "one.key"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    load_key(tmp_path / "one.key")
    (tmp_path / "one.key").chmod(mode)
    with pytest.raises(FailedPrecondition) as refusal:
        load_key(tmp_path / "one.key")
    assert (refusal.value.reason, "chmod 600" in refusal.value.fix) == ("KEY_FILE_MODE", True)


def test_a_damaged_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.key").write_bytes(b"short")
    (tmp_path / "one.key").chmod(0o600)
    with pytest.raises(FailedPrecondition) as refusal:
        load_key(tmp_path / "one.key")
    assert refusal.value.reason == "KEY_FILE_SIZE"


def test_signing_and_sealing_have_keys_of_their_own(tmp_path: Path) -> None:
    signing, sealer = load_signing_key(tmp_path), load_sealer(tmp_path)
    assert load_signing_key(tmp_path) == signing
    assert load_sealer(tmp_path).open(sealer.seal(b"handle")) == b"handle"
    assert Sealer(bytes(signing)).open(sealer.seal(b"handle")) is None


@pytest.mark.parametrize("damage", [lambda s: s[:-1], lambda s: s[1:], lambda s: b"", lambda s: s[:30] + b"x" + s[31:]])
def test_damaged_bytes_open_to_nothing(damage: object) -> None:
    sealer = Sealer(b"k" * 32)
    assert sealer.open(damage(sealer.seal(b"x" * 40))) is None  # type: ignore[operator]


def test_equal_bytes_are_sealed_differently() -> None:
    sealer = Sealer(b"k" * 32)
    assert sealer.seal(b"same") != sealer.seal(b"same")
