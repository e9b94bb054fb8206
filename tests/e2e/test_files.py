"""Files of real sandboxes, by both ways."""

import asyncio
import hashlib
import io
import os
import tarfile
from contextlib import aclosing
from pathlib import Path

import pytest

from arenero.sdk import Client, Sandbox
from arenero.sdk.errors import AlreadyExists, AreneroError, FailedPrecondition, NotFound


@pytest.mark.parametrize("size", [0, 1, 18 * 1024, 18 * 1024 + 1, 1 << 20, 100 << 20], ids=lambda size: f"{size} B")
async def test_file_of_any_size_arrives_and_comes_back(sandbox_either_way: Sandbox, tmp_path: Path, size: int) -> None:
    """Cases 31 and 34."""
    content = os.urandom(size)
    (tmp_path / "up").write_bytes(content)
    await sandbox_either_way.files.upload(tmp_path / "up", "file")
    summed = await sandbox_either_way.exec(["sha256sum", "file"], check=True)
    assert summed.stdout_text.split()[0] == hashlib.sha256(content).hexdigest()
    assert await sandbox_either_way.files.download("file", tmp_path / "down") == size
    assert (tmp_path / "down").read_bytes() == content


async def test_range_of_a_file(sandbox: Sandbox) -> None:
    await sandbox.files.write("digits", "0123456789")
    assert await sandbox.files.read("digits", offset=3, length=4) == b"3456"
    assert await sandbox.files.read("digits", offset=8) == b"89"
    assert await sandbox.files.read("digits", offset=50) == b""


async def test_missing_parents_are_made_and_belong_to_the_owner(sandbox: Sandbox) -> None:
    """Case 32."""
    await sandbox.files.write("a/b/c.txt", "x")
    for path in ("a", "a/b", "a/b/c.txt"):
        stat = await sandbox.files.stat(path)
        assert (stat.owner, stat.uid) == ("sandbox", 1000), path
    with pytest.raises(NotFound):
        await sandbox.files.write("no/such/place", "x", make_parents=False)


async def test_replacement_keeps_the_mode_and_exclusive_writing_refuses(sandbox: Sandbox) -> None:
    await sandbox.files.write("f", "old", mode=0o600)
    await sandbox.files.write("f", "new")
    assert ((await sandbox.files.stat("f")).mode & 0o777, await sandbox.files.read("f")) == (0o600, b"new")
    with pytest.raises(AlreadyExists):
        await sandbox.files.write("f", "x", exclusive=True)
    await sandbox.files.write("f", "er", append=True)
    assert await sandbox.files.read_text("f") == "newer"


async def test_reader_never_sees_half_a_file(sandbox: Sandbox) -> None:
    """Case 35."""
    old, new = b"o" * 3_000_000, b"n" * 3_000_000
    await sandbox.files.write("f", old)

    async def replace() -> None:
        for number in range(6):
            await sandbox.files.write("f", new if number % 2 == 0 else old)

    seen = set()
    async with asyncio.TaskGroup() as group:
        replacing = group.create_task(replace())
        while not replacing.done():
            seen.add(await sandbox.files.read("f"))
    assert seen <= {old, new}


async def test_names_are_bytes(sandbox: Sandbox) -> None:
    await sandbox.files.write(b"n\xff\n", "x")
    await sandbox.files.write("ñ", "y")
    listed = {stat.raw_path for stat in await sandbox.files.list(".")}
    assert {b"n\xff\n", "ñ".encode()} <= listed
    assert await sandbox.files.read(b"n\xff\n") == b"x"


async def test_tree_is_listed_moved_changed_and_removed(sandbox: Sandbox) -> None:
    files = sandbox.files
    await files.make_directory("d/sub", mode=0o750)
    await files.write("d/sub/x", "1")
    await files.symlink("sub/x", "d/link")
    shown = {stat.path: stat.type for stat in await files.list("d", depth=5)}
    assert shown == {"sub": "directory", "sub/x": "file", "link": "symlink"}
    assert (await files.stat("d/link")).link_target == b"sub/x"
    assert (await files.stat("d/link", follow=True)).type == "file"
    await files.move("d/sub/x", "d/y")
    assert await files.read("d/y") == b"1"
    assert await files.chmod("d", 0o700, recursive=True) >= 3
    assert await files.remove("d", recursive=True) >= 4
    assert not await files.exists("d")
    assert await files.remove("d", recursive=True, ignore_missing=True) == 0
    with pytest.raises(NotFound):
        await files.remove("d")


async def test_search_and_replace(sandbox: Sandbox) -> None:
    await sandbox.files.write("src/a.py", "x = 1\ny = 1\n")
    await sandbox.files.write("src/b.txt", "x = 1\n")
    [(stat, line, text)] = await sandbox.files.search("src", "*.py", content=r"^y = \d")
    assert (os.path.basename(stat.path), line, text.strip()) == ("a.py", 2, b"y = 1")
    assert await sandbox.files.replace("src/a.py", "= 1", "= 2") == 2
    with pytest.raises(AreneroError):
        await sandbox.files.replace("src/a.py", "= 2", "= 3", expected_count=5)
    assert await sandbox.files.read_text("src/a.py") == "x = 2\ny = 2\n"


async def test_confined_calls_do_not_leave_their_root(sandbox: Sandbox) -> None:
    """Case 38."""
    await sandbox.exec("mkdir -p jail && cd jail && ln -s /etc/passwd x && ln -s / up && echo ok > inside", check=True)
    jail = sandbox.files.within("/home/sandbox/jail")
    assert await jail.read("inside") == b"ok\n"
    for path in ("x", "up/etc/passwd", "../jail/inside", "/etc/passwd"):
        with pytest.raises(AreneroError):
            await jail.read(path)
    with pytest.raises(AreneroError):
        await jail.write("up/tmp/p", "x")
    assert (await jail.stat("x")).type == "symlink"
    hostile = io.BytesIO()
    with tarfile.open(fileobj=hostile, mode="w") as archive:
        entry = tarfile.TarInfo("../../p")
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))
    with pytest.raises(AreneroError):
        await jail.upload_archive(hostile.getvalue(), ".")


async def test_tree_goes_down_and_up_as_an_archive(sandbox_either_way: Sandbox) -> None:
    sandbox = sandbox_either_way
    await sandbox.exec("mkdir -p t/sub && head -c 3000000 /dev/urandom > t/sub/big && ln -s sub/big t/l", check=True)
    for gzip in (False, True):
        packed = b"".join([piece async for piece in sandbox.files.download_archive("t", gzip=gzip)])
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            assert {entry.name.removeprefix("./") for entry in archive} >= {"sub", "sub/big", "l"}
        await sandbox.files.upload_archive(packed, f"copy{gzip}", gzip=gzip)
    await sandbox.exec("diff -r t copyTrue && diff -r t copyFalse && test -L copyTrue/l", check=True)


async def test_changes_are_watched(sandbox: Sandbox) -> None:
    """One at a time: what is made and gone within the coalescing time is no change."""
    await sandbox.files.make_directory("w/sub")
    seen: list[tuple[str, str]] = []
    begun = asyncio.Event()

    async def watch() -> None:
        async with aclosing(sandbox.files.watch("w", coalesce_s=0.05)) as changes:  # type: ignore[type-var]
            async for change in changes:
                seen.append((change.kind, change.path))
                begun.set()

    async def until(*wanted: tuple[str, str]) -> None:
        while not set(wanted) & set(seen):
            await asyncio.sleep(0.02)

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        watching = group.create_task(watch())
        number = 0
        while not begun.is_set():  # a watch tells of what happens after it began
            await sandbox.files.write(f"w/probe{(number := number + 1)}", "x")
            await asyncio.sleep(0.1)
        await sandbox.exec("echo 1 > w/sub/a", check=True)
        await until(("created", "sub/a"))
        await sandbox.exec("echo 2 >> w/sub/a", check=True)
        await until(("modified", "sub/a"))
        await sandbox.exec("mv w/sub/a w/b", check=True)
        await until(("moved", "b"), ("created", "b"))
        await sandbox.exec("rm w/b", check=True)
        await until(("removed", "b"))
        watching.cancel()


async def test_disk_has_a_limit(platform, client) -> None:
    async with Sandbox.create(client=client, disk_bytes=64 << 20) as small:
        with pytest.raises(AreneroError) as raised:
            await small.files.write("big", (bytes(1 << 20) for _ in range(200)))
        assert raised.value.reason, raised.value
        assert not await small.files.exists("big")
        result = await small.exec("head -c 200M /dev/zero > fill; echo code $?")
        assert b"code 1" in result.stdout
        await small.exec("rm fill && echo fine > f", check=True)


async def test_errors_name_what_is_wrong(sandbox: Sandbox) -> None:
    with pytest.raises(NotFound):
        await sandbox.files.read("nothing")
    with pytest.raises(AreneroError) as raised:
        await sandbox.files.read("/tmp")
    assert isinstance(raised.value, FailedPrecondition) or raised.value.reason
    with pytest.raises(AreneroError):
        await sandbox.files.write("/usr/bin/x", "x")
    with pytest.raises(AreneroError):
        await sandbox.files.read("a\0b")


async def test_many_transfers_at_once_don_t_use_up_a_small_sandbox(client: Client) -> None:
    content = bytes(20_000_000)
    async with Sandbox.create(client=client, memory_bytes=64 << 20) as sandbox:
        await asyncio.gather(*(sandbox.files.write(f"file{number}", content) for number in range(16)))
        read = await asyncio.gather(*(sandbox.files.read(f"file{number}") for number in range(16)))
        assert all(each == content for each in read)
        assert (await sandbox.exec("echo fine")).stdout == b"fine\n"
