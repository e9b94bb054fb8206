"""The secret of an API key: made once, told once, kept as a hash.

It is 256 bits from the system's generator, so there is nothing to guess and a fast hash is the right one: slow hashes
are for passwords that people choose. The prefix lets scanners for leaked secrets find it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

PREFIX: Final = "ark_"
_FORM: Final = re.compile(r"ark_[A-Za-z0-9_-]{43}")
_HINT_CHARS: Final = len(PREFIX) + 4


def new_secret() -> str:
    """Return a new secret, `ark_` and 43 characters."""
    return PREFIX + secrets.token_urlsafe(32)


def is_secret(text: str) -> bool:
    """Whether a text has the form of a secret."""
    return _FORM.fullmatch(text) is not None


def digest_of(secret: str) -> bytes:
    """Return the hash under which a secret is known."""
    return hashlib.sha256(secret.encode()).digest()


def hint_of(secret: str) -> str:
    """Return the beginning of a secret, by which people tell keys apart: 24 of its 256 bits."""
    return secret[:_HINT_CHARS]
