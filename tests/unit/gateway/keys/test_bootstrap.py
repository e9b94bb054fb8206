from pathlib import Path

import pytest

from arenero.bus.memory import MemoryEventLog
from arenero.errors import FailedPrecondition, Unavailable
from arenero.gateway.keys import bootstrap
from arenero.gateway.keys.bootstrap import BootstrapConfig
from arenero.gateway.keys.record import KeyRecord, Scope
from arenero.gateway.keys.secrets import new_secret
from tests.unit.gateway.keys.kit import Keys, keys_over


@pytest.fixture
def config(tmp_path: Path) -> BootstrapConfig:
    return BootstrapConfig(tmp_path / "home" / "admin.key")


async def ensured(config: BootstrapConfig, keys: Keys) -> KeyRecord:
    key = await bootstrap.ensure_key(config, keys.keyring, keys.ledger, keys.clock)
    assert key is not None
    return key


def secret_in(config: BootstrapConfig) -> str:
    assert config.file is not None
    return config.file.read_text().strip()


async def test_first_start_makes_a_key_in_a_file_of_the_owners(config: BootstrapConfig, keys: Keys) -> None:
    made = await ensured(config, keys)
    assert config.file is not None
    assert config.file.stat().st_mode & 0o777 == 0o600
    assert keys.keyring.authenticate(secret_in(config)) == made
    assert made.scopes == {Scope.ADMIN, Scope.TENANT}
    assert made.tenant == "default"


async def test_later_starts_use_it(config: BootstrapConfig) -> None:
    log = MemoryEventLog("key.>")
    async with keys_over(log) as keys:
        made = await ensured(config, keys)
    async with keys_over(log) as keys:
        assert (await ensured(config, keys)).id == made.id
        assert len(keys.keyring) == 1


async def test_crash_between_file_and_log_is_mended(config: BootstrapConfig, keys: Keys) -> None:
    keys.log.go_away()
    with pytest.raises(Unavailable):
        await ensured(config, keys)
    left = secret_in(config)
    await keys.log.come_back()
    made = await ensured(config, keys)
    assert secret_in(config) == left
    assert keys.keyring.authenticate(left).id == made.id
    assert len(keys.keyring) == 1


async def test_operator_may_provide_the_secret(config: BootstrapConfig, keys: Keys) -> None:
    assert config.file is not None
    config.file.parent.mkdir()
    config.file.touch(0o600)
    config.file.write_text(secret := new_secret())
    made = await ensured(config, keys)
    assert keys.keyring.authenticate(secret) == made


async def test_revoked_key_is_replaced(config: BootstrapConfig, keys: Keys) -> None:
    first = await ensured(config, keys)
    old = secret_in(config)
    await keys.ledger.revoke(first.id, actor="key:key_x")
    second = await ensured(config, keys)
    assert second.id != first.id
    assert secret_in(config) != old
    assert keys.keyring.authenticate(secret_in(config)).id == second.id


async def test_lost_file_is_replaced_by_another_key(config: BootstrapConfig, keys: Keys) -> None:
    first = await ensured(config, keys)
    assert config.file is not None
    config.file.unlink()
    assert (await ensured(config, keys)).id != first.id


async def test_file_that_others_can_read_stops_the_start(config: BootstrapConfig, keys: Keys) -> None:
    await ensured(config, keys)
    assert config.file is not None
    config.file.chmod(0o640)
    with pytest.raises(FailedPrecondition, match="others can read"):
        await ensured(config, keys)


async def test_file_with_something_else_is_left_alone(config: BootstrapConfig, keys: Keys) -> None:
    assert config.file is not None
    config.file.parent.mkdir()
    config.file.touch(0o600)
    config.file.write_text("precious")
    with pytest.raises(FailedPrecondition, match="no API key"):
        await ensured(config, keys)
    assert config.file.read_text() == "precious"


async def test_without_a_file_there_is_no_first_key(keys: Keys) -> None:
    assert await bootstrap.ensure_key(BootstrapConfig(None), keys.keyring, keys.ledger, keys.clock) is None
    assert len(keys.keyring) == 0
