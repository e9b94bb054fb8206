"""Tokens: only the control plane's, only for this sandbox's present generation, only until their end."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from nacl.signing import SigningKey

from arenero.errors import ArenError, PermissionDenied, Unauthenticated
from arenero.execd.tokens import TokenCheck

KEY = SigningKey(b"k" * 32)
SANDBOX = "sbx_aaaaaaaaaaaaaaaaaaaa"
CLAIMS = {"sandbox_id": SANDBOX, "generation": 3, "exp": 1000, "aud": "execd"}


class Clock:
    now_s = 500.0

    def __call__(self) -> float:
        return self.now_s


def encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def sign(body: str, key: SigningKey = KEY) -> str:
    return f"{body}.{encode(key.sign(body.encode()).signature)}"


def token(key: SigningKey = KEY, **claims: Any) -> str:
    return sign(encode(json.dumps(CLAIMS | claims).encode()), key)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def check(clock: Clock) -> TokenCheck:
    return TokenCheck(bytes(KEY.verify_key), SANDBOX, 3, clock)


def test_good_token_opens_until_its_end(check: TokenCheck, clock: Clock) -> None:
    good = token()
    check.check(good)
    check.check(good)
    clock.now_s = 999.9
    check.check(good)
    clock.now_s = 1000.0
    with pytest.raises(Unauthenticated, match="ended"):
        check.check(good)


@pytest.mark.parametrize(
    ("bad", "kind", "reason"),
    [
        ("", Unauthenticated, "TOKEN_INVALID"),
        ("no-dot", Unauthenticated, "TOKEN_INVALID"),
        (".", Unauthenticated, "TOKEN_INVALID"),
        ("x" * 5000 + ".y", Unauthenticated, "TOKEN_INVALID"),
        (token(SigningKey(b"o" * 32)), Unauthenticated, "TOKEN_INVALID"),
        (token()[:-8] + "AAAAAAAA", Unauthenticated, "TOKEN_INVALID"),
        (token(exp=10), Unauthenticated, "TOKEN_EXPIRED"),
        (token(exp="1e9"), Unauthenticated, "TOKEN_AUDIENCE"),
        (token(exp=True), Unauthenticated, "TOKEN_AUDIENCE"),
        (token(aud="lifecycle"), Unauthenticated, "TOKEN_AUDIENCE"),
        (token(sandbox_id="sbx_bbbbbbbbbbbbbbbbbbbb"), PermissionDenied, "TOKEN_SANDBOX"),
        (token(generation=2), PermissionDenied, "TOKEN_GENERATION"),
        (sign(encode(b"[1, 2]")), Unauthenticated, "TOKEN_INVALID"),
        (sign(encode(b"[" * 3000)), Unauthenticated, "TOKEN_INVALID"),
        (sign(encode(b"\xff")), Unauthenticated, "TOKEN_INVALID"),
        (sign("a b"), Unauthenticated, "TOKEN_INVALID"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else value.__name__,
)
def test_bad_token_is_refused_with_its_reason(check: TokenCheck, bad: str, kind: type[ArenError], reason: str) -> None:
    with pytest.raises(kind) as caught:
        check.check(bad)
    assert caught.value.reason == reason


def test_new_identity_voids_the_tokens_of_the_old_one(check: TokenCheck) -> None:
    check.check(token())
    check.change(SANDBOX, 4)
    with pytest.raises(PermissionDenied):
        check.check(token())
    check.check(token(generation=4))


def test_many_tokens_do_not_fill_the_memory(check: TokenCheck) -> None:
    for end in range(1000, 1600):
        check.check(token(exp=end))
    assert len(check._known) <= 256


def test_only_a_token_for_control_controls(check: TokenCheck) -> None:
    check.check(token(control=True), control=True)
    for given in (token(), token(control=1), token(control="true")):
        check.check(given)
        with pytest.raises(PermissionDenied, match="control plane"):
            check.check(given, control=True)
