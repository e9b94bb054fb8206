"""How a call that was passed on has ended, and what the client is told.

A status that the other side made goes back as it is, details and trailers included. One that gRPC made up here, since
the connection broke or an answer was too large, gets a detail that says whether the request took effect. Two rules
matter: a broken stream is never a success, and it is never 'not sent' unless that is certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import grpc

from arenero.errors import Unavailable
from arenero.gateway.proxy.metadata import returned
from arenero.rpc.status import DETAILS_KEY, from_status, to_trailers

Trailers = tuple[tuple[str, str | bytes], ...]


class TokenRefused(Unavailable):
    """execd did not take the gateway's token: the sandbox was restarted meanwhile. Nothing was done."""

    default_reason = "ENDPOINT_STALE"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of a call, for the client."""

    code: grpc.StatusCode
    message: str
    trailers: Trailers
    broke: bool = False
    """The other side did not say so itself: the connection may be gone."""

    @property
    def is_ok(self) -> bool:
        """Whether the call succeeded."""
        return self.code is grpc.StatusCode.OK


async def verdict_of(call: Any) -> Verdict:
    """Return how a call ended; waits for the end. `call` is a grpc.aio call of any kind."""
    code, message = await call.code(), await call.details() or ""
    trailers = returned(await call.trailing_metadata())
    if code is grpc.StatusCode.OK or any(key == DETAILS_KEY for key, _ in trailers):
        return Verdict(code, message, trailers)
    code, message, detail = to_trailers(from_status(code, message))
    return Verdict(code, message, (*trailers, *detail), broke=True)


def refuses_token(verdict: Verdict) -> bool:
    """Whether execd refused the token with which the gateway came, which is no fault of the client's own key."""
    return verdict.code is grpc.StatusCode.UNAUTHENTICATED
