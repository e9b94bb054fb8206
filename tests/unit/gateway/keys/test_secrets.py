import hashlib

import pytest

from arenero.gateway.keys.secrets import digest_of, hint_of, is_secret, new_secret


def test_secrets_are_long_different_and_known_by_their_form() -> None:
    made = {new_secret() for _ in range(1000)}
    assert len(made) == 1000
    assert all(is_secret(secret) and len(secret) == 47 for secret in made)


@pytest.mark.parametrize(
    "text", ["", "ark_", "ark_" + "a" * 42, "ark_" + "a" * 44, "xrk_" + "a" * 43, "ark_" + "é" * 43, " ark_" + "a" * 43]
)
def test_other_texts_are_none(text: str) -> None:
    assert not is_secret(text)


def test_digest_is_sha256_and_hint_gives_little_away() -> None:
    secret = new_secret()
    assert digest_of(secret) == hashlib.sha256(secret.encode()).digest()
    assert secret.startswith(hint_of(secret))
    assert len(hint_of(secret)) == 8
