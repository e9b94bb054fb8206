"""The local driver: a `Driver` and `Freezer` made of namespaces, mounts, control groups and the zygote.

`create` claims a cell (one that was prepared, or a new one) and sets its limits; `start` has the zygote build it,
unless it is built, and enter it. Everything needed to find a sandbox again is in its directory; a handle only names it.

Two calls for the same sandbox never overlap, except that `stop` and `destroy` kill first and wait for their turn then,
so nothing holds up an end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
import weakref
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, Final

from arenero.errors import ArenError, FailedPrecondition, NotFound, ResourceExhausted, Unavailable, Unsupported
from arenero.isolation import disk
from arenero.isolation.cgroups import Limits
from arenero.model.ids import SandboxId
from arenero.model.record import ExitFacts, Handle, Isolation
from arenero.model.spec import IsolationLevel, SandboxSpec
from arenero.runtime.capabilities import Capabilities, Fingerprint
from arenero.runtime.driver import Created, Launch, Recovered, Started, Stats, StepSpan
from arenero.runtime.local import plans
from arenero.runtime.local.cells import SOCKET, Cell
from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.parts import Parts, open_parts
from arenero.runtime.local.preparing import Kind
from arenero.runtime.local.sources import Base
from arenero.runtime.local.trees import remove_tree
from arenero.runtime.local.watching import exit_facts, start_time
from arenero.runtime.local.zygote import Built, Span
from arenero.runtime.powers import check_powers

_Spans = tuple[StepSpan, ...]
NAME: Final = "local"
_HANDLE_VERSION: Final = 1
_FREEZE_TIMEOUT_S: Final = 5.0
_UNSTARTED_POLL_S: Final = 0.05


class LocalDriver:
    """Makes sandboxes on this host.

    Args:
        config: Its settings.
    """

    def __init__(self, config: LocalConfig | None = None) -> None:
        self.config = config or LocalConfig()
        self._opened: Parts | None = None
        self._fingerprint = Fingerprint(usable=False, reason="not open")
        self._builds: dict[str, asyncio.Future[Built]] = {}
        """What the zygote was ordered to build, by the name of the cell, until it is entered."""
        self._turns: weakref.WeakValueDictionary[SandboxId, asyncio.Lock] = weakref.WeakValueDictionary()

    @property
    def name(self) -> str:
        """`local`."""
        return NAME

    @property
    def capabilities(self) -> Capabilities:
        """What this host can do."""
        return self._opened.capabilities if self._opened else Capabilities(sources=frozenset())

    @property
    def _parts(self) -> Parts:
        if self._opened is None:
            raise Unavailable(
                f"the local runtime can't be used: {self._fingerprint.reason}",
                reason="RUNTIME_UNUSABLE",
                fix=self._fingerprint.fix,
            )
        return self._opened

    async def open(self) -> Fingerprint:
        """Survey the host, start the zygote, and remove what nobody owns any more."""
        self._fingerprint, self._opened = await open_parts(self.config)
        return self._fingerprint

    async def close(self) -> None:
        """End the zygote and what is prepared; sandboxes run on."""
        opened, self._opened = self._opened, None
        self._builds.clear()
        if opened is not None:
            await opened.close()

    # --- create -------------------------------------------------------------------------------------------------------

    async def create(self, launch: Launch) -> Created:
        """Claim a cell for it."""
        parts = self._parts
        check_powers(NAME, parts.capabilities, launch.spec)
        _check_level(parts, launch.spec)
        async with self._turn(launch.sandbox_id):
            started_ns = time.time_ns()
            base = await parts.sources.find(launch.spec.source)
            cell = parts.cells.find(launch.sandbox_id)
            if cell is None:
                await parts.cells.prepare_blank(launch.spec.resources.disk_bytes)
                cell = self._claim(launch, base)
            spans = (StepSpan("driver.local.claim", started_ns, time.time_ns()),)
            return Created(_handle(launch.sandbox_id, cell), base.resolved, spans)

    def _claim(self, launch: Launch, base: Base) -> Cell:
        """Return a cell that is this sandbox's from now on. Nothing is awaited, so nothing is lost between."""
        parts, resources = self._parts, launch.spec.resources
        prepared = parts.stock.take(Kind(base, resources.disk_bytes))
        cell = prepared.cell if prepared else parts.cells.make(resources.disk_bytes)
        try:
            parts.cells.group(cell).set_limits(_limits_of(launch))
        except OSError as error:
            parts.cells.group(cell).kill()
            parts.cells.group(cell).remove()
            remove_tree(cell.directory)
            parts.cells.free(cell)
            raise ResourceExhausted(f"limits can't be set: {error}", reason="HOST_EXHAUSTED") from error
        cell = parts.cells.claim(cell, launch.sandbox_id)
        if prepared is not None:
            self._builds[cell.name] = prepared.build
        return cell

    # --- start --------------------------------------------------------------------------------------------------------

    async def start(self, launch: Launch, handle: Handle) -> Started:
        """Build it, unless it is built, and let execd run in it."""
        sandbox_id = _id_of(handle)
        async with self._turn(sandbox_id):
            cell = self._get(sandbox_id)
            state = cell.state()
            if "address" not in state:
                spans, guest_spans = await self._run(launch, cell)
                state = cell.state()
            elif self._process_of(cell) is None:
                raise FailedPrecondition("its first process has ended", reason="EXITED")
            else:
                spans, guest_spans = (), ()
            isolation = Isolation(NAME, tuple(state["features"]), tuple(state["missing"]))
            return Started(_handle(sandbox_id, cell), state["address"], isolation, spans, guest_spans)

    async def _run(self, launch: Launch, cell: Cell) -> tuple[_Spans, _Spans]:
        parts = self._parts
        parts.stock.begin()
        try:
            async with asyncio.timeout(self.config.start_timeout_s):
                return await self._build_and_enter(launch, cell)
        except TimeoutError as error:
            parts.reaper.kill(cell, parts.cells.group(cell))
            raise FailedPrecondition(
                f"the sandbox did not start within {self.config.start_timeout_s:g} s", reason="START_TIMEOUT"
            ) from error
        except BaseException:
            # Also when cancelled: a repeated start begins anew, unless the zygote is still building.
            if cell.name not in self._builds:
                parts.reaper.kill(cell, parts.cells.group(cell))
            raise
        finally:
            parts.stock.end()

    async def _build_and_enter(self, launch: Launch, cell: Cell) -> tuple[_Spans, _Spans]:
        """Return what it consisted of, as seen from here and from inside."""
        parts = self._parts
        base = await parts.sources.find(launch.spec.source)
        plan = plans.init_plan(launch, parts.mode, cell, base)
        steps: list[tuple[str, int, int]] = []
        entering_ns = time.time_ns()
        built = await self._find_built(cell)
        inside = await self._enter_prepared(built, plan) if built else None
        if built is None or inside is None:
            built = await self._build(launch, cell, base)
            entering_ns = time.time_ns()
            steps += [("fork", built.ordered_ns, built.spans[0][1]), *built.spans]
            inside = await parts.zygote.enter(built, plan, rename=False)
        steps.append(("enter", entering_ns, time.time_ns()))
        self._take_socket(cell)
        ticks = start_time(built.pid)
        if ticks is None or parts.watches.add(built.pid, ticks) is None:
            raise FailedPrecondition("its first process ended at once", reason="START_FAILED")
        cell.write_state(
            {
                "address": f"unix:{cell.socket}",
                "features": parts.mode.features,
                "missing": parts.mode.missing,
            }
        )
        own = tuple(StepSpan(f"driver.local.{name}", start, end) for name, start, end in steps)
        return own, tuple(StepSpan(*span) for span in inside)

    async def _find_built(self, cell: Cell) -> Built | None:
        """Return what was built in a cell ahead of time, or by a start that was cancelled; None when that failed."""
        build = self._builds.get(cell.name)
        if build is None:
            return None
        try:
            built = await asyncio.shield(build)
        except ArenError:
            built = None
        del self._builds[cell.name]
        return built

    async def _enter_prepared(self, built: Built, plan: Any) -> tuple[Span, ...] | None:
        """Enter a prepared cell; None when its process is gone, as after the zygote's death."""
        try:
            return await self._parts.zygote.enter(built, plan, rename=True)
        except (FailedPrecondition, Unavailable):
            return None

    async def _build(self, launch: Launch, cell: Cell, base: Base) -> Built:
        """Have the cell built; once more when the zygote was lost meanwhile, as it may have been without our notice."""
        try:
            return await self._order_build(launch, cell, base)
        except Unavailable:
            return await self._order_build(launch, cell, base)

    async def _order_build(self, launch: Launch, cell: Cell, base: Base) -> Built:
        parts = self._parts
        group = parts.cells.group(cell)
        if cell.process() is not None:
            # An earlier attempt got this far; what it left is not trusted.
            await parts.reaper.end(cell, group)
            parts.watches.forget(cell.process())
            await parts.reaper.remove_group(group)
            await parts.cells.prepare_blank(cell.disk_bytes)
            parts.cells.renew(cell)
            group = parts.cells.make_group(cell, _limits_of(launch))
        identity = plans.Identity(launch.hostname, launch.spec.resources.pids)
        plan = plans.sandbox_plan(self.config, parts.mode, cell, base, group, identity)
        await parts.zygote.start()
        self._builds[cell.name] = build = parts.zygote.order(plan, str(cell.record))
        try:
            return await asyncio.shield(build)
        finally:
            if build.done():
                del self._builds[cell.name]

    def _take_socket(self, cell: Cell) -> None:
        """Move execd's socket out of the sandbox's sight, so that nothing inside can put another in its place.

        Raises:
            FailedPrecondition: There is something else in its place already.
        """
        os.rename(cell.run / SOCKET, cell.socket)
        if not stat.S_ISSOCK(os.lstat(cell.socket).st_mode):
            os.unlink(cell.socket)
            raise FailedPrecondition("the sandbox made something else of its socket", reason="START_FAILED")
        self._parts.cells.lock_run(cell)

    # --- stop and destroy ---------------------------------------------------------------------------------------------

    async def stop(self, handle: Handle) -> None:
        """Kill every process and wait until none is left."""
        await self._end(_id_of(handle))

    async def destroy(self, handle: Handle) -> None:
        """Remove everything of it."""
        await self.destroy_orphan(_id_of(handle))

    async def destroy_orphan(self, sandbox_id: SandboxId) -> None:
        """Remove everything of it: processes, control group, then its directory."""
        parts = self._parts
        await self._end(sandbox_id)
        async with self._turn(sandbox_id):
            cell = parts.cells.find(sandbox_id)
            if cell is None:
                # An interrupted removal may have left the rest.
                await parts.removal.remove(parts.cells.directory_of(sandbox_id))
                return
            group = parts.cells.group(cell)
            await parts.reaper.end(cell, group)
            await parts.reaper.remove_group(group)
            parts.watches.forget(cell.process())
            await parts.removal.remove_cell(cell)
            parts.cells.free(cell)

    async def _end(self, sandbox_id: SandboxId) -> None:
        parts = self._parts
        cell = parts.cells.find(sandbox_id)
        if cell is None:
            return
        if cell.name in self._builds or ((turn := self._turns.get(sandbox_id)) and turn.locked()):
            # A start, or a build that nobody waits for, is under way. It must not hold up the end.
            self._kill(cell)
        async with self._turn(sandbox_id):
            await self._find_built(cell)
            self._kill(cell)
            await parts.reaper.end(cell, parts.cells.group(cell), killed=True)
            if "address" in cell.state():
                await self._note_end(cell)

    def _kill(self, cell: Cell) -> None:
        """Kill once, and leave word that it was us."""
        parts, group = self._parts, self._parts.cells.group(cell)
        if parts.reaper.is_over(cell, group):
            return
        if "address" in cell.state():
            cell.note_stopped()
        parts.reaper.kill(cell, group)

    # --- recover, wait, stats -----------------------------------------------------------------------------------------

    async def recover(self, handle: Handle) -> Recovered:
        """Look for its directory, its first process and its socket."""
        cell = self._parts.cells.find(_id_of(handle))
        if cell is None:
            return Recovered(running=False)
        state = cell.state()
        if "address" not in state:
            return Recovered(running=False)
        if self._process_of(cell) is None:
            return Recovered(running=False, exit=await self._note_end(cell))
        return Recovered(running=True, address=state["address"])

    async def wait(self, handle: Handle) -> ExitFacts:
        """Wait until its first process has ended."""
        sandbox_id = _id_of(handle)
        while (cell := self._parts.cells.find(sandbox_id)) is not None:
            if "address" in cell.state():
                return await self._note_end(cell)
            await asyncio.sleep(_UNSTARTED_POLL_S)
        return ExitFacts()

    async def _note_end(self, cell: Cell) -> ExitFacts:
        """Wait for the end of the first process; write down how it ended, once."""
        if (known := cell.exit()) is not None:
            return known
        parts, process = self._parts, cell.process()
        watch = parts.watches.add(*process) if process else None
        status = await parts.watches.status(watch) if watch else None
        if (known := cell.exit()) is not None:
            # Somebody else waited as well.
            return known
        oom_kills = parts.cells.group(cell).oom_kills() or 0
        facts = exit_facts(status, oom_kills, stopped=cell.was_stopped())
        cell.write_exit(facts)
        return facts

    def _process_of(self, cell: Cell) -> int | None:
        """Return the pid of the first process while it runs, and have it watched."""
        process = cell.process()
        if process is None or cell.exit() is not None or start_time(process[0]) != process[1]:
            return None
        return process[0] if self._parts.watches.add(*process) else None

    async def stats(self, handle: Handle) -> Stats:
        """Read its control group's counters."""
        cell = self._get(_id_of(handle))
        usage = self._parts.cells.group(cell).usage()
        return Stats(
            usage.cpu_time_s,
            usage.memory_bytes,
            usage.memory_peak_bytes,
            usage.pids,
            await asyncio.to_thread(_disk_bytes, cell),
            usage.oom_kills,
        )

    async def list_held(self) -> frozenset[SandboxId]:
        """List the directories: each is the last that goes of its sandbox."""
        return self._opened.cells.sandbox_ids() if self._opened else frozenset()

    # --- freeze and thaw ----------------------------------------------------------------------------------------------

    async def freeze(self, handle: Handle) -> None:
        """Freeze its control group."""
        sandbox_id = _id_of(handle)
        async with self._turn(sandbox_id):
            group = self._parts.cells.group(self._get_running(sandbox_id))
            group.freeze()
            deadline = asyncio.get_running_loop().time() + _FREEZE_TIMEOUT_S
            while not group.is_frozen():
                if asyncio.get_running_loop().time() > deadline:
                    group.thaw()
                    raise FailedPrecondition("a process can't be frozen now", reason="FREEZE_TIMEOUT")
                await asyncio.sleep(0.001)

    async def thaw(self, handle: Handle) -> None:
        """Thaw its control group."""
        sandbox_id = _id_of(handle)
        async with self._turn(sandbox_id):
            self._parts.cells.group(self._get_running(sandbox_id)).thaw()

    # --- finding ------------------------------------------------------------------------------------------------------

    def _get(self, sandbox_id: SandboxId) -> Cell:
        if (cell := self._parts.cells.find(sandbox_id)) is None:
            raise NotFound(f"the local runtime holds no {sandbox_id}", reason="SANDBOX_NOT_FOUND")
        return cell

    def _get_running(self, sandbox_id: SandboxId) -> Cell:
        cell = self._get(sandbox_id)
        if "address" not in cell.state() or self._process_of(cell) is None:
            raise FailedPrecondition(f"{sandbox_id} does not run", reason="NOT_RUNNING")
        return cell

    @contextlib.asynccontextmanager
    async def _turn(self, sandbox_id: SandboxId) -> AsyncIterator[None]:
        turn = self._turns.setdefault(sandbox_id, asyncio.Lock())
        async with turn:
            yield


def _check_level(parts: Parts, spec: SandboxSpec) -> None:
    if spec.isolation_level is IsolationLevel.STANDARD and not parts.mode.standard:
        raise Unsupported(
            f"this host refuses what standard isolation needs; {parts.mode.missing[0]}",
            reason="ISOLATION_UNAVAILABLE",
            field="spec.isolation_level",
            fix=parts.mode.fix or "ask for best-effort",
        )


def _limits_of(launch: Launch) -> Limits:
    return Limits(**plans.group_limits(launch.spec.resources))


def _handle(sandbox_id: SandboxId, cell: Cell) -> Handle:
    return Handle(NAME, _HANDLE_VERSION, {"sandbox_id": sandbox_id, "cell": cell.name})


def _id_of(handle: Handle) -> SandboxId:
    return SandboxId(str(handle.facts["sandbox_id"]))


def _disk_bytes(cell: Cell) -> int:
    """Return what a sandbox's own layer takes on the host's disk."""
    image = cell.directory / "image"
    if image.exists():
        return disk.used_bytes(image)
    return sum(_sizes((cell.directory / disk.UPPER, cell.private)))


def _sizes(tops: Iterable[Path]) -> Iterable[int]:
    for top in tops:
        for parent, directories, files in os.walk(top):
            for name in (*directories, *files):
                with contextlib.suppress(OSError):
                    yield os.lstat(os.path.join(parent, name)).st_blocks * 512
