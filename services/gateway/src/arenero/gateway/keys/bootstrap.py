"""The first key: in a file that only the platform's owner can read, so that whoever runs the platform can use it.

The file is the truth about the secret, the log about the key. The secret is in the file before the key is in the log,
so a crash between the two is mended by the next start, and no key is left whose secret nobody has. An operator may
provide the file, too. A key of the file that was revoked is replaced by a new one: who can write this file owns the
platform.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path

from arenero.errors import FailedPrecondition
from arenero.gateway.keys.keyring import Keyring
from arenero.gateway.keys.ledger import Ledger
from arenero.gateway.keys.record import KeyRecord, Kind, Scope
from arenero.gateway.keys.secrets import digest_of, hint_of, is_secret, new_secret
from arenero.model.ids import new_key_id, parse_tenant_id
from arenero.model.time import Clock

_log = logging.getLogger(__name__)
ACTOR = "system:bootstrap"
NAME = "bootstrap"


@dataclass(frozen=True, slots=True)
class BootstrapConfig:
    """The first key."""

    file: Path | None = None
    """File of mode 0600 with its secret; made when missing. None: there is no first key."""
    tenant: str = "default"
    """Tenant that it opens, beside managing keys."""


async def ensure_key(config: BootstrapConfig, keyring: Keyring, ledger: Ledger, clock: Clock) -> KeyRecord | None:
    """Make sure that the file's key is good, and return it.

    Raises:
        FailedPrecondition: The file holds something else, or others can read it.
        Unavailable: The log is away.
    """
    if config.file is None:
        return None
    secret = _read(config.file)
    known = keyring.find_by_secret(secret) if secret else None
    if known is not None and known.is_good(clock.now()):
        return known
    if not secret or known is not None:
        secret = new_secret()
        _write(config.file, secret)
    record = KeyRecord(
        id=new_key_id(),
        tenant=parse_tenant_id(config.tenant),
        name=NAME,
        kind=Kind.API,
        scopes=frozenset({Scope.ADMIN, Scope.TENANT}),
        created_at=clock.now(),
        hint=hint_of(secret),
        secret_digest=digest_of(secret),
    )
    _log.info("keys.bootstrap", extra={"key_id": record.id, "file": str(config.file)})
    return await ledger.create(record, actor=ACTOR)


def _read(path: Path) -> str:
    """Return the secret in a file, nothing when there is no file."""
    try:
        with path.open() as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(256).strip()
    except FileNotFoundError:
        return ""
    if mode & 0o077:
        raise FailedPrecondition(f"others can read the key in {path}", reason="KEY_FILE", fix=f"chmod 600 {path}")
    if not is_secret(secret):
        raise FailedPrecondition(f"{path} holds no API key", reason="KEY_FILE", fix="remove it, and one is made")
    return secret


def _write(path: Path, secret: str) -> None:
    """Write a file that a reader sees whole or not at all, and that survives a crash of the machine."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{secret}\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
