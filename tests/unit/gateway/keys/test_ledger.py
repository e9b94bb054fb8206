import asyncio

import pytest

from arenero.bus.envelope import unpack
from arenero.errors import NotFound, Unavailable
from arenero.model.ids import new_key_id
from tests.unit.gateway.keys.kit import Keys
from tests.unit.gateway.keys.samples import a_key

ACTOR = "key:key_admin"


async def test_each_change_is_one_event_that_says_who_and_what(keys: Keys) -> None:
    made = await keys.ledger.create(a_key(), actor=ACTOR)
    await keys.ledger.revoke(made.id, actor="key:key_other")
    events = [unpack(entry) for entry in await keys.log.history("key.>")]
    assert [event.subject for event in events] == [f"key.acme.{made.id}.created", f"key.acme.{made.id}.revoked"]
    assert [event.actor for event in events] == [ACTOR, "key:key_other"]
    assert events[1].key.key.HasField("revoked_at")


async def test_no_event_holds_a_secret(keys: Keys) -> None:
    secret = "ark_" + "s" * 43
    made = await keys.ledger.create(a_key(secret), actor=ACTOR)
    await keys.ledger.revoke(made.id, actor=ACTOR)
    for entry in await keys.log.history("key.>"):
        assert secret.encode() not in entry.data


async def test_key_whose_making_is_repeated_is_made_once(keys: Keys) -> None:
    record = a_key()
    first = await keys.ledger.create(record, actor=ACTOR)
    assert await keys.ledger.create(record, actor=ACTOR) == first
    assert len(await keys.log.history("key.>")) == 1


async def test_revoking_twice_is_no_error_and_no_second_event(keys: Keys) -> None:
    made = await keys.ledger.create(a_key(), actor=ACTOR)
    first = await keys.ledger.revoke(made.id, actor=ACTOR)
    keys.clock.advance(5)
    assert (await keys.ledger.revoke(made.id, actor=ACTOR)).revoked_at == first.revoked_at
    assert len(await keys.log.history("key.>")) == 2


async def test_many_revoke_at_once_and_one_of_them_does(keys: Keys) -> None:
    made = await keys.ledger.create(a_key(), actor=ACTOR)
    done = await asyncio.gather(*(keys.ledger.revoke(made.id, actor=f"key:{n}") for n in range(10)))
    assert len({record.revoked_at for record in done}) == 1
    assert len(await keys.log.history("key.>")) == 2


async def test_unknown_key_can_not_be_revoked(keys: Keys) -> None:
    with pytest.raises(NotFound):
        await keys.ledger.revoke(new_key_id(), actor=ACTOR)


async def test_log_that_is_away_is_said_and_nothing_is_changed(keys: Keys) -> None:
    made = await keys.ledger.create(a_key(), actor=ACTOR)
    keys.log.go_away()
    with pytest.raises(Unavailable):
        await keys.ledger.revoke(made.id, actor=ACTOR)
    assert keys.keyring.keys() == [made]
