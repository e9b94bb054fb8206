"""The driver contract over the local driver, and what only it promises: real namespaces, mounts and groups."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arenero.errors import FailedPrecondition, InvalidArgument, Unsupported
from arenero.isolation.cgroups import Limits
from arenero.model.record import Handle
from arenero.model.spec import OciLayoutSource, Resources, RootfsSource
from arenero.runtime.driver import Driver
from arenero.runtime.local.blanks import MOST
from arenero.runtime.local.cells import state_digest
from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.driver import LocalDriver
from arenero.runtime.suite import PATIENCE_S, DriverSuite
from tests.unit.runtime.local.test_image import Maker, entry
from tests.unit.runtime.local.test_unpack import layer

pytestmark = pytest.mark.root
MIB = 1 << 20


class LocalSuite(DriverSuite):
    """How the suite gets at a local sandbox behind the driver's back."""

    prepared = 0

    @pytest.fixture
    def host(self) -> Iterator[Path]:
        # Short, since sockets are in it: pytest's own directories have long names.
        directory = Path(tempfile.mkdtemp(prefix="arn-"))
        yield directory
        shutil.rmtree(directory)

    def make_driver(self, host: Path) -> Driver:
        return LocalDriver(LocalConfig(state_dir=host, prepared=self.prepared, shm_bytes=1 << 30))

    async def end_first_process(self, driver: Driver, handle: Handle) -> None:
        os.kill(first_process(driver, handle), signal.SIGKILL)

    async def exhaust_memory(self, driver: Driver, handle: Handle) -> None:
        """Fill its memory with files, which no kill of a process frees, until execd itself is the victim."""
        pid = first_process(driver, handle)
        server = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        groups = [
            line.split(":")[2] for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines() if "arenero" in line
        ]
        tasks = [str(path) for group in groups for path in Path("/sys/fs/cgroup").glob(f"*{group}/cgroup.procs")]
        shm = f"/proc/{pid}/root/dev/shm/fill"
        fill = f"for t in {tasks}: open(t, 'w').write('0')\nopen('{shm}', 'ab').write(bytes(1 << 30))"
        while Path(f"/proc/{server}/stat").exists():
            filler = await asyncio.create_subprocess_exec(sys.executable, "-c", fill, stderr=asyncio.subprocess.DEVNULL)
            await filler.wait()
            # A reader makes execd need memory of its own.
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_unix_connection(sandbox_dir(driver, handle) / "execd.sock")
                writer.write(bytes(65_536))
                writer.close()


class TestLocalDriver(LocalSuite):
    async def test_a_lost_zygote_is_replaced_and_sandboxes_run_on(self, driver: Driver) -> None:
        made = await self.run(driver)
        os.kill(zygote_of(made.handle, driver), signal.SIGKILL)
        other = await self.run(driver)
        for one in (made, other):
            assert (await driver.recover(one.handle)).running
        await self.end_first_process(driver, made.handle)
        await asyncio.wait_for(driver.wait(made.handle), PATIENCE_S)

    async def test_the_end_of_an_adopted_sandbox_is_seen(self, driver: Driver, host: Path) -> None:
        made = await self.run(driver)
        other = await self.restart(driver, host)
        assert (await other.recover(made.handle)).running
        await self.end_first_process(other, made.handle)
        await asyncio.wait_for(other.wait(made.handle), PATIENCE_S)
        assert not (await other.recover(made.handle)).running

    async def test_a_socket_that_was_swapped_is_refused(self, driver: LocalDriver) -> None:
        made = await self.create(driver)
        cell = driver._parts.cells.find(made.launch.sandbox_id)
        assert cell is not None
        (cell.run / "execd.sock").symlink_to("/run/docker.sock")
        with pytest.raises(FailedPrecondition, match="something else of its socket"):
            driver._take_socket(cell)
        assert not cell.socket.is_symlink()

    async def test_two_drivers_do_not_share_a_directory(self, driver: Driver, host: Path) -> None:
        second = self.make_driver(host)
        fingerprint = await second.open()
        assert (fingerprint.usable, "another driver" in fingerprint.reason) == (False, True)
        await second.close()

    async def test_a_directory_too_deep_for_sockets_is_refused_in_words(self, host: Path) -> None:
        fingerprint = await self.make_driver(host / ("x" * 80)).open()
        assert "too long" in fingerprint.reason

    async def test_groups_and_cells_that_nobody_owns_are_removed_at_open(self, driver: LocalDriver, host: Path) -> None:
        made = await self.create(driver)
        stray = driver._parts.tree.create("stray", Limits())
        (host / "cells/stray").mkdir()
        other = await self.restart(driver, host)
        assert not stray.exists()
        assert os.listdir(host / "cells") == []
        assert await other.list_held() == {made.launch.sandbox_id}

    async def test_nothing_of_its_own_is_left_after_close(self, host: Path) -> None:
        driver = self.make_driver(host)
        await driver.open()
        zygotes = children_named("arenero-zygote")
        await driver.close()
        assert not zygotes & children_named("arenero-zygote")
        assert not list(Path("/sys/fs/cgroup").glob(f"*/arenero/{state_digest(host)}"))

    async def test_a_root_file_system_directory_is_the_base(self, driver: Driver, host: Path) -> None:
        rootfs = host / "sources/small"
        (rootfs / "etc").mkdir(parents=True)
        (rootfs / "etc/marker").write_text("base")
        made = await self.run(driver, self.make_launch(source=RootfsSource(str(rootfs))))
        root = Path(f"/proc/{first_process(driver, made.handle)}/root")
        assert (root / "etc/marker").read_text() == "base"
        assert sorted(os.listdir(root)) == ["dev", "etc", "proc", "run", "sys"]
        assert os.listdir(rootfs) == ["etc"]
        await driver.destroy(made.handle)

    async def test_an_image_is_the_base(self, driver: Driver, host: Path) -> None:
        maker = Maker(host / "sources/image")
        content = layer(("bin/tool", "#!"), ("etc", None), ("tmp", None)).getvalue()
        maker.index(entry(maker.image(content, config={"Env": ["A=1"]}), "tool:1"))
        launch = self.make_launch(source=OciLayoutSource(str(maker.path), "tool:1"))
        made = await self.run(driver, launch)
        assert Path(f"/proc/{first_process(driver, made.handle)}/root/bin/tool").read_text() == "#!"
        assert (await driver.create(launch)).source.digest.startswith("sha256:")

    @pytest.mark.parametrize("name", ["dev", "proc", "run", "sys"])
    async def test_an_image_whose_directories_are_links_is_refused(self, driver: Driver, host: Path, name: str) -> None:
        """Mounting there would follow the link on the host."""
        rootfs = host / "sources/hostile"
        rootfs.mkdir(parents=True)
        (rootfs / name).symlink_to("/etc")
        with pytest.raises(FailedPrecondition, match="step layers failed"):
            await self.run(driver, self.make_launch(source=RootfsSource(str(rootfs))))

    async def test_a_damaged_image_makes_nothing(self, driver: Driver, host: Path) -> None:
        (host / "sources/broken").mkdir(parents=True)
        with pytest.raises(InvalidArgument) as refusal:
            await driver.create(self.make_launch(source=OciLayoutSource(str(host / "sources/broken"))))
        assert refusal.value.field == "spec.source.oci_layout.path"
        assert not await driver.list_held()

    async def test_limits_are_in_force(self, driver: Driver) -> None:
        limits = Resources(cpus=0.5, memory_bytes=128 * MIB, pids=40, disk_bytes=32 * MIB)
        made = await self.run(driver, self.make_launch(resources=limits))
        shown = {path.name: path.read_text().strip() for path in files_of_group(first_process(driver, made.handle))}
        assert shown.get("memory.max", shown.get("memory.limit_in_bytes")) == str(128 * MIB)
        assert shown.get("cpu.max", shown.get("cpu.cfs_quota_us", "")).split()[0] == "50000"
        image = sandbox_dir(driver, made.handle) / "image"
        assert 32 * MIB < image.stat().st_size < 40 * MIB

    async def test_disks_of_many_sizes_leave_few_blanks(self, driver: Driver, host: Path) -> None:
        sizes = [(16 + number) * MIB for number in range(MOST + 2)]
        for size in sizes:
            made = await self.create(driver, self.make_launch(resources=Resources(disk_bytes=size)))
            await driver.destroy(made.handle)
        assert sorted(int(path.stem) for path in (host / "blanks").iterdir()) == sizes[2:]

    async def test_a_disk_larger_than_the_hosts_is_refused_and_makes_nothing(self, driver: Driver, host: Path) -> None:
        whole = os.statvfs(host).f_blocks * os.statvfs(host).f_frsize
        for size in (whole + MIB, 1 << 60):
            with pytest.raises(Unsupported, match=str(whole)) as refusal:
                await driver.create(self.make_launch(resources=Resources(disk_bytes=size)))
            assert refusal.value.field == "spec.resources.disk_bytes"
        assert os.listdir(host / "blanks") == []
        assert not await driver.list_held()

    async def test_a_large_disk_is_copied_before_it_is_asked_for(self, driver: LocalDriver, host: Path) -> None:
        size = 32 * MIB
        await driver._parts.cells.prepare_blank(size)
        blank = host / f"blanks/{size}.img"
        with blank.open("r+b") as file:
            # What a file system of terabytes has in it, without the terabytes: past the end, where nobody looks.
            file.seek(0, os.SEEK_END)
            file.write(bytes(4 * MIB))
        made = await self.run(driver, self.make_launch(resources=Resources(disk_bytes=size)))
        assert (sandbox_dir(driver, made.handle) / "image").stat().st_size == blank.stat().st_size
        assert os.listdir(host / "blanks") == [blank.name]

    async def test_what_a_killed_driver_was_formatting_is_removed_at_open(self, driver: Driver, host: Path) -> None:
        (host / "blanks/.image-left").mkdir()
        (host / "blanks/.image-left/image").touch()
        await self.restart(driver, host)
        assert os.listdir(host / "blanks") == []


class TestLocalDriverWithPreparedCells(LocalSuite):
    prepared = 2

    async def test_a_prepared_cell_is_used_and_named_after_its_sandbox(self, driver: LocalDriver) -> None:
        await self.run(driver)
        ready = driver._parts.stock
        async with asyncio.timeout(PATIENCE_S):
            while len(ready) < 2:
                await asyncio.sleep(0.01)
        before = {cell.name for cell in (driver.config.state_dir / "cells").iterdir()}
        made = await self.run(driver)
        assert made.handle.facts["cell"] in before
        assert [span.name for span in made.started.spans] == ["driver.local.enter"] if made.started else False
        namespace = f"/proc/{first_process(driver, made.handle)}"
        seen = subprocess.run(["nsenter", f"--uts={namespace}/ns/uts", "hostname"], capture_output=True, check=True)
        assert seen.stdout == b"box\n"

    async def test_prepared_cells_that_lost_their_zygote_are_built_again(self, driver: LocalDriver) -> None:
        made = await self.run(driver)
        async with asyncio.timeout(PATIENCE_S):
            while len(driver._parts.stock) < 2:
                await asyncio.sleep(0.01)
        os.kill(zygote_of(made.handle, driver), signal.SIGKILL)
        again = await self.run(driver)
        assert (await driver.recover(again.handle)).running

    async def test_prepared_cells_end_with_the_driver(self, driver: LocalDriver, host: Path) -> None:
        await self.run(driver)
        async with asyncio.timeout(PATIENCE_S):
            while len(driver._parts.stock) < 2:
                await asyncio.sleep(0.01)
        await self.restart(driver, host)
        assert os.listdir(host / "cells") == []


def sandbox_dir(driver: Driver, handle: Handle) -> Path:
    assert isinstance(driver, LocalDriver)
    return driver.config.state_dir / "sandboxes" / str(handle.facts["sandbox_id"])


def first_process(driver: Driver, handle: Handle) -> int:
    return int((sandbox_dir(driver, handle) / "process").read_text().split()[0])


def zygote_of(handle: Handle, driver: Driver) -> int:
    stat = Path(f"/proc/{first_process(driver, handle)}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def files_of_group(pid: int) -> list[Path]:
    groups = {line.split(":")[2] for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines() if "arenero" in line}
    found = [path for group in groups for path in Path("/sys/fs/cgroup").glob(f"*{group.removesuffix('/init')}/*.*")]
    return [
        path for path in found if path.name in ("memory.max", "memory.limit_in_bytes", "cpu.max", "cpu.cfs_quota_us")
    ]


def children_named(name: str) -> set[int]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, tail = path.read_text().rpartition(")")
            if name[:15] in head and int(tail.split()[1]) == os.getpid():
                found.add(int(path.parent.name))
    return found
