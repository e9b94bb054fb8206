"""The platform's messages as dataclasses: what records and events look like, and what a specification may hold.

They are generated from the protos with betterproto2. This module gives them short names; where two services use one
name, only the sandbox's is here. Each service's messages are loaded when one of them is first used: a program that runs
commands doesn't wait for what events are made of.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from arenero.sdk._types.arenero.api.common.v1 import (
        NetworkAction,
        NetworkPolicy,
        NetworkRule,
        PageRequest,
        PageResult,
    )
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
    from arenero.sdk._types.arenero.api.gateway.v1 import (
        Key,
        KeyKind,
        KeyScope,
        NatsAccess,
        NatsConsumer,
    )
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

# fmt: off
_SERVICES: Final = {
    "common": (
        "NetworkAction", "NetworkPolicy", "NetworkRule", "PageRequest", "PageResult",
    ),
    "events": (
        "ActivityEvent", "Event", "EventFilter", "EventLog", "SandboxEvent", "SandboxFailed",
        "SandboxRequested", "SandboxStarted", "SandboxTerminated",
    ),
    "gateway": (
        "Key", "KeyKind", "KeyScope", "NatsAccess", "NatsConsumer",
    ),
    "lifecycle": (
        "BucketVolume", "Endpoint", "GetStatsResponse", "IdleAction", "IdlePolicy", "ImageSource",
        "Isolation", "IsolationLevel", "Lifetime", "OciLayoutSource", "ResolvedSource", "Resources",
        "Runtime", "RuntimeCheck", "Sandbox", "SandboxFilter", "SandboxSpec", "SandboxState", "Source",
        "Template", "TimeoutAction", "VolumeMount",
    ),
}
# fmt: on
_SERVICE_OF: Final = {name: service for service, names in _SERVICES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a message's service."""
    if name not in _SERVICE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"arenero.sdk._types.arenero.api.{_SERVICE_OF[name]}.v1")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_SERVICE_OF])
