"""One instance of the embedded platform on disk: where its files are, and what it tells others about itself.

Everything lives below its state directory, which only its owner can read. Sockets need short paths (107 bytes), so when
the state directory's path is long they live in a private directory under /tmp whose name is derived from it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arenero.sdk.settings import CLIENT_FILE, default_home

_LONGEST_HOME_BYTES: Final = 49
"""Leaves room for `/local/…/sbx_….sock` within the 107 bytes of a Unix socket's path."""
STATE_FILE: Final = "platform.json"


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance, by its state directory."""

    home: Path

    @classmethod
    def chosen(cls) -> Instance:
        """Return the instance that `ARENERO_HOME`, or the default, names."""
        return cls(default_home())

    @property
    def name(self) -> str:
        """Short name that tells instances apart, for cgroups and the like: eight hexadecimal digits."""
        return hashlib.sha256(os.fsencode(self.home)).hexdigest()[:8]

    @property
    def run(self) -> Path:
        """Directory of sockets."""
        if len(os.fsencode(self.home)) <= _LONGEST_HOME_BYTES:
            return self.home / "run"
        return Path(f"/tmp/arenero-{os.geteuid()}-{self.name}")

    @property
    def logs(self) -> Path:
        """Directory of log files."""
        return self.home / "log"

    @property
    def nats(self) -> Path:
        """Directory of nats-server."""
        return self.home / "nats"

    @property
    def sandboxes(self) -> Path:
        """Directory of the local runtime: sockets are in it too."""
        if len(os.fsencode(self.home)) <= _LONGEST_HOME_BYTES:
            return self.home / "local"
        return self.run / "local"

    @property
    def client_file(self) -> Path:
        """Where clients on this machine find the address and the key."""
        return self.home / CLIENT_FILE

    @property
    def kept_file(self) -> Path:
        """There while sandboxes run on without a platform."""
        return self.home / "kept"

    @property
    def lock_file(self) -> Path:
        """Held by the supervisor while it runs."""
        return self.home / "up.lock"

    def socket(self, service: str) -> str:
        """Return the gRPC target of a service."""
        return f"unix:{self.run / f'{service}.sock'}"

    def prepare(self) -> None:
        """Make the directories, for the owner alone.

        Raises:
            PermissionError: A directory belongs to somebody else, or others may write to it.
        """
        for directory in (self.home, self.run, self.logs):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = directory.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
                raise PermissionError(f"{directory} is not a directory of ours alone")

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Say what the platform is doing."""
        write_private(self.home / STATE_FILE, json.dumps(state))

    def read_state(self) -> dict[str, Any] | None:
        """Return what it says, None when it says nothing or is not there any more."""
        state = self._last_state()
        return state if is_alive(state.get("pid", 0), state.get("start_ticks", 0)) else None

    def may_have_sandboxes(self) -> bool:
        """Whether sandboxes may run without a platform: they were kept, or it did not stop in order."""
        return self.kept_file.exists() or (self.home / STATE_FILE).exists()

    def has_services(self) -> bool:
        """Whether a service of the last platform still runs; each ends by itself soon after its supervisor."""
        services = self._last_state().get("services", {}).values()
        return any(is_alive(one.get("pid", 0), one.get("start_ticks", 0)) for one in services)

    def _last_state(self) -> dict[str, Any]:
        try:
            state = json.loads((self.home / STATE_FILE).read_text())
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def forget(self) -> None:
        """Remove what is true only while it runs."""
        for path in (self.home / STATE_FILE, self.client_file):
            path.unlink(missing_ok=True)


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step; only its owner can read it."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    partial.replace(path)


def start_ticks(pid: int) -> int:
    """Return when a process started, in the kernel's ticks: with the pid it names a process for good. 0: it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    fields = text.rpartition(")")[2].split()
    return 0 if fields[0] in "ZX" else int(fields[19])


def is_alive(pid: int, ticks: int) -> bool:
    """Whether that very process still runs."""
    return pid > 0 and start_ticks(pid) == ticks != 0
