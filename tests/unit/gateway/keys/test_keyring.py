from datetime import timedelta

import pytest

from arenero.bus.log import Entry
from arenero.bus.memory import MemoryEventLog
from arenero.errors import Unauthenticated
from arenero.gateway.keys.record import Kind
from arenero.gateway.keys.secrets import new_secret
from arenero.model.ids import TenantId, new_key_id
from tests.unit.gateway.keys.kit import Keys, keys_over
from tests.unit.gateway.keys.samples import NOW, a_key

ACTOR = "key:key_admin"


async def test_secret_opens_what_its_key_opens(keys: Keys) -> None:
    secret = new_secret()
    made = await keys.ledger.create(a_key(secret), actor=ACTOR)
    assert keys.keyring.authenticate(secret) == made
    assert keys.keyring.find(made.id) == made
    assert keys.keyring.find_by_secret(secret) == made
    assert len(keys.keyring) == 1


@pytest.mark.parametrize("secret", ["", "ark_", new_secret(), "Bearer x", "é" * 47])
async def test_other_secrets_open_nothing(keys: Keys, secret: str) -> None:
    await keys.ledger.create(a_key(), actor=ACTOR)
    with pytest.raises(Unauthenticated) as caught:
        keys.keyring.authenticate(secret)
    assert caught.value.reason == "KEY_UNKNOWN"
    assert keys.keyring.find_by_secret(secret) is None


async def test_digest_is_not_a_secret(keys: Keys) -> None:
    """Who reads the log of keys can't use what is there."""
    made = await keys.ledger.create(a_key(), actor=ACTOR)
    for guess in (made.secret_digest.hex(), made.secret_digest.decode("latin-1"), made.hint, made.id):
        with pytest.raises(Unauthenticated):
            keys.keyring.authenticate(guess)


async def test_events_key_opens_no_api(keys: Keys) -> None:
    record = a_key(kind=Kind.EVENTS, secret_digest=b"", nats_password_hash="$2a$")
    await keys.ledger.create(record, actor=ACTOR)
    with pytest.raises(Unauthenticated):
        keys.keyring.authenticate("")
    assert [key.id for key in keys.keyring.good_events_keys()] == [record.id]


async def test_revoked_key_opens_nothing_at_once(keys: Keys) -> None:
    secret = new_secret()
    made = await keys.ledger.create(a_key(secret), actor=ACTOR)
    await keys.ledger.revoke(made.id, actor=ACTOR)
    with pytest.raises(Unauthenticated) as caught:
        keys.keyring.authenticate(secret)
    assert caught.value.reason == "KEY_REVOKED"
    assert [key.id for key in keys.ended] == [made.id]


async def test_expired_key_opens_nothing_and_is_told_of_once(keys: Keys) -> None:
    secret = new_secret()
    made = await keys.ledger.create(a_key(secret, expires_at=NOW + timedelta(seconds=10)), actor=ACTOR)
    keys.clock.advance(9)
    keys.keyring.end_expired()
    assert keys.keyring.authenticate(secret) == made
    assert keys.ended == []
    keys.clock.advance(1)
    with pytest.raises(Unauthenticated) as caught:
        keys.keyring.authenticate(secret)
    assert caught.value.reason == "KEY_EXPIRED"
    keys.keyring.end_expired()
    keys.keyring.end_expired()
    assert keys.ended == [made]


async def test_lists_newest_first_and_without_what_has_ended(keys: Keys) -> None:
    made = [
        await keys.ledger.create(a_key(created_at=NOW + timedelta(seconds=n), tenant=TenantId(t)), actor=ACTOR)
        for n, t in enumerate(("acme", "beta", "acme"))
    ]
    gone = await keys.ledger.revoke(made[0].id, actor=ACTOR)
    assert keys.keyring.keys() == [made[2], made[1]]
    assert keys.keyring.keys(TenantId("acme")) == [made[2]]
    assert keys.keyring.keys(TenantId("acme"), include_ended=True) == [made[2], gone]


async def test_restart_knows_all_that_was_known() -> None:
    log, secret, revoked = MemoryEventLog("key.>"), new_secret(), new_secret()
    async with keys_over(log) as keys:
        await keys.ledger.create(a_key(secret), actor=ACTOR)
        old = await keys.ledger.create(a_key(revoked), actor=ACTOR)
        await keys.ledger.revoke(old.id, actor=ACTOR)
    async with keys_over(log) as keys:
        assert keys.keyring.authenticate(secret).name == "test"
        with pytest.raises(Unauthenticated, match="revoked"):
            keys.keyring.authenticate(revoked)


async def test_event_that_comes_twice_or_late_changes_nothing(keys: Keys) -> None:
    made = await keys.ledger.create(a_key(), actor=ACTOR)
    await keys.ledger.revoke(made.id, actor=ACTOR)
    for entry in await keys.log.history("key.>"):
        keys.keyring.apply(entry)
    found = keys.keyring.find(made.id)
    assert found is not None
    assert found.revoked_at is not None


async def test_message_that_is_no_event_is_passed_over(keys: Keys) -> None:
    keys.keyring.apply(Entry("key.acme.key_x.created", 99, NOW, b"\xff\xff"))
    assert len(keys.keyring) == 0


async def test_unknown_key_is_none(keys: Keys) -> None:
    assert keys.keyring.find(new_key_id()) is None
