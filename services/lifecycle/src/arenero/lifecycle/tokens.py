"""Sandbox tokens: what opens the execd of one sandbox, for a while.

A token is `base64url(claims) "." base64url(signature)`, both without padding. The claims are a JSON object:

    sandbox_id   the only sandbox that it opens
    generation   the only boot of it; a token from before a release and resume is void
    exp          seconds since 1970 after which it is void
    aud          always `execd`

The signature is Ed25519 over the first part as it stands in the token: nothing has to be parsed before it is checked.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from nacl.signing import SigningKey

from arenero.model.record import SandboxRecord
from arenero.model.time import Clock

AUDIENCE: Final = "execd"


@dataclass(frozen=True, slots=True)
class Token:
    """A signed token and its end."""

    text: str
    expires_at: datetime


class TokenSigner:
    """Signs sandbox tokens."""

    def __init__(self, key: SigningKey, clock: Clock) -> None:
        self._key = key
        self._clock = clock
        self.public_key = bytes(key.verify_key)
        """32 bytes that execd checks tokens with."""

    def sign(self, record: SandboxRecord, ttl_s: float, *, control: bool = False) -> Token:
        """Return a token for a sandbox's present boot, good for so many seconds, whole ones upwards.

        Args:
            record: The sandbox.
            ttl_s: How long it is good.
            control: It may change the sandbox's lease and identity too; never to be given out.
        """
        expires_at = self._clock.now() + timedelta(seconds=ttl_s)
        exp = -int(-expires_at.timestamp() // 1)
        claims = {"sandbox_id": record.id, "generation": record.generation, "exp": exp, "aud": AUDIENCE}
        if control:
            claims["control"] = True
        body = _encode(json.dumps(claims, separators=(",", ":")).encode())
        signature = _encode(self._key.sign(body.encode()).signature)
        return Token(f"{body}.{signature}", expires_at)


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")
