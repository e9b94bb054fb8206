"""Sandbox tokens: who may call this execd, as signed by the control plane.

A token is `base64url(claims) "." base64url(signature)`, without padding, signed over its first part as it stands. The
claims name this sandbox, its generation, an end and the audience `execd`. Nothing secret is needed to check one, so
nothing secret is here. A checked token is remembered until it ends, since the signature is the dear part.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from arenero.errors import PermissionDenied, Unauthenticated

AUDIENCE: Final = "execd"
MAX_TOKEN_CHARS: Final = 4096
_MAX_REMEMBERED: Final = 256


@dataclass(frozen=True, slots=True)
class _Grant:
    """What a token allows."""

    end_s: float
    """Unix time."""
    control: bool
    """To change the sandbox itself."""


class TokenCheck:
    """Checks tokens for one sandbox."""

    def __init__(
        self, public_key: bytes, sandbox_id: str, generation: int, now_s: Callable[[], float] = time.time
    ) -> None:
        self._key = VerifyKey(public_key)
        self._sandbox_id = sandbox_id
        self._generation = generation
        self._now_s = now_s
        self._known: dict[str, _Grant] = {}

    def change(self, sandbox_id: str, generation: int) -> None:
        """The sandbox has a new identity: all tokens of the old one are void from now on."""
        self._sandbox_id = sandbox_id
        self._generation = generation
        self._known.clear()

    def check(self, token: str, *, control: bool = False) -> None:
        """Return if the token is good.

        Args:
            token: What the caller sent.
            control: It must be one that the control plane keeps for itself, not one that it gives out.

        Raises:
            Unauthenticated: It is malformed, not signed by the control plane, or has ended.
            PermissionDenied: It is for another sandbox or an older generation of this one, or not for control.
        """
        grant = self._known.get(token)
        if grant is None:
            grant = self._verify(token)
            if len(self._known) >= _MAX_REMEMBERED:
                self._known.clear()
            self._known[token] = grant
        if self._now_s() >= grant.end_s:
            self._known.pop(token, None)
            raise Unauthenticated("the sandbox token has ended", reason="TOKEN_EXPIRED", fix="get a new endpoint")
        if control and not grant.control:
            raise PermissionDenied(
                "only the control plane may do this", reason="TOKEN_NOT_CONTROL", fix="ask SandboxService"
            )

    def _verify(self, token: str) -> _Grant:
        """Return what a token allows, after all checks but that of its end."""
        claims = self._open(token)
        end_s = claims.get("exp")
        if claims.get("aud") != AUDIENCE or isinstance(end_s, bool) or not isinstance(end_s, int | float):
            raise Unauthenticated("the token is not for execd", reason="TOKEN_AUDIENCE")
        if claims.get("sandbox_id") != self._sandbox_id:
            raise PermissionDenied("the token is for another sandbox", reason="TOKEN_SANDBOX")
        if claims.get("generation") != self._generation:
            raise PermissionDenied("the token is for another generation of the sandbox", reason="TOKEN_GENERATION")
        return _Grant(float(end_s), claims.get("control") is True)

    def _open(self, token: str) -> dict[str, Any]:
        """Check the signature and return the claims."""
        body, dot, signature = token.partition(".")
        try:
            if not dot or len(token) > MAX_TOKEN_CHARS:
                raise ValueError("no token")
            self._key.verify(body.encode(), _decode(signature))
            claims = json.loads(_decode(body))
        except (ValueError, BadSignatureError, binascii.Error, RecursionError):
            raise Unauthenticated("the token is not one of this platform's", reason="TOKEN_INVALID") from None
        if not isinstance(claims, dict):
            raise Unauthenticated("the token has no claims", reason="TOKEN_INVALID")
        return claims


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
