"""How to reach something in a sandbox: an address, and the token that opens it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arenero.errors import Unsupported
from arenero.lifecycle.sandboxes import not_running
from arenero.lifecycle.tokens import TokenSigner
from arenero.model.fields import FieldError, check_number, check_span
from arenero.model.record import SandboxRecord
from arenero.model.states import SandboxState

DEFAULT_TOKEN_TTL_S: Final = 3600.0
MAX_TOKEN_TTL_S: Final = 86_400.0
MIN_TOKEN_TTL_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Access:
    """An address with its token."""

    address: str
    token: str
    token_expires_at: datetime
    generation: int


class Endpoints:
    """Answers how to reach sandboxes.

    Args:
        signer: Signs the tokens.
    """

    def __init__(self, signer: TokenSigner) -> None:
        self._signer = signer

    def find_execd(self, record: SandboxRecord) -> Access | None:
        """Return the way to a sandbox's execd; None while it doesn't run, or where its runtime has none."""
        if record.state is not SandboxState.RUNNING or record.endpoint is None:
            return None
        return self.execd(record, DEFAULT_TOKEN_TTL_S)

    def execd(self, record: SandboxRecord, token_ttl_s: float) -> Access:
        """Return the way to a sandbox's execd.

        Raises:
            FailedPrecondition: It doesn't run.
            Unsupported: Nothing answers in sandboxes of its runtime.
        """
        if record.state is not SandboxState.RUNNING:
            raise not_running(record)
        if record.endpoint is None:
            raise Unsupported(f"sandboxes of the runtime {record.spec.runtime} have no execd", reason="NO_EXECD")
        token = self._signer.sign(record, token_ttl_s)
        return Access(record.endpoint.address, token.text, token.expires_at, record.generation)

    def port(self, record: SandboxRecord, port: int) -> Access:
        """Return the way to a port of a sandbox.

        Raises:
            FailedPrecondition: It doesn't run.
            Unsupported: Always, for now.
        """
        if record.state is not SandboxState.RUNNING:
            raise not_running(record)
        raise Unsupported("endpoints of ports aren't there yet", reason="PORT_ENDPOINTS_UNSUPPORTED", field="port")


def check_endpoint(port: int, token_ttl_s: float) -> list[FieldError]:
    """Check what is asked of an endpoint."""
    return [
        *check_span("token_ttl", token_ttl_s, low_s=MIN_TOKEN_TTL_S, high_s=MAX_TOKEN_TTL_S),
        *check_number("port", port, low=0, high=65_535),
    ]
