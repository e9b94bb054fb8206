"""A sandbox: create it, run things in it, read and write its files, delete it.

async with Sandbox.create(ttl_s=600) as sandbox:
    print((await sandbox.exec("uname -a")).stdout_text)
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from arenero.sdk import commands, types
from arenero.sdk._specification import check_texts, duration_of, resources_of, source_of
from arenero.sdk._types.arenero.api.common.v1 import NetworkPolicy
from arenero.sdk._types.arenero.api.lifecycle import v1 as lifecycle_v1
from arenero.sdk._types.arenero.api.lifecycle.v1 import (
    GetStatsResponse,
    IsolationLevel,
    Lifetime,
    SandboxSpec,
    SandboxState,
    TimeoutAction,
)
from arenero.sdk._types.arenero.api.lifecycle.v1 import Sandbox as SandboxRecord
from arenero.sdk.client import SANDBOX_SERVICE, Client, _present, endpoint_from
from arenero.sdk.commands import Command, ExecOptions, ExecResult, Frame, Process
from arenero.sdk.errors import AreneroError, FailedPrecondition, OutcomeUnknown
from arenero.sdk.files import Files
from arenero.sdk.terminal import Terminal, size_of

if TYPE_CHECKING:
    from arenero.sdk.types import Event

_UNDO_S: Final = 10.0
_ENDED: Final = (SandboxState.STOPPING, SandboxState.TERMINATED, SandboxState.FAILED)
_START_S: Final = 60.0
"""How long a sandbox may take to run when nothing else is asked for."""


class Sandbox:
    """One sandbox. Made by `create`, found by `connect`."""

    def __init__(self, client: Client, record: SandboxRecord, *, owns_client: bool) -> None:
        self._client = client
        self._owns_client = owns_client
        self.record = record
        """As of the last call that answered it."""
        self._plane = client.plane(record.id)
        self.files = Files(self._plane)
        """Its files."""

    @property
    def id(self) -> str:
        """Its id, `sbx_…`."""
        return self.record.id

    @property
    def state(self) -> SandboxState:
        """Its state as of the last call that answered it."""
        return self.record.state

    @property
    def is_direct(self) -> bool:
        """Whether data calls go straight to execd, past the gateway."""
        return self._plane.is_direct

    @staticmethod
    def create(  # noqa: PLR0913 - every one is an option by name
        *,
        template: str = "",
        image: str = "",
        rootfs_directory: str = "",
        oci_layout: str = "",
        runtime: str = "",
        name: str = "",
        ttl_s: float | None = None,
        on_timeout: Literal["delete", "pause"] = "delete",
        cpus: float | None = None,
        memory_bytes: int | None = None,
        pids: int | None = None,
        disk_bytes: int | None = None,
        open_files: int | None = None,
        env: Mapping[str, str] | None = None,
        metadata: Mapping[str, str] | None = None,
        network: NetworkPolicy | None = None,
        user: str = "",
        workdir: str = "",
        entrypoint: Sequence[str] = (),
        ports: Sequence[int] = (),
        best_effort: bool = False,
        extensions: Mapping[str, str] | None = None,
        request_id: str = "",
        start_timeout_s: float | None = None,
        traceparent: str = "",
        client: Client | None = None,
        spec: SandboxSpec | None = None,
    ) -> Creating:
        """Create a sandbox: `await Sandbox.create()`; `async with Sandbox.create() as sandbox` also deletes it.

        Args:
            template: Name of a template; with none of the sources: the platform's default.
            image: OCI image reference.
            rootfs_directory: Directory on the platform's host with an unpacked root file system.
            oci_layout: Directory on the platform's host with an OCI image layout.
            runtime: `local`, `docker`, …; empty: the platform's default.
            name: Display name.
            ttl_s: Seconds to live; None: until deleted.
            on_timeout: What happens then.
            cpus: Cores; None for each of the limits: the platform's default.
            memory_bytes: Memory.
            pids: Processes and threads.
            disk_bytes: What it may write to its own layer.
            open_files: Open files per process.
            env: Environment of every process in it.
            metadata: Labels for finding it.
            network: Where it may connect to; None: nowhere beyond its own loopback.
            user: Default user of its processes.
            workdir: Default working directory.
            entrypoint: Command started when it is up.
            ports: Ports that it will serve on.
            best_effort: Accept less isolation than the standard where the host can't give it;
                `record.isolation.missing` then says what is missing.
            extensions: Extension settings.
            request_id: The same id again answers the same sandbox; empty: one of its own.
            start_timeout_s: How long it may take to run; None: 60 s.
            traceparent: W3C trace context to continue; empty: the caller's own, where there is one.
            client: Connection to use; None: one shared by this event loop.
            spec: The whole specification at once, instead of the arguments above.

        Raises:
            InvalidArgument: More than one source is named, or a value is none that the platform could be told.
            FailedPrecondition: It was deleted meanwhile; reason SANDBOX_ENDED.
            OutcomeUnknown: The connection broke, and the platform wasn't there again in time.
        """
        source = source_of(template=template, image=image, rootfs_directory=rootfs_directory, oci_layout=oci_layout)
        wanted = spec or SandboxSpec(
            name=name,
            runtime=runtime,
            isolation_level=IsolationLevel.BEST_EFFORT if best_effort else IsolationLevel.UNSPECIFIED,
            source=source,
            resources=resources_of(
                cpus=cpus, memory_bytes=memory_bytes, pids=pids, disk_bytes=disk_bytes, open_files=open_files
            ),
            lifetime=Lifetime(
                ttl=duration_of(ttl_s, "spec.lifetime.ttl") if ttl_s is not None else None,
                on_timeout=TimeoutAction[on_timeout.upper()],
            ),
            network=network,
            env=dict(env or {}),
            metadata=dict(metadata or {}),
            user=user,
            workdir=workdir,
            entrypoint=[*entrypoint],
            ports=[*ports],
            extensions=dict(extensions or {}),
        )
        request = lifecycle_v1.CreateRequest(
            request_id=request_id,
            spec=wanted,
            start_timeout=duration_of(start_timeout_s, "start_timeout") if start_timeout_s is not None else None,
        )
        check_texts(request)
        return Creating(request, client, traceparent)

    @classmethod
    async def connect(cls, sandbox_id: str, *, client: Client | None = None) -> Sandbox:
        """Find a sandbox by its id.

        Raises:
            NotFound: There is none in this tenant.
        """
        used = client or Client.shared()
        try:
            return cls(used, await used.get(sandbox_id), owns_client=client is None)
        except BaseException:
            if client is None:
                await used.release()
            raise

    async def exec(
        self, command: Command, *, stdin: bytes | str | None = None, check: bool = False, **options: Any
    ) -> ExecResult:
        """Run a command to its end and return its output. A string is a line for the shell, a list is run as it is.

        Args:
            command: What to run.
            stdin: Its input; None: none.
            check: Raise unless it ends with exit code 0.
            options: As the fields of `ExecOptions`: env, cwd, user, timeout_s, …

        Raises:
            StartFailed: It never ran.
            CommandFailed: `check` was asked for and it failed.
            OutcomeUnknown: The connection broke and could not be resumed.
        """
        data = stdin.encode() if isinstance(stdin, str) else stdin
        result = await commands.run(self._plane, command, ExecOptions(**options), stdin=data)
        return result.check() if check else result

    def stream(self, command: Command, **options: Any) -> AsyncIterator[Frame]:
        """Run a command and stream its `Output` while it runs, and last its `Exit`. Options and errors as in `exec`."""
        return commands.stream(self._plane, command, ExecOptions(**options))

    async def start(self, command: Command, *, stdin: bool = False, **options: Any) -> Process:
        """Start a command and return at once. It runs on when the connection goes. Options and errors as in `exec`.

        Args:
            command: What to run.
            stdin: It will be sent input with `Process.write_stdin`.
            options: As the fields of `ExecOptions`.
        """
        return await commands.start(self._plane, command, ExecOptions(**options), stdin=stdin)

    def process(self, exec_id: str) -> Process:
        """Return the process of an exec that was started before, by whatever client."""
        return Process(self._plane, exec_id)

    async def execs(self, *, running_only: bool = False) -> Sequence[exec_pb2.Exec]:
        """Return the execs that execd remembers, newest first."""
        request = exec_service_pb2.ListRequest(running_only=running_only)
        return (await commands.call(self._plane, "List", request, repeatable=True)).execs  # type: ignore[no-any-return]

    async def processes(self) -> Sequence[exec_service_pb2.Process]:
        """Return the processes in it, by pid."""
        request = exec_service_pb2.ListProcessesRequest()
        return (await commands.call(self._plane, "ListProcesses", request, repeatable=True)).processes  # type: ignore[no-any-return]

    async def ports(self) -> Sequence[exec_service_pb2.ListeningPort]:
        """Return the ports that its processes listen on."""
        request = exec_service_pb2.ListPortsRequest()
        return (await commands.call(self._plane, "ListPorts", request, repeatable=True)).ports  # type: ignore[no-any-return]

    async def terminal(
        self, command: Command = (), *, rows: int = 24, columns: int = 80, term: str = "xterm-256color", **options: Any
    ) -> Terminal:
        """Run a command, or a login shell, in a new terminal. Options and errors as in `exec`."""
        size = size_of(rows, columns, term)
        return await Terminal.start(self._plane, command or _LOGIN_SHELL, ExecOptions(**options), size)

    async def attach_terminal(
        self,
        exec_id: str,
        *,
        role: Literal["writer", "viewer"] = "writer",
        from_offset: int = 0,
        takeover: bool = False,
    ) -> Terminal:
        """Attach to a terminal that is open, as its one writer or as a viewer."""
        return await Terminal.attach(self._plane, exec_id, role=role, from_offset=from_offset, takeover=takeover)

    async def refresh(self) -> SandboxRecord:
        """Read its record again."""
        self.record = await self._client.get(self.id)
        return self.record

    async def renew(self, ttl_s: float, *, extend_only: bool = False) -> SandboxRecord:
        """Let it live for `ttl_s` seconds from now; with `extend_only`, never shorter than before."""
        ttl = duration_of(ttl_s, "ttl")
        request = lifecycle_v1.RenewRequest(sandbox_id=self.id, ttl=ttl, extend_only=extend_only)
        return self._keep((await self._control("Renew", request, lifecycle_v1.RenewResponse)).sandbox)

    async def update_metadata(self, set: Mapping[str, str] | None = None, remove: Sequence[str] = ()) -> SandboxRecord:
        """Change its labels."""
        request = lifecycle_v1.UpdateMetadataRequest(sandbox_id=self.id, set=dict(set or {}), remove=[*remove])
        check_texts(request)
        answer = await self._control("UpdateMetadata", request, lifecycle_v1.UpdateMetadataResponse)
        return self._keep(answer.sandbox)

    async def stats(self) -> GetStatsResponse:
        """Measure what it uses, from outside."""
        request = lifecycle_v1.GetStatsRequest(sandbox_id=self.id)
        answer: GetStatsResponse = await self._control("GetStats", request, GetStatsResponse)
        return answer

    async def watch(self) -> AsyncIterator[SandboxRecord]:
        """Stream its record: the present one, and each later one until it has ended."""
        request = lifecycle_v1.WatchRequest(sandbox_id=self.id)
        async for answer in self._client.stream(SANDBOX_SERVICE + "Watch", request, lifecycle_v1.WatchResponse):
            yield self._keep(answer.sandbox)

    def replay(self, *, from_time: datetime | None = None) -> AsyncIterator[Event]:
        """Stream all that has happened to it so far."""
        return self._client.replay(types.EventFilter(sandbox_id=self.id), from_time=from_time)

    def follow(self, *, from_beginning: bool = False) -> AsyncIterator[Event]:
        """Stream what happens to it, until the caller leaves."""
        return self._client.follow(types.EventFilter(sandbox_id=self.id), from_beginning=from_beginning)

    async def delete(self) -> SandboxRecord:
        """End it and remove all of it but its record. Deleting it again is no error."""
        self.record = await self._client.delete(self.id)
        return self.record

    async def close(self) -> None:
        """Close this object's connections. The sandbox runs on."""
        await self._plane.close()
        if self._owns_client:
            self._owns_client = False
            await self._client.release()

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Delete it."""
        try:
            await self.delete()
        finally:
            await self.close()

    async def _control(self, method: str, request: Any, answer: Any) -> Any:
        return await self._client.call(SANDBOX_SERVICE + method, request, answer, repeatable=True)

    def _keep(self, record: SandboxRecord | None) -> SandboxRecord:
        self.record = _present(record)
        return self.record


class Creating:
    """A sandbox on its way: `await` it, or use it as `async with`.

    When it is cancelled, or its outcome is unknown, a sandbox that was made meanwhile is deleted, since nobody would
    know its id; not so with a request id of the caller's own, by which it can be found again.
    """

    def __init__(self, request: lifecycle_v1.CreateRequest, client: Client | None, traceparent: str) -> None:
        self._is_own_id = bool(request.request_id)
        request.request_id = request.request_id or uuid.uuid4().hex
        self._request = request
        self._client = client
        self._extra = {"traceparent": traceparent} if traceparent else None
        self._made: Sandbox | None = None

    def __await__(self) -> Generator[Any, None, Sandbox]:
        """Create it."""
        return self._create().__await__()

    async def __aenter__(self) -> Sandbox:
        """Create it."""
        self._made = await self._create()
        return self._made

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Delete it."""
        if self._made is not None:
            await self._made.__aexit__(kind, error, trace)

    async def _create(self) -> Sandbox:
        client = self._client or Client.shared()
        try:
            # The request id makes it safe to ask again when the connection broke.
            answer = await self._ask(client, repeatable=True)
            record = _not_ended(_present(answer.sandbox))
            sandbox = Sandbox(client, record, owns_client=self._client is None)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError | OutcomeUnknown) and not self._is_own_id:
                await self._undo(client)
            if self._client is None:
                await client.release()
            raise
        if answer.execd is not None:
            sandbox._plane.learn(endpoint_from(answer.execd))
        return sandbox

    async def _undo(self, client: Client) -> None:
        """Delete what may have been made; asking again is how to learn its id."""
        self._request.wait = lifecycle_v1.CreateWait.ACCEPTED
        with contextlib.suppress(AreneroError, TimeoutError):
            async with asyncio.timeout(_UNDO_S):
                await client.delete(_present((await self._ask(client)).sandbox).id, wait=False)

    async def _ask(self, client: Client, *, repeatable: bool = False) -> lifecycle_v1.CreateResponse:
        path = SANDBOX_SERVICE + "Create"
        answer = lifecycle_v1.CreateResponse
        timeout_s = client.settings.answer_s + (
            _START_S if self._request.start_timeout is None else self._request.start_timeout.total_seconds()
        )
        return await client.call(
            path, self._request, answer, timeout_s=timeout_s, extra=self._extra, repeatable=repeatable
        )


def _not_ended(record: SandboxRecord) -> SandboxRecord:
    """Return the record of a sandbox that lives.

    Raises:
        FailedPrecondition: It was deleted while it was made, or long ago under this request id.
    """
    if record.state in _ENDED:
        raise FailedPrecondition(
            f"{record.id} is {record.state.name.lower()} already: it was deleted or ended by itself",
            reason="SANDBOX_ENDED",
            metadata={"sandbox_id": record.id, "state": record.state.name},
        )
    return record


_LOGIN_SHELL: Final = "exec ${SHELL:-/bin/sh} -l"
