"""The contract between lifecycle and whatever runs sandboxes.

A *driver* makes sandboxes of one runtime and finds them again. It keeps nothing that it could not read back from a
`Handle`, which lifecycle stores after every step; after a restart lifecycle hands it in again.

Life of a sandbox as a driver sees it:

    create ──> start ──> (running) ──> stop ──> destroy
       │          │           │                    ▲
       └──────────┴───────────┴── at any point ────┘

- `create` sets aside what the sandbox needs (directories, cgroup, root file system) and runs nothing of the tenant's.
- `start` runs execd in it. When it returns, execd's socket exists; lifecycle then asks execd itself whether it answers.
- `stop` ends every process. `destroy` removes everything, and is the only undo there is: it works from any state.
- `recover` looks for a sandbox after a restart of lifecycle and adopts it, or says how it ended.

What holds for every method:

- It may be repeated: with the same launch or handle it does what is still to do and returns the same answer.
- When cancelled it may have acted. The caller repeats it or destroys the sandbox.
- It raises only `arenero.errors`: `Unsupported` when this driver or host can't, `ResourceExhausted` when there is no
  room, `NotFound` when the handle's sandbox is gone (never from `stop` and `destroy`), `Unavailable` when its daemon is
  away, `FailedPrecondition` for the rest.
- Nothing that the sandbox can write is trusted.

Powers that not every runtime has are protocols of their own (`Freezer`, …): a driver has the power when its
`Capabilities` say so and it implements the protocol. `arenero.runtime.suite` checks all of this for every driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from arenero.model.ids import SandboxId, TenantId
from arenero.model.record import ExitFacts, Handle, Isolation, ResolvedSource
from arenero.model.spec import SandboxSpec
from arenero.runtime.capabilities import Capabilities, Fingerprint


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything a driver needs to make a sandbox. The spec is complete and was checked."""

    sandbox_id: SandboxId
    tenant: TenantId
    generation: int
    spec: SandboxSpec
    hostname: str
    execd_public_key: bytes
    """Ed25519 key, 32 bytes, that execd checks its callers' tokens with."""
    ttl_s: float | None = None
    """Time left to live when the sandbox starts; execd ends it then by itself. None: no end."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment of every process in it, the platform's own variables included."""
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class StepSpan:
    """One timed part of a driver's step, for traces."""

    name: str
    """For example `driver.local.rootfs`."""
    start_unix_ns: int
    end_unix_ns: int


@dataclass(frozen=True, slots=True)
class Created:
    """What `create` made."""

    handle: Handle
    source: ResolvedSource
    spans: Sequence[StepSpan] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """What `start` made."""

    handle: Handle
    address: str
    """gRPC target of execd, reachable from this host."""
    isolation: Isolation
    spans: Sequence[StepSpan] = ()
    guest_spans: Sequence[StepSpan] = ()
    """What it consisted of by the sandbox's own account, which is not to be trusted."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of a sandbox while lifecycle was away."""

    running: bool
    address: str = ""
    """gRPC target of execd while it runs."""
    handle: Handle | None = None
    """The handle to store from now on, when it changed."""
    exit: ExitFacts | None = None
    """How it ended, as far as that can still be told."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What a sandbox uses, measured from outside; None where this host can't measure it."""

    cpu_time_s: float | None = None
    memory_bytes: int | None = None
    memory_peak_bytes: int | None = None
    pids: int | None = None
    disk_bytes: int | None = None
    oom_kills: int | None = None


class Driver(Protocol):
    """Makes sandboxes of one runtime and finds them again."""

    @property
    def name(self) -> str:
        """The runtime's name, for example `local`."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do on this host. Complete once `open` has returned."""
        ...

    async def open(self) -> Fingerprint:
        """Find out what this host gives, and start what the driver itself needs. Raises nothing for a lacking host."""
        ...

    async def close(self) -> None:
        """Let go of everything but the sandboxes, which run on."""
        ...

    async def create(self, launch: Launch) -> Created:
        """Set aside what the sandbox needs; run nothing of the tenant's.

        Raises:
            Unsupported: This driver or host can't give what the spec demands.
            InvalidArgument: The spec names a source that isn't there; `field` says which.
            ResourceExhausted: No room.
        """
        ...

    async def start(self, launch: Launch, handle: Handle) -> Started:
        """Run execd in it. Returns when execd's socket is there.

        Raises:
            NotFound: What `create` made is gone.
            ResourceExhausted: No room.
            FailedPrecondition: It could not be started; the message names the step and the errno.
        """
        ...

    async def stop(self, handle: Handle) -> None:
        """End every process, at once. Returns when none is left. A sandbox that is gone is no error."""
        ...

    async def destroy(self, handle: Handle) -> None:
        """Remove everything of it. Returns when nothing is left. A sandbox that is gone is no error."""
        ...

    async def recover(self, handle: Handle) -> Recovered:
        """Look for a sandbox after a restart and adopt it. Never raises `NotFound`: gone is an answer."""
        ...

    async def wait(self, handle: Handle) -> ExitFacts:
        """Wait until the sandbox's first process has ended; at once when it has. Cancelling loses nothing.

        `exit.oom_killed` is true when the sandbox was ended for lack of memory.
        """
        ...

    async def stats(self, handle: Handle) -> Stats:
        """Measure it from outside.

        Raises:
            NotFound: It is gone.
        """
        ...

    async def list_held(self) -> frozenset[SandboxId]:
        """Return every sandbox of which anything is left on this host: a process, mount, cgroup, or directory."""
        ...

    async def destroy_orphan(self, sandbox_id: SandboxId) -> None:
        """Remove everything of a sandbox that has no record. One that is gone is no error."""
        ...


@runtime_checkable
class Freezer(Protocol):
    """The power behind `Capabilities.pause_freeze`: processors are freed, memory is kept."""

    async def freeze(self, handle: Handle) -> None:
        """Stop every process where it is. Freezing a frozen sandbox is no error."""
        ...

    async def thaw(self, handle: Handle) -> None:
        """Let them go on. Thawing a running sandbox is no error."""
        ...
