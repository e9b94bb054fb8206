"""The public surface: which services clients may call, who answers, and which methods change nothing.

What is not in this table does not exist for clients; the platform's private services (`PRIVATE`) are named so that a
test can tell that none was forgotten. Kinds of calls come from the descriptors. A method of a public service that this
build does not know yet is passed on all the same, as what every kind looks like on the wire: streams both ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import ServiceDescriptor

from arenero.api.egress.v1 import egress_service_pb2, guest_service_pb2
from arenero.api.events.v1 import event_service_pb2
from arenero.api.execd.v1 import (
    code_service_pb2,
    exec_service_pb2,
    file_service_pb2,
    isolation_service_pb2,
    lease_service_pb2,
)
from arenero.api.gateway.v1 import key_service_pb2, trace_service_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.api.snapshot.v1 import image_service_pb2, snapshot_service_pb2
from arenero.api.vault.v1 import attachment_service_pb2, delivery_service_pb2, vault_service_pb2
from arenero.api.warmpool.v1 import claim_service_pb2, pool_service_pb2

DESCRIBED: Final = (
    sandbox_service_pb2, event_service_pb2, egress_service_pb2, guest_service_pb2, snapshot_service_pb2,
    image_service_pb2, pool_service_pb2, claim_service_pb2, vault_service_pb2, attachment_service_pb2,
    delivery_service_pb2, exec_service_pb2, file_service_pb2, code_service_pb2, isolation_service_pb2,
    lease_service_pb2, key_service_pb2, trace_service_pb2,
)  # fmt: skip
"""Imported for what importing does: reflection and the kinds of calls need the descriptors."""
_API: Final = "arenero.api."


class Backend(Enum):
    """Who answers a service's calls."""

    LIFECYCLE = "lifecycle"
    SNAPSHOT = "snapshot"
    WARMPOOL = "warmpool"
    VAULT = "vault"
    EXECD = "execd"
    """The daemon in the sandbox that the call names in its metadata."""
    GATEWAY = "gateway"
    """The gateway itself."""


@dataclass(frozen=True, slots=True)
class Service:
    """One public service."""

    name: str
    """Full name."""
    backend: Backend
    reads: frozenset[str]
    """Methods that change nothing: what a key with the read scope may call."""
    idle: frozenset[str] = frozenset()
    """Methods that don't count as use of the sandbox: looking whether it is there keeps nobody awake."""
    closed: frozenset[str] = frozenset()
    """Methods for the control plane only."""

    def is_read(self, method: str) -> bool:
        """Whether the method changes nothing."""
        return method in self.reads

    def is_use(self, method: str) -> bool:
        """Whether a call counts as use of the sandbox."""
        return self.backend is Backend.EXECD and method not in self.idle


@dataclass(frozen=True, slots=True)
class Method:
    """One method of a public service."""

    path: str
    """`/package.Service/Method`."""
    service: Service
    name: str
    streams_requests: bool
    streams_responses: bool


def _service(name: str, backend: Backend, reads: str, *, idle: str = "", closed: str = "") -> Service:
    return Service(
        f"{_API}{name}", backend, frozenset(reads.split()), frozenset(idle.split()), frozenset(closed.split())
    )


PUBLIC: Final[Mapping[str, Service]] = {
    service.name: service
    for service in (
        _service(
            "lifecycle.v1.SandboxService", Backend.LIFECYCLE, "Get List Watch GetStats ListRuntimes ListTemplates"
        ),
        _service("events.v1.EventService", Backend.LIFECYCLE, "Replay Follow"),
        _service(
            "egress.v1.EgressService", Backend.LIFECYCLE, "GetPolicy TestPolicy GetStatus WatchDecisions GetDraft"
        ),
        _service("snapshot.v1.SnapshotService", Backend.SNAPSHOT, "Get List Watch Diff GetRetention"),
        _service("snapshot.v1.ImageService", Backend.SNAPSHOT, "ListImages InspectImage"),
        _service("warmpool.v1.PoolService", Backend.WARMPOOL, "Get List Watch ListMembers GetStats"),
        _service("vault.v1.VaultService", Backend.VAULT, "Get List Watch Test"),
        _service(
            "execd.v1.ExecService",
            Backend.EXECD,
            "Hello Attach Wait List Get ListProcesses ListPorts",
            idle="Hello List Get ListProcesses ListPorts",
        ),
        _service(
            "execd.v1.FileService",
            Backend.EXECD,
            "Read WriteStatus ListDirectory Stat Search DownloadArchive WatchDirectory",
        ),
        _service(
            "execd.v1.CodeService",
            Backend.EXECD,
            "ListLanguages GetContext ListContexts AttachCode",
            idle="ListLanguages GetContext ListContexts",
        ),
        _service(
            "execd.v1.IsolationService",
            Backend.EXECD,
            "GetIsolationCapabilities GetSession ListSessions AttachRun GetRun ListRuns ReadRunLog DiffSession",
            idle="GetIsolationCapabilities GetSession ListSessions GetRun ListRuns",
        ),
        _service(
            "execd.v1.LeaseService",
            Backend.EXECD,
            "GetMetrics WatchMetrics",
            idle="GetMetrics WatchMetrics",
            closed="SetLease Shutdown Refresh",
        ),
        _service("gateway.v1.KeyService", Backend.GATEWAY, "WhoAmI List"),
        _service("gateway.v1.TraceService", Backend.GATEWAY, "GetTrace ListTraces"),
    )
}
"""Every public service, by full name."""

PRIVATE: Final = frozenset(
    f"{_API}{name}"
    for name in (
        "warmpool.v1.ClaimService",
        "vault.v1.AttachmentService",
        "vault.v1.DeliveryService",
        "egress.v1.GuestService",
    )
)
"""Services that the platform's parts have for each other."""


def find_method(path: str) -> Method | None:
    """Return the public method of a path, None when there is none; its service decides whether the name is known."""
    service_name, _, name = path.removeprefix("/").rpartition("/")
    service = PUBLIC.get(service_name)
    if service is None or not name.isidentifier():
        return None
    described = describe(service_name).methods_by_name.get(name)
    if described is None:
        return Method(path, service, name, streams_requests=True, streams_responses=True)
    return Method(path, service, name, described.client_streaming, described.server_streaming)


def describe(service_name: str) -> ServiceDescriptor:
    """Return the descriptor of a service of the API."""
    return descriptor_pool.Default().FindServiceByName(service_name)
