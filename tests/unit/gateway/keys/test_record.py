from dataclasses import replace
from datetime import timedelta

from tests.unit.gateway.keys.samples import NOW, a_key


def test_key_is_good_until_it_ends() -> None:
    key = replace(a_key(), expires_at=NOW + timedelta(seconds=10))
    assert key.is_good(NOW)
    assert key.is_good(NOW + timedelta(seconds=9.999))
    assert not key.is_good(NOW + timedelta(seconds=10))
    assert not replace(key, revoked_at=NOW).is_good(NOW)
    assert replace(key, expires_at=None).is_good(NOW + timedelta(days=10_000))


def test_actor_names_the_key() -> None:
    key = a_key()
    assert key.actor == f"key:{key.id}"
