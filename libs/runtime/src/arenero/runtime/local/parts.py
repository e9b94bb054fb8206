"""What an open local driver consists of, and how it comes to be."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from arenero.errors import ArenError
from arenero.isolation import cgroup_layout, probe
from arenero.isolation.cgroups import Tree
from arenero.runtime.capabilities import Capabilities, Check, Fingerprint
from arenero.runtime.local import plans
from arenero.runtime.local.cells import SOCKET, Cell, Cells, state_digest
from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.mode import Mode, Way, choose
from arenero.runtime.local.preparing import Kind, Prepared, Stock
from arenero.runtime.local.reaping import Reaper
from arenero.runtime.local.removal import Removal
from arenero.runtime.local.sources import HOST, Sources
from arenero.runtime.local.watching import Watches
from arenero.runtime.local.zygote import Zygote

_SOCKET_PATH_BYTES = 107
_ID_BYTES = 24


@dataclass(frozen=True, slots=True)
class Parts:
    """An open driver."""

    mode: Mode
    capabilities: Capabilities
    tree: Tree
    cells: Cells
    sources: Sources
    reaper: Reaper
    removal: Removal
    watches: Watches
    zygote: Zygote
    stock: Stock
    lock_fd: int

    async def close(self) -> None:
        """Let go of everything but the sandboxes."""
        await self.stock.close()
        await self.zygote.close()
        self.watches.close()
        self.tree.remove()
        self.cells.close()
        os.close(self.lock_fd)


async def open_parts(config: LocalConfig) -> tuple[Fingerprint, Parts | None]:
    """Open a driver; without parts when this host can't run it at all."""
    try:
        lock_fd = _lock(config)
    except OSError as error:
        reason = error.strerror or str(error)
        return Fingerprint(usable=False, reason=reason, fix="set runtime.local.state_dir"), None
    watches = Watches()
    zygote = Zygote(watches.tell, str(config.state_dir / "zygote.log"))
    try:
        # Both take a good part of a second. How the zygote fares is asked again below.
        survey, _ = await asyncio.gather(_survey(config), _try_to_start(zygote))
    except (OSError, ValueError) as error:
        await zygote.close()
        os.close(lock_fd)
        return Fingerprint(usable=False, reason=f"the host can't be surveyed: {error}"), None
    tree = _tree(config)
    tree.open()
    mode = choose(survey, tree.missing, first_id=config.first_id)
    checks = tuple(Check(f.name, f.ok, f.message, f.fix) for f in survey.findings)
    try:
        parts = await _assemble(config, mode, tree, lock_fd, watches, zygote)
    except (ArenError, OSError) as error:
        await zygote.close()
        tree.remove()
        os.close(lock_fd)
        return Fingerprint(usable=False, reason=str(error), checks=checks), None
    reason = "" if mode.standard else f"only with best-effort isolation; {mode.missing[0]}"
    return Fingerprint(usable=True, reason=reason, fix=mode.fix, checks=checks), parts


async def _try_to_start(zygote: Zygote) -> None:
    with contextlib.suppress(ArenError, OSError):
        await zygote.start()


async def _survey(config: LocalConfig) -> probe.Survey:
    process = await asyncio.create_subprocess_exec(
        *probe.command(config.state_dir), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    return probe.parse(printed)


def _lock(config: LocalConfig) -> int:
    """Make the driver's directory and keep other drivers out of it.

    Raises:
        OSError: It can't be made, its path is too long for sockets, or another driver is in it.
    """
    longest = len(os.fsencode(config.state_dir / "sandboxes")) + 1 + _ID_BYTES + 1 + len(SOCKET)
    if longest > _SOCKET_PATH_BYTES:
        raise OSError(36, f"{config.state_dir} is too long for the paths of sockets by {longest - _SOCKET_PATH_BYTES}")
    config.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    plans.stage_dir(config).mkdir(mode=0o700, exist_ok=True)
    fd = os.open(config.state_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise OSError(error.errno, f"another driver works in {config.state_dir}") from error
    return fd


def _tree(config: LocalConfig) -> Tree:
    """Return the control groups of this driver, named after its directory: several drivers share a host."""
    return Tree(cgroup_layout.detect(), state_digest(config.state_dir), parent="" if os.geteuid() == 0 else None)


async def _assemble(
    config: LocalConfig, mode: Mode, tree: Tree, lock_fd: int, watches: Watches, zygote: Zygote
) -> Parts:
    cells = Cells(config.state_dir, mode, tree, config.most_sandboxes)
    cells.open()
    sources = Sources(config, own_ids=os.geteuid() == 0, shift=mode.shift)
    sources.open()
    reaper = Reaper(mode, watches, config.stop_timeout_s)
    for group in cells.stray_groups():
        await reaper.end_group(group)
    await zygote.start()
    removal = Removal(mode, cells, zygote)
    for directory in cells.unclaimed():
        await removal.remove(directory)

    async def make(kind: Kind) -> Prepared:
        await cells.prepare_blank(kind.disk_bytes)
        cell = cells.make(kind.disk_bytes)
        try:
            plan = plans.sandbox_plan(config, mode, cell, kind.base, cells.group(cell), plans.Identity())
            await zygote.start()
            build = zygote.order(plan, str(cell.record))
            await asyncio.shield(build)
            return Prepared(cell, build)
        except BaseException:
            await asyncio.shield(drop(cell))
            raise

    async def drop(cell: Cell) -> None:
        await reaper.end(cell, cells.group(cell))
        watches.forget(cell.process())
        await reaper.remove_group(cells.group(cell))
        await removal.remove_cell(cell)
        cells.free(cell)

    # The host's name can be changed afterwards by root only, and under rules there is nothing to prepare.
    prepared = config.prepared if mode.way is Way.NAMESPACES else 0
    stock = Stock(prepared, make, drop)
    capabilities = Capabilities(
        sources=_source_kinds(mode),
        templates=frozenset({HOST}),
        tells_when_ready=True,
        pause_freeze=tree.can_freeze,
        best_effort=True,
        limits=mode.limits,
        most_disk_bytes=_whole_bytes(config.state_dir) if mode.disk_images else None,
    )
    return Parts(mode, capabilities, tree, cells, sources, reaper, removal, watches, zygote, stock, lock_fd)


def _whole_bytes(directory: Path) -> int | None:
    """Return the size of the file system that a directory is on; None when it doesn't say."""
    found = os.statvfs(directory)
    return found.f_blocks * found.f_frsize or None


def _source_kinds(mode: Mode) -> frozenset[str]:
    if mode.way is Way.RULES:
        return frozenset({"template"})
    # A directory that is somebody else's can't be rewritten for another range of ids.
    return frozenset({"template", "oci_layout"} | (set() if mode.shift else {"rootfs_directory"}))
