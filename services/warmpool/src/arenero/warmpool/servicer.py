"""Pools and claims over gRPC.

This build has the API and not what is behind it. A method that is not overridden here answers UNIMPLEMENTED with the
reason NOT_YET_AVAILABLE and its own name: `arenero.rpc` does that for whatever a servicer leaves to its generated base.
"""

from __future__ import annotations

from arenero.api.warmpool.v1.claim_service_pb2_grpc import ClaimServiceServicer
from arenero.api.warmpool.v1.pool_service_pb2_grpc import PoolServiceServicer


class PoolServicer(PoolServiceServicer):
    """Keeps pools of ready sandboxes."""


class ClaimServicer(ClaimServiceServicer):
    """Hands out members; for lifecycle alone."""
