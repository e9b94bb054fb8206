"""The platform's messages as dataclasses: what records and events look like, and what a specification may hold.

They are generated from the protos with betterproto2. This module gives them short names; where two services use one
name, only the sandbox's is here.
"""

from __future__ import annotations

from arenero.sdk._types.arenero.api.common.v1 import NetworkAction, NetworkPolicy, NetworkRule, PageRequest, PageResult
from arenero.sdk._types.arenero.api.events.v1 import (
    ActivityEvent,
    Event,
    EventFilter,
    EventLog,
    SandboxEvent,
    SandboxFailed,
    SandboxRequested,
    SandboxStarted,
    SandboxTerminated,
)
from arenero.sdk._types.arenero.api.gateway.v1 import Key, KeyKind, KeyScope, NatsAccess, NatsConsumer
from arenero.sdk._types.arenero.api.lifecycle.v1 import (
    BucketVolume,
    Endpoint,
    GetStatsResponse,
    IdleAction,
    IdlePolicy,
    ImageSource,
    Isolation,
    IsolationLevel,
    Lifetime,
    OciLayoutSource,
    ResolvedSource,
    Resources,
    Runtime,
    RuntimeCheck,
    Sandbox,
    SandboxFilter,
    SandboxSpec,
    SandboxState,
    Source,
    Template,
    TimeoutAction,
    VolumeMount,
)

__all__ = [
    "ActivityEvent",
    "BucketVolume",
    "Endpoint",
    "Event",
    "EventFilter",
    "EventLog",
    "GetStatsResponse",
    "IdleAction",
    "IdlePolicy",
    "ImageSource",
    "Isolation",
    "IsolationLevel",
    "Key",
    "KeyKind",
    "KeyScope",
    "Lifetime",
    "NatsAccess",
    "NatsConsumer",
    "NetworkAction",
    "NetworkPolicy",
    "NetworkRule",
    "OciLayoutSource",
    "PageRequest",
    "PageResult",
    "ResolvedSource",
    "Resources",
    "Runtime",
    "RuntimeCheck",
    "Sandbox",
    "SandboxEvent",
    "SandboxFailed",
    "SandboxFilter",
    "SandboxRequested",
    "SandboxSpec",
    "SandboxStarted",
    "SandboxState",
    "SandboxTerminated",
    "Source",
    "Template",
    "TimeoutAction",
    "VolumeMount",
]
