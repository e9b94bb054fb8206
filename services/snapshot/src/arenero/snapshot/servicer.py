"""Snapshots and images over gRPC.

This build has the API and not what is behind it. A method that is not overridden here answers UNIMPLEMENTED with the
reason NOT_YET_AVAILABLE and its own name: `arenero.rpc` does that for whatever a servicer leaves to its generated base.
"""

from __future__ import annotations

from arenero.api.snapshot.v1.image_service_pb2_grpc import ImageServiceServicer
from arenero.api.snapshot.v1.snapshot_service_pb2_grpc import SnapshotServiceServicer


class SnapshotServicer(SnapshotServiceServicer):
    """Captures sandboxes, keeps the captures and moves them."""


class ImageServicer(ImageServiceServicer):
    """Keeps images in the store that snapshots share."""
