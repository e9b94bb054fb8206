"""The SDK without `await`: the same names and arguments, for programs that have no event loop.

    from arenero.sdk.sync import Sandbox

    with Sandbox.create(ttl_s=600) as sandbox:
        print(sandbox.exec("uname -a").stdout_text)

Calls run on one event loop in a thread of its own; Ctrl-C cancels the call at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Literal, Self

from arenero.sdk import client as _client
from arenero.sdk import files as _files
from arenero.sdk import sandbox as _sandbox
from arenero.sdk import terminal as _terminal
from arenero.sdk._portal import PORTAL, Wrapper, iterator, method
from arenero.sdk._types.arenero.api.lifecycle.v1 import Sandbox as SandboxRecord
from arenero.sdk._types.arenero.api.lifecycle.v1 import SandboxState
from arenero.sdk.commands import Command, ExecOptions, ExecResult, Exit, Frame, Gap, Output
from arenero.sdk.commands import Process as _AsyncProcess
from arenero.sdk.files import FileChange, FileStat
from arenero.sdk.settings import Settings

__all__ = [
    "Client",
    "ExecOptions",
    "ExecResult",
    "Exit",
    "FileChange",
    "FileStat",
    "Files",
    "Gap",
    "Output",
    "Process",
    "Sandbox",
    "Settings",
    "Terminal",
]


class Client(Wrapper[_client.Client]):
    """As `arenero.sdk.Client`."""

    def __init__(
        self, *, address: str | None = None, api_key: str | None = None, settings: Settings | None = None
    ) -> None:
        """As `arenero.sdk.Client`."""
        super().__init__(_client.Client(address=address, api_key=api_key, settings=settings))

    @property
    def settings(self) -> Settings:
        """How it reaches the platform."""
        return self._inner.settings

    get = method(_client.Client.get)
    sandboxes = iterator(_client.Client.sandboxes)
    delete = method(_client.Client.delete)
    runtimes = method(_client.Client.runtimes)
    templates = method(_client.Client.templates)
    replay = iterator(_client.Client.replay)
    follow = iterator(_client.Client.follow)
    trace = method(_client.Client.trace)
    who_am_i = method(_client.Client.who_am_i)
    create_key = method(_client.Client.create_key)
    list_keys = iterator(_client.Client.list_keys)
    revoke_key = method(_client.Client.revoke_key)
    close = method(_client.Client.close)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()


class Files(Wrapper[_files.Files]):
    """As `arenero.sdk.Files`."""

    def within(self, root: _files.SandboxPath, *, as_user: str = "") -> Files:
        """Return the same files confined to a directory."""
        return Files(self._inner.within(root, as_user=as_user))

    read = method(_files.Files.read)
    read_text = method(_files.Files.read_text)
    read_stream = iterator(_files.Files.read_stream)
    write = method(_files.Files.write)
    upload = method(_files.Files.upload)
    download = method(_files.Files.download)
    stat = method(_files.Files.stat)
    exists = method(_files.Files.exists)
    list = method(_files.Files.list)
    move = method(_files.Files.move)
    remove = method(_files.Files.remove)
    make_directory = method(_files.Files.make_directory)
    chmod = method(_files.Files.chmod)
    chown = method(_files.Files.chown)
    symlink = method(_files.Files.symlink)
    search = method(_files.Files.search)
    replace = method(_files.Files.replace)
    download_archive = iterator(_files.Files.download_archive)
    upload_archive = method(_files.Files.upload_archive)
    watch = iterator(_files.Files.watch)


class Process(Wrapper[_AsyncProcess]):
    """As `arenero.sdk.Process`."""

    @property
    def exec_id(self) -> str:
        """Its exec id."""
        return self._inner.exec_id

    @property
    def pid(self) -> int:
        """Its process id inside the sandbox; 0 when not known."""
        return self._inner.pid

    output = iterator(_AsyncProcess.output)
    text = iterator(_AsyncProcess.text)
    wait = method(_AsyncProcess.wait)
    result = method(_AsyncProcess.result)
    signal = method(_AsyncProcess.signal)
    kill = method(_AsyncProcess.kill)
    write_stdin = method(_AsyncProcess.write_stdin)
    close_stdin = method(_AsyncProcess.close_stdin)


class Terminal(Wrapper[_terminal.Terminal]):
    """As `arenero.sdk.Terminal`."""

    @property
    def exec_id(self) -> str:
        """Its exec id."""
        return self._inner.exec_id

    @property
    def pid(self) -> int:
        """Its process id inside the sandbox."""
        return self._inner.pid

    @property
    def exit(self) -> Exit | None:
        """How it ended; None while it runs."""
        return self._inner.exit

    @property
    def offset(self) -> int:
        """Bytes of the screen seen so far."""
        return self._inner.offset

    write = method(_terminal.Terminal.write)
    resize = method(_terminal.Terminal.resize)
    signal = method(_terminal.Terminal.signal)
    read = method(_terminal.Terminal.read)
    read_until = method(_terminal.Terminal.read_until)
    detach = method(_terminal.Terminal.detach)
    hangup = method(_terminal.Terminal.hangup)

    def __iter__(self) -> Iterator[bytes]:
        """Read to the end."""
        while piece := self.read():
            yield piece

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Detach."""
        self.detach()


class Sandbox(Wrapper[_sandbox.Sandbox]):
    """As `arenero.sdk.Sandbox`."""

    def __init__(self, inner: _sandbox.Sandbox) -> None:
        super().__init__(inner)
        self.files = Files(inner.files)
        """Its files."""

    @property
    def id(self) -> str:
        """Its id, `sbx_…`."""
        return self._inner.id

    @property
    def record(self) -> SandboxRecord:
        """Its record as of the last call that answered it."""
        return self._inner.record

    @property
    def state(self) -> SandboxState:
        """Its state as of the last call that answered it."""
        return self._inner.state

    @staticmethod
    def create(*, client: Client | None = None, **options: Any) -> Sandbox:
        """Create a sandbox; options as in `arenero.sdk.Sandbox.create`. As a `with` block it is deleted at the end."""

        async def create() -> _sandbox.Sandbox:
            return await _sandbox.Sandbox.create(client=client._inner if client else None, **options)

        return Sandbox(PORTAL.run(create()))

    @classmethod
    def connect(cls, sandbox_id: str, *, client: Client | None = None) -> Sandbox:
        """Find a sandbox by its id."""
        return cls(PORTAL.run(_sandbox.Sandbox.connect(sandbox_id, client=client._inner if client else None)))

    @property
    def is_direct(self) -> bool:
        """Whether data calls go straight to execd, past the gateway."""
        return self._inner.is_direct

    execs = method(_sandbox.Sandbox.execs)
    processes = method(_sandbox.Sandbox.processes)
    ports = method(_sandbox.Sandbox.ports)
    refresh = method(_sandbox.Sandbox.refresh)
    renew = method(_sandbox.Sandbox.renew)
    update_metadata = method(_sandbox.Sandbox.update_metadata)
    stats = method(_sandbox.Sandbox.stats)
    watch = iterator(_sandbox.Sandbox.watch)
    replay = iterator(_sandbox.Sandbox.replay)
    follow = iterator(_sandbox.Sandbox.follow)
    delete = method(_sandbox.Sandbox.delete)
    close = method(_sandbox.Sandbox.close)

    def exec(
        self, command: Command, *, stdin: bytes | str | None = None, check: bool = False, **options: Any
    ) -> ExecResult:
        """Run a command to its end and return its output."""
        return PORTAL.run(self._inner.exec(command, stdin=stdin, check=check, **options))

    def stream(self, command: Command, **options: Any) -> Iterator[Frame]:
        """Run a command and stream its output while it runs, and last its `Exit`."""
        return PORTAL.iterate(self._inner.stream(command, **options))

    def start(self, command: Command, *, stdin: bool = False, **options: Any) -> Process:
        """Start a command and return at once."""
        return Process(PORTAL.run(self._inner.start(command, stdin=stdin, **options)))

    def process(self, exec_id: str) -> Process:
        """Return the process of an exec that was started before."""
        return Process(self._inner.process(exec_id))

    def terminal(self, command: Command = (), *, rows: int = 24, columns: int = 80, **options: Any) -> Terminal:
        """Run a command, or a login shell, in a new terminal."""
        return Terminal(PORTAL.run(self._inner.terminal(command, rows=rows, columns=columns, **options)))

    def attach_terminal(
        self,
        exec_id: str,
        *,
        role: Literal["writer", "viewer"] = "writer",
        from_offset: int = 0,
        takeover: bool = False,
    ) -> Terminal:
        """Attach to a terminal that is open."""
        attach = self._inner.attach_terminal(exec_id, role=role, from_offset=from_offset, takeover=takeover)
        return Terminal(PORTAL.run(attach))

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Delete it."""
        PORTAL.run(self._inner.__aexit__(kind, error, trace))
