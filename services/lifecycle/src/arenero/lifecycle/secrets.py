"""The two keys of lifecycle, each in a file of its own that only its owner can read.

- The *signing key* (Ed25519) signs the tokens that open one sandbox's execd. execd knows the public half.
- The *record key* seals what lifecycle keeps in the log for itself: tenants may read the log, and handles name
  processes and paths of the host.

A key is made at the first start and never changed. Several lifecycles of one platform share the files.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from secrets import token_hex
from typing import Final

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.signing import SigningKey

from arenero.errors import FailedPrecondition

KEY_BYTES: Final = 32


class Sealer:
    """Seals and opens bytes with the record key (NaCl's secretbox, the nonce first)."""

    def __init__(self, key: bytes) -> None:
        self._box = SecretBox(key)

    def seal(self, plain: bytes) -> bytes:
        """Return the bytes sealed."""
        return bytes(self._box.encrypt(plain))

    def open(self, sealed: bytes) -> bytes | None:
        """Return the plain bytes; None when they were sealed with another key or are damaged."""
        try:
            return self._box.decrypt(sealed)
        except (CryptoError, ValueError):
            return None


def load_signing_key(directory: Path) -> SigningKey:
    """Return the key that signs sandbox tokens; made when missing. Errors as in `load_key`."""
    return SigningKey(load_key(directory / "sandbox-signing.key"))


def load_sealer(directory: Path) -> Sealer:
    """Return what seals records; its key is made when missing. Errors as in `load_key`."""
    return Sealer(load_key(directory / "records.key"))


def load_key(path: Path) -> bytes:
    """Return a key of 32 bytes from a file of mode 0600; make it when missing. Two that start at once get the same.

    Raises:
        FailedPrecondition: Others may read the file, or it holds no such key.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        _make(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise FailedPrecondition(
            f"others may read the key file {path}", reason="KEY_FILE_MODE", fix=f"run: chmod 600 {path}"
        )
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise FailedPrecondition(f"the key file {path} holds {len(key)} bytes, not {KEY_BYTES}", reason="KEY_FILE_SIZE")
    return key


def _make(path: Path) -> None:
    """Write a new key aside, whole and on disk, and link it into place unless another process was first."""
    scratch = path.with_name(f".{path.name}.{token_hex(8)}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(scratch, path)
        except FileExistsError:
            pass  # the other one's key counts
    finally:
        scratch.unlink()
