"""Sandbox tokens: what is in them, and that the public half of the key checks them."""

import base64
import json

from nacl.signing import SigningKey, VerifyKey

from arenero.lifecycle.tokens import TokenSigner
from arenero.testing.clock import ManualClock
from tests.unit.lifecycle.samples import a_record


def decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def test_a_token_names_one_boot_of_one_sandbox_and_its_end() -> None:
    clock = ManualClock()
    signer = TokenSigner(SigningKey(b"s" * 32), clock)
    record = a_record(generation=3)
    token = signer.sign(record, 0.5)
    body, signature = token.text.split(".")
    assert "=" not in token.text
    assert json.loads(decode(body)) == {
        "sandbox_id": record.id,
        "generation": 3,
        "exp": int(clock.now().timestamp()) + 1,  # whole seconds upwards
        "aud": "execd",
    }
    assert (token.expires_at - clock.now()).total_seconds() == 0.5
    VerifyKey(signer.public_key).verify(body.encode(), decode(signature))


def test_only_a_token_for_control_says_so() -> None:
    signer = TokenSigner(SigningKey(b"s" * 32), ManualClock())
    body, _ = signer.sign(a_record(), 60, control=True).text.split(".")
    assert json.loads(decode(body))["control"] is True
