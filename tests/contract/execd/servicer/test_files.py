"""FileService over gRPC on a real directory."""

import asyncio
import io
import os
import random
import socket
import stat
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from arenero.api.execd.v1 import file_pb2
from arenero.api.execd.v1 import file_service_pb2 as api
from arenero.errors import (
    AlreadyExists,
    ArenError,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unavailable,
    Unsupported,
)
from arenero.execd.file_config import FileConfig
from arenero.rpc.client import call
from tests.contract.execd.servicer.file_service import FileClient, answer_of, finish, piece, served
from tests.fixtures.refusing_fuse import missing_fuse, refusing_fuse
from tests.unit.execd.filekit import IS_ROOT, names_in, open_descriptors, shared_directory

FUSE = pytest.mark.skipif(missing_fuse() is not None, reason=missing_fuse() or "")


@pytest.fixture
def home() -> Iterator[Path]:
    """Give the directory that is served, which other users get to as well."""
    with shared_directory(0o755) as directory:
        yield directory


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    (tmp_path / "passwd").write_text("root:x:0:0::/:\nsandbox:x:1000:1000::/:\nalice:x:4001:4001::/:\n")
    (tmp_path / "group").write_text("root:x:0:\nsandbox:x:1000:\nalice:x:4001:\nteam:x:4100:alice\n")
    return tmp_path


@pytest.fixture
def config(home: Path) -> FileConfig:
    owner = (1000, 1000) if IS_ROOT else (os.geteuid(), os.getegid())
    return FileConfig(*owner, home=os.fsencode(home), most_uploads=3)


@pytest.fixture
async def files(home: Path, config: FileConfig, etc: Path) -> AsyncIterator[FileClient]:
    async with served(home, config, etc) as client:
        yield client


async def refusal(awaitable: Any) -> ArenError:
    with pytest.raises(ArenError) as error:
        await awaitable
    return error.value


# --- content ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 18 * 1024, 18 * 1024 + 1, 1 << 20, 100 << 20])
async def test_file_is_there_with_the_right_sum_as_soon_as_the_answer_is(files: FileClient, home: Path, size: int):
    """Case 31: whatever the size, and checked by another program."""
    content = random.Random(size).randbytes(size)
    answer = await files.write(b"f", content, chunk=1 << 20, checksum=True)
    program = subprocess.run(["sha256sum", str(home / "f")], capture_output=True, text=True, check=True)
    assert program.stdout.split()[0] == sha256(content).hexdigest()
    assert (answer.stat.size_bytes, answer.received_bytes, answer.written_in_place) == (size, size, False)


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04\x14\0\x06\0" + random.Random(1).randbytes(30_000),
        b"\x89PNG\r\n\x1a\n" + random.Random(2).randbytes(30_000),
        "größer\r\n".encode("utf-16"),
        random.Random(3).randbytes(40_000_000),
    ],
    ids=["xlsx", "PNG", "UTF-16", "40 MB"],
)
async def test_content_comes_back_byte_by_byte(files: FileClient, content: bytes):
    """Case 34: no guessing of text."""
    await files.write(b"f", content, chunk=123_457)
    assert await files.read(b"f", checksum=True, chunk_bytes=65_537) == content
    assert await files.read(b"f", offset=7, length=100) == content[7:107]


async def test_first_message_describes_the_file_and_the_last_one_ends_it(files: FileClient, home: Path):
    (home / "f").write_bytes(b"abc")
    first, last = await files.all("Read", path=b"f", checksum=True)
    assert (first.stat.path, first.stat.size_bytes, first.stat.type) == (b"f", 3, file_pb2.FILE_TYPE_REGULAR)
    assert first.data == b"abc"
    assert (last.end, last.offset, last.sha256) == (True, 3, sha256(b"abc").digest())


async def test_sparse_file_travels_without_its_holes(files: FileClient, home: Path):
    """Case 37: 10 GB with 1 MB of data, up, down and packed."""
    data = b"x" * (1 << 20)
    await files.send([files.opening(b"f", checksum=True), piece((5 << 30, data)), finish(10 << 30)])
    assert (home / "f").stat().st_blocks * 512 < 2 << 20
    messages = await files.all("Read", path=b"f", sparse=True)
    assert sum(len(message.data) for message in messages) == len(data)
    assert (messages[0].offset, messages[0].stat.size_bytes, messages[-1].offset) == (5 << 30, 10 << 30, 10 << 30)
    assert messages[0].stat.disk_bytes < 2 << 20
    archive = await files.all("DownloadArchive", base=b".")
    assert sum(len(message.data) for message in archive) < 2 << 20


@pytest.mark.root
async def test_new_files_and_parents_belong_to_whom_they_should(files: FileClient, home: Path):
    """Case 32."""
    (home / "data").mkdir()
    (home / "data").chmod(0o750)
    await files.write(b"data/a/b/c.txt", b"x", make_parents=True)
    owner = file_pb2.Ownership(owner="alice", group="team")
    answer = await files.write(b"data/d/e", b"x", make_parents=True, ownership=owner, mode=0o600)
    assert (answer.stat.owner, answer.stat.group, answer.stat.mode) == ("alice", "team", 0o600)
    assert ((home / "data").stat().st_uid, stat.S_IMODE((home / "data").stat().st_mode)) == (0, 0o750)
    for path, ids in (("a", (1000, 1000)), ("a/b/c.txt", (1000, 1000)), ("d", (4001, 4100)), ("d/e", (4001, 4100))):
        status = (home / "data" / path).stat()
        assert (status.st_uid, status.st_gid) == ids


async def test_failed_write_is_never_answered_with_ok(files: FileClient, home: Path):
    """Case 31."""
    (home / "f").write_text("old")
    wrong = [files.opening(b"f"), piece((0, b"new")), finish(3, sha256(b"other").digest())]
    for messages, reason in (
        (wrong, "CHECKSUM_MISMATCH"),
        ([files.opening(b"f"), piece((0, b"new"))], "UNFINISHED"),
        ([piece((0, b"new"))], "NOT_OPENED"),
        ([], "NOT_OPENED"),
        ([files.opening(b"f", mode=0o200000), finish()], "INVALID_MODE"),
        ([files.opening(b"f", write_mode=77), finish()], "UNKNOWN_WRITE_MODE"),
    ):
        assert (await refusal(files.send(messages))).reason == reason
    assert isinstance(await refusal(files.write(b"f", write_mode=api.WRITE_MODE_CREATE)), AlreadyExists)
    assert (names_in(home), (home / "f").read_text()) == (["f"], "old")


async def test_append_and_in_place(files: FileClient, home: Path):
    await files.write(b"f", b"one", write_mode=api.WRITE_MODE_APPEND)
    await files.write(b"f", b"two", write_mode=api.WRITE_MODE_APPEND, sync=True)
    messages = [files.opening(b"f", write_mode=api.WRITE_MODE_IN_PLACE), piece((2, b"XX")), finish()]
    assert (await files.send(messages)).written_in_place
    assert (home / "f").read_bytes() == b"onXXwo"


async def test_fifo_in_the_place_of_a_file_answers_at_once(files: FileClient, home: Path):
    os.mkfifo(home / "fifo")
    for attempt in (files.read(b"fifo"), files.write(b"fifo", b"x"), files.read(b"fifo", offset=1)):
        async with asyncio.timeout(5):
            assert (await refusal(attempt)).reason == "NOT_A_REGULAR_FILE"


async def test_leased_file_does_not_hold_a_thread(files: FileClient, home: Path):
    """A program with a lease on its file could make every opening wait for 45 seconds."""
    (home / "f").write_text("x")
    (home / "f").chmod(0o666)
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, os, signal, sys, time\n"
            "signal.signal(signal.SIGIO, signal.SIG_IGN)\n"
            "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
            "fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)\n"
            "print('leased', flush=True)\n"
            "time.sleep(60)\n",
            str(home / "f"),
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"leased\n"
        async with asyncio.timeout(5):
            error = await refusal(
                files.send([files.opening(b"f", write_mode=api.WRITE_MODE_IN_PLACE), piece((0, b"y")), finish()])
            )
        assert (type(error), error.reason) == (Unavailable, "FILE_LEASED")
        holder.kill()
    finally:
        holder.kill()
        holder.wait()
        if holder.stdout is not None:
            holder.stdout.close()


# --- file systems that can't do everything ----------------------------------------------------------------------------


@FUSE
@pytest.mark.parametrize(
    "refused", [["rename"], ["chmod", "chown"], ["rename", "chmod", "chown"], ["create-hidden"], []], ids="+".join
)
async def test_volume_that_refuses_is_written_directly(files: FileClient, home: Path, refused: list[str]):
    """Case 35: a FUSE volume that refuses rename, fchmod, fchown or hidden files."""
    (home / "volume").mkdir()
    content = random.Random(5).randbytes(700_000)
    with refusing_fuse(home / "volume", refused) as volume:
        for attempt in (content, content[::-1]):
            answer = await files.write(b"volume/dir/f", attempt, make_parents=True, mode=0o640)
            assert (volume / "dir/f").read_bytes() == attempt
            assert answer.stat.size_bytes == len(attempt)
        assert answer.written_in_place == bool({"rename", "create-hidden"} & set(refused))
        assert answer.attributes_refused == ("chmod" in refused)
        assert names_in(volume / "dir") == ["f"]
        assert await files.read(b"volume/dir/f") == content[::-1]
        changed = await files.call(
            "Replace", replacements=[api.Replacement(path=b"volume/dir/f", old=content[:5], new=b"")]
        )
        assert changed.results[0].reason == ""


@pytest.mark.root
async def test_file_with_another_mounted_on_it_is_written_directly(files: FileClient, home: Path):
    """Case 35: as Docker mounts /etc/hosts, rename says EBUSY."""
    for name in ("hosts", "real"):
        (home / name).write_text("old")
    subprocess.run(["mount", "--bind", str(home / "real"), str(home / "hosts")], check=True)
    try:
        answer = await files.write(b"hosts", b"new and longer")
        assert answer.written_in_place
        assert (home / "real").read_text() == "new and longer"
        # What was stored beside it goes after the answer.
        for _ in range(500):
            if names_in(home) == ["hosts", "real"]:
                break
            await asyncio.sleep(0.01)
        assert names_in(home) == ["hosts", "real"]
    finally:
        subprocess.run(["umount", str(home / "hosts")], check=True)


@pytest.mark.root
async def test_full_disk_is_told_and_the_upload_goes_on_when_there_is_room(files: FileClient, home: Path):
    """Case 31: what isn't stored is not acknowledged."""
    (home / "disk").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(home / "disk")], check=True)
    try:
        (home / "disk/ballast").write_bytes(bytes(3 << 20))
        content = random.Random(6).randbytes(2 << 20)
        chunks = [piece((at, content[at : at + 4096])) for at in range(0, len(content), 4096)]
        opening = files.opening(b"disk/f", upload_id="up")
        error = await refusal(files.send([opening, *chunks, finish(len(content))]))
        assert (type(error), error.reason) == (ResourceExhausted, "NO_SPACE")
        assert not (home / "disk/f").exists()
        (home / "disk/ballast").unlink()
        offset = (await files.call("WriteStatus", path=b"disk/f", upload_id="up")).received_offset
        rest = [piece((offset, content[offset:]))]
        await files.send([opening, *rest, finish(len(content), sha256(content).digest())])
        assert (home / "disk/f").read_bytes() == content
        expected = await refusal(files.write(b"disk/g", b"x", expected_size_bytes=10 << 20))
        assert expected.reason == "NO_SPACE"
    finally:
        subprocess.run(["umount", "--lazy", str(home / "disk")], check=True)


# --- resuming ---------------------------------------------------------------------------------------------------------


async def broken_write(files: FileClient, messages: list[api.WriteRequest]) -> None:
    """Send messages, and cancel once the server has stored them."""

    async def unfinished() -> AsyncIterator[api.WriteRequest]:
        for message in messages:
            yield message
        await asyncio.Event().wait()

    running = files.stub.Write(unfinished())
    stored = sum(len(message.data) for message in messages)
    opening = messages[0].open
    async with asyncio.timeout(20):
        while True:
            request = api.WriteStatusRequest(root=files.root, path=opening.path, upload_id=opening.upload_id)
            status = await call(files.stub.WriteStatus, request, timeout_s=10)
            if status.received_offset >= stored - (1 << 20):
                break
            await asyncio.sleep(0.02)
    running.cancel()


async def test_broken_upload_goes_on_at_its_offset(files: FileClient, home: Path):
    content = random.Random(7).randbytes(5 << 20)
    opening = files.opening(b"dir/f", upload_id="my-upload_1", make_parents=True, checksum=True)
    first = [opening, *(piece((at << 20, content[at << 20 : (at + 1) << 20])) for at in range(3))]
    await broken_write(files, first)
    assert not (home / "dir/f").exists()
    assert names_in(home / "dir") == []
    offset = (await files.call("WriteStatus", path=b"dir/f", upload_id="my-upload_1")).received_offset
    assert 2 << 20 <= offset <= 3 << 20
    rest = [piece((offset, content[offset:]))]
    answer = await files.send([opening, *rest, finish(len(content), sha256(content).digest())])
    assert answer.received_bytes == len(content) - offset
    assert (home / "dir/f").read_bytes() == content
    assert (await files.call("WriteStatus", path=b"dir/f", upload_id="my-upload_1")).received_offset == 0


async def test_second_call_takes_an_upload_over(files: FileClient, home: Path):
    """The server may not know yet that the first call's client is gone."""
    proceed = asyncio.Event()
    opening = files.opening(b"f", upload_id="u")

    async def slow() -> AsyncIterator[api.WriteRequest]:
        yield opening
        yield piece((0, b"a" * (2 << 20)))
        await proceed.wait()
        yield piece((2 << 20, b"late" * (1 << 19)))
        yield finish()

    first = files.stub.Write(slow())
    async with asyncio.timeout(10):
        while not (await files.call("WriteStatus", path=b"f", upload_id="u")).received_offset:
            await asyncio.sleep(0.01)
    content = b"a" * (2 << 20) + b"b"
    answer = await files.send([opening, piece((2 << 20, b"b")), finish(len(content), sha256(content).digest())])
    assert answer.stat.size_bytes == len(content)
    proceed.set()
    assert (await refusal(answer_of(first))).reason == "UPLOAD_TAKEN_OVER"
    assert (home / "f").read_bytes() == content


async def test_damaged_upload_is_dropped(files: FileClient, home: Path):
    opening = files.opening(b"f", upload_id="u")
    error = await refusal(files.send([opening, piece((0, b"x")), finish(1, sha256(b"y").digest())]))
    assert error.reason == "CHECKSUM_MISMATCH"
    assert (await files.call("WriteStatus", path=b"f", upload_id="u")).received_offset == 0


async def test_only_whole_files_are_resumed_and_only_by_proper_ids(files: FileClient):
    for opening, reason in (
        ({"upload_id": "u", "write_mode": api.WRITE_MODE_APPEND}, "NOT_RESUMABLE"),
        ({"upload_id": "../u"}, "INVALID_UPLOAD_ID"),
    ):
        assert (await refusal(files.write(b"f", b"x", **opening))).reason == reason
    assert (await refusal(files.call("WriteStatus", path=b"f", upload_id=""))).reason == "INVALID_UPLOAD_ID"


async def test_broken_upload_without_an_id_leaves_nothing(files: FileClient, home: Path):
    await files.call("Stat", path=b".")
    before = open_descriptors()
    for _ in range(20):
        begun = asyncio.Event()

        async def unfinished(begun: asyncio.Event = begun) -> AsyncIterator[api.WriteRequest]:
            yield files.opening(b"dir/f", make_parents=True)
            yield piece((0, b"x" * (2 << 20)))
            begun.set()
            await asyncio.Event().wait()

        running = files.stub.Write(unfinished())
        await begun.wait()
        running.cancel()
    async with asyncio.timeout(20):
        while open_descriptors() > before:
            await asyncio.sleep(0.02)
    assert names_in(home) in ([], ["dir"])
    assert not (home / "dir").exists() or names_in(home / "dir") == []


# --- entries ----------------------------------------------------------------------------------------------------------


async def test_links_are_shown_as_links(files: FileClient, home: Path):
    """Case 38."""
    (home / "x").symlink_to("/etc/shadow")
    answer = await files.call("Stat", path=b"x")
    assert (answer.stat.type, answer.stat.link_target) == (file_pb2.FILE_TYPE_SYMLINK, b"/etc/shadow")
    (page,) = await files.all("ListDirectory", path=b".")
    assert page.entries[0].type == file_pb2.FILE_TYPE_SYMLINK


async def test_nothing_leaves_the_root(files: FileClient, home: Path):
    """Case 38: links and paths that lead out, in every call."""
    (home / "x").symlink_to("/etc/shadow")
    (home / "up").symlink_to("/")
    (home / "dir").mkdir()
    attempts = [
        files.read(b"x"),
        files.read(b"up/etc/passwd"),
        files.read(b"/etc/passwd"),
        files.write(b"up/etc/p", b"x", make_parents=True),
        files.write(b"x", b"x"),
        files.call("Stat", path=b"x", follow=True),
        files.call("Stat", path=b"up/etc"),
        files.all("ListDirectory", path=b"up"),
        files.call("Move", source=b"dir", destination=b"up/p"),
        files.call("Move", source=b"up/etc/passwd", destination=b"p"),
        files.call("Remove", path=b"up/etc/passwd"),
        files.call("MakeDirectory", path=b"up/p", make_parents=True),
        files.call("Chmod", path=b"up/etc/passwd", mode=0o777),
        files.call("Chown", path=b"up/etc/passwd", ownership=file_pb2.Ownership(owner="0")),
        files.call("Symlink", path=b"up/p", target=b"x"),
        files.all("Search", path=b"up"),
        files.all("DownloadArchive", base=b"up"),
        files.all("DownloadArchive", base=b".", paths=[b"up/etc"]),
        files.upload_archive(b"up/p", b""),
        files.all("WatchDirectory", path=b"up"),
    ]
    for attempt in attempts:
        error = await refusal(attempt)
        assert (type(error), error.reason) == (PermissionDenied, "ESCAPES_ROOT")
    assert names_in(home) == ["dir", "up", "x"]


async def test_whole_sandbox_has_no_root(files: FileClient, home: Path):
    everything = files.within(b"")
    (home / "x").symlink_to("/etc/passwd")
    assert b"root" in await everything.read(b"x")
    assert b"root" in await everything.read(os.fsencode(home / "x"))


async def test_entries_are_made_moved_changed_and_removed(files: FileClient, home: Path):
    made = await files.call("MakeDirectory", path=b"a/b", make_parents=True, mode=0o700)
    assert (made.made, made.stat.mode) == (2, 0o700)
    link = await files.call("Symlink", path=b"a/l", target=b"b")
    assert link.stat.link_target == b"b"
    assert (await files.call("Chmod", path=b"a", mode=0o711, recursive=True)).changed == 2
    moved = await files.call("Move", source=b"a", destination=b"new/c", make_parents=True)
    assert (moved.stat.path, moved.stat.type) == (b"new/c", file_pb2.FILE_TYPE_DIRECTORY)
    assert (await files.call("Remove", path=b"new", recursive=True)).removed == 4
    assert (await files.call("Remove", path=b"new", ignore_missing=True)).removed == 0
    assert names_in(home) == []


async def test_large_directory_is_listed_in_order_and_up_to_a_limit(files: FileClient, home: Path):
    (home / "d").mkdir()
    for number in range(3000):
        os.close(os.open(home / f"d/{number:05}", os.O_CREAT | os.O_WRONLY))
    names = [entry.path for page in await files.all("ListDirectory", path=b"d") for entry in page.entries]
    assert names == [b"%05d" % number for number in range(3000)]
    pages = await files.all("ListDirectory", path=b"d", limit=300)
    assert [entry.path for page in pages for entry in page.entries] == names[:300]
    assert pages[-1].truncated
    pages = await files.all("ListDirectory", path=b"d", limit=3000)
    assert not pages[-1].truncated


async def test_search_and_replace(files: FileClient, home: Path):
    for name, content in (("a.py", "old\nkeep\nold"), ("b.py", "nothing"), ("c.txt", "old")):
        (home / name).write_text(content)
    pages = await files.all("Search", path=b".", glob="*.py", content="^o.d$")
    assert [(match.stat.path, match.line, match.text) for page in pages for match in page.matches] == [
        (b"a.py", 1, b"old"),
        (b"a.py", 3, b"old"),
    ]
    assert not pages[-1].truncated
    pages = await files.all("Search", path=b".", types=[file_pb2.FILE_TYPE_REGULAR], limit=2)
    assert ([len(page.matches) for page in pages], pages[-1].truncated) == ([2, 0], True)
    changes = [api.Replacement(path=b"a.py", old=b"old", new=b"new"), api.Replacement(path=b"no", old=b"x")]
    answer = await files.call("Replace", replacements=changes, all_or_nothing=True)
    assert [each.reason for each in answer.results] == ["NOT_APPLIED", "FILE_NOT_FOUND"]
    answer = await files.call("Replace", replacements=changes)
    assert [(each.replaced, each.reason) for each in answer.results] == [(2, ""), (0, "FILE_NOT_FOUND")]
    assert (home / "a.py").read_text() == "new\nkeep\nnew"


@pytest.mark.parametrize(
    ("method", "fields", "kind", "reason", "field"),
    [
        ("Stat", {"path": b""}, InvalidArgument, "INVALID_PATH", "path"),
        ("Stat", {"path": b"no"}, NotFound, "FILE_NOT_FOUND", "path"),
        ("Move", {"source": b"f", "destination": b"d"}, AlreadyExists, "FILE_EXISTS", "destination"),
        ("Remove", {"path": b"d"}, FailedPrecondition, "DIRECTORY_NOT_EMPTY", "path"),
        ("Chmod", {"path": b"f", "mode": 0o10000}, InvalidArgument, "INVALID_MODE", "mode"),
        ("Chown", {"path": b"f"}, InvalidArgument, "NO_OWNERSHIP", "ownership"),
        ("Symlink", {"path": b"l", "target": b""}, InvalidArgument, "INVALID_PATH", "target"),
        ("Replace", {"replacements": [{"path": b"f"}]}, InvalidArgument, "EMPTY_OLD_TEXT", "replacements[0].old"),
    ],
)
async def test_errors_say_what_and_where(
    files: FileClient, home: Path, method: str, fields: dict[str, Any], kind: type[ArenError], reason: str, field: str
):
    (home / "f").touch()
    (home / "d/x").mkdir(parents=True)
    error = await refusal(files.call(method, **fields))
    assert (type(error), error.reason, error.field) == (kind, reason, field)


async def test_isolation_sessions_are_not_there_yet(files: FileClient):
    root = file_pb2.FileRoot(isolation_session_id="x")
    with pytest.raises(Unsupported):
        await call(files.stub.Stat, api.StatRequest(root=root, path=b"f"), timeout_s=10)


@pytest.mark.root
async def test_acting_user_has_the_users_rights_in_every_call(files: FileClient, home: Path):
    (home / "secret").write_text("old")
    (home / "secret").chmod(0o600)
    (home / "closed").mkdir(0o700)
    (home / "own").mkdir()
    os.chown(home / "own", 4001, 4001)
    alice = files.acting_as("alice")
    for attempt in (
        alice.read(b"secret"),
        alice.write(b"secret", b"x"),
        alice.write(b"new", b"x"),
        alice.all("ListDirectory", path=b"closed"),
        alice.call("Stat", path=b"closed/x"),
        alice.call("Move", source=b"secret", destination=b"own/x"),
        alice.call("Remove", path=b"secret"),
        alice.call("MakeDirectory", path=b"x"),
        alice.call("Chmod", path=b"secret", mode=0o777),
        alice.call("Chown", path=b"own", ownership=file_pb2.Ownership(owner="0")),
        alice.call("Symlink", path=b"x", target=b"y"),
        alice.all("DownloadArchive", base=b"closed"),
        alice.upload_archive(b"closed", hostile("x")),
        alice.all("WatchDirectory", path=b"closed"),
    ):
        assert (await refusal(attempt)).reason == "FILE_PERMISSION_DENIED"
    assert names_in(home) == ["closed", "own", "secret"]
    answer = await alice.write(b"own/f", b"x")
    assert answer.stat.owner == "alice"
    assert (await files.acting_as("4001:team").write(b"own/g", b"x")).stat.group == "team"
    archive = await alice.all("DownloadArchive", base=b".", paths=[b"own", b"secret"])
    assert (archive[-1].entries, list(archive[-1].skipped)) == (3, [b"secret"])
    assert (await refusal(files.acting_as("nobody?").read(b"f"))).reason == "USER_NOT_FOUND"


# --- trees ------------------------------------------------------------------------------------------------------------


async def test_archive_goes_down_and_up(files: FileClient, home: Path):
    for path, content in (("t/a/b", b"deep"), ("t/large", random.Random(8).randbytes(3 << 20)), ("t/x.log", b"")):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(content)
    for compression in (api.ARCHIVE_COMPRESSION_NONE, api.ARCHIVE_COMPRESSION_GZIP):
        messages = await files.all("DownloadArchive", base=b"t", exclude=["*.log"], compression=compression)
        assert (messages[-1].end, messages[-1].entries, messages[-1].skipped_count) == (True, 3, 0)
        data = b"".join(message.data for message in messages)
        target = b"out/%d" % compression
        answer = await files.upload_archive(target, data, chunk=99_999, compression=compression)
        assert (answer.entries, answer.bytes) == (3, 4 + (3 << 20))
        out = home / target.decode()
        assert names_in(out) == ["a", "large"]
        assert (out / "large").read_bytes() == (home / "t/large").read_bytes()


def hostile(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("fine"), io.BytesIO())
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, target
        archive.addfile(entry, io.BytesIO())
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (hostile("../../p"), "ESCAPES_ROOT"),
        (hostile("/p"), "ESCAPES_ROOT"),
        (hostile("x", tarfile.SYMTYPE, "/etc/shadow"), "ESCAPES_ROOT"),
        (hostile("x", tarfile.LNKTYPE, "../../p"), "ESCAPES_ROOT"),
        (hostile("x", tarfile.CHRTYPE), "DEVICE_IN_ARCHIVE"),
        (hostile("x")[:1024], "ARCHIVE_INVALID"),
        (b"", "ARCHIVE_INVALID"),
    ],
)
async def test_hostile_archive_is_refused(files: FileClient, home: Path, data: bytes, reason: str):
    """Case 38."""
    error = await refusal(files.upload_archive(b"out/dir", data))
    assert error.reason == reason
    assert error.metadata["entries"] in ("0", "1", "2")
    assert names_in(home) == ["out"]


async def test_broken_archive_upload_leaves_no_half_of_a_file(files: FileClient, home: Path):
    entry = tarfile.TarInfo("half")
    entry.size = 10 << 20
    await files.call("Stat", path=b".")
    before = open_descriptors()

    async def unfinished() -> AsyncIterator[api.UploadArchiveRequest]:
        yield api.UploadArchiveRequest(open=api.UploadArchiveOpen(root=files.root, path=b"out"))
        yield api.UploadArchiveRequest(data=entry.tobuf() + bytes(2 << 20))
        await asyncio.Event().wait()

    running = files.stub.UploadArchive(unfinished())
    async with asyncio.timeout(20):
        while not (home / "out/half").exists():
            await asyncio.sleep(0.01)
        running.cancel()
        while (home / "out/half").exists() or open_descriptors() > before:
            await asyncio.sleep(0.01)


async def test_changes_are_watched_and_gone_on_with(files: FileClient, home: Path):
    (home / "sub").mkdir()
    watch = files.stream("WatchDirectory", path=b".", recursive=True, ignore=["*.tmp"])
    first = await anext(watch)
    (home / "sub/f").write_text("x")
    (home / "x.tmp").touch()
    seen = await anext(watch)
    assert [(change.kind, change.path) for change in seen.changes] == [(api.FILE_CHANGE_KIND_CREATED, b"sub/f")]
    assert (seen.watch_id, seen.cursor > first.cursor) == ("", True)
    await watch.aclose()
    (home / "sub/f").rename(home / "g")
    again = files.stream(
        "WatchDirectory", path=b".", recursive=True, ignore=["*.tmp"], watch_id=first.watch_id, cursor=seen.cursor
    )
    assert (await anext(again)).watch_id == first.watch_id
    (change,) = (await anext(again)).changes
    assert (change.kind, change.moved_from, change.path) == (api.FILE_CHANGE_KIND_MOVED, b"sub/f", b"g")
    await again.aclose()
    error = await refusal(files.all("WatchDirectory", path=b".", watch_id="unknown"))
    assert (type(error), error.reason) == (NotFound, "WATCH_NOT_FOUND")


# --- the daemon -------------------------------------------------------------------------------------------------------


async def test_event_loop_is_free_while_files_are_slow(files: FileClient, home: Path):
    """Many slow calls at once, and a short one is answered between them."""
    (home / "big").write_bytes(b"a" * (32 << 20))
    for number in range(1000):
        os.close(os.open(home / f"{number}", os.O_CREAT | os.O_WRONLY))
    longest = 0.0
    async with asyncio.TaskGroup() as group:
        slow: list[asyncio.Task[Any]]
        slow = [group.create_task(files.all("Search", path=b".", content="(a|b|ab)*c")) for _ in range(6)]
        slow += [group.create_task(files.read(b"big", chunk_bytes=65536, checksum=True)) for _ in range(4)]
        while not all(task.done() for task in slow):
            began = time.monotonic()
            await files.call("Stat", path=b"big")
            longest = max(longest, time.monotonic() - began)
            await asyncio.sleep(0.01)
    assert longest < 2.0


async def test_socket_and_stray_kinds_do_not_break_anything(files: FileClient, home: Path, monkeypatch):
    monkeypatch.chdir(home)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        os.mkfifo("fifo")
        (page,) = await files.all("ListDirectory", path=b".")
        assert [entry.type for entry in page.entries] == [file_pb2.FILE_TYPE_FIFO, file_pb2.FILE_TYPE_SOCKET]
        end = (await files.all("DownloadArchive", base=b"."))[-1]
        assert (end.entries, list(end.skipped)) == (1, [b"s"])


NO_IMPORTS = """
import asyncio, builtins, os, sys
from pathlib import Path
from arenero.execd.file_config import FileConfig
from tests.contract.execd.servicer import file_service

imported = []

class Refuse:
    def find_spec(self, name, path=None, target=None):
        imported.append(name)
        raise ImportError(f"{name} was imported after confinement")

async def main(home):
    config = FileConfig(os.geteuid(), os.getegid(), home=os.fsencode(home))
    async with file_service.served(home, config, Path("/etc")) as files:
        await files.call("Stat", path=b".")
        sys.meta_path.insert(0, Refuse())
        await files.write(b"d/f", b"x" * 100, make_parents=True, checksum=True)
        await files.read(b"d/f", checksum=True)
        await files.all("ListDirectory", path=b".", depth=3)
        await files.all("Search", path=b".", glob="*", content="x", exclude=["y"])
        data = b"".join([m.data for m in await files.all("DownloadArchive", base=b".", compression=2)])
        await files.upload_archive(b"out", data, compression=2)
        await files.call("Move", source=b"d", destination=b"e")
        await files.call("Chmod", path=b"e", mode=0o700, recursive=True)
        await files.call("Symlink", path=b"l", target=b"e")
        watch = files.stream("WatchDirectory", path=b".", recursive=True)
        await anext(watch)
        (home / "new").touch()
        await anext(watch)
        await watch.aclose()
        await files.call("Remove", path=b"e", recursive=True)
        for path in (b"no", b"../x", b""):
            try:
                await files.call("Stat", path=path)
            except Exception as error:
                print(type(error).__name__)
        sys.meta_path.pop(0)
    print(imported)

asyncio.run(main(Path(sys.argv[1])))
"""


def test_nothing_is_imported_once_the_daemon_serves(tmp_path: Path):
    """After confinement there are no modules to be found any more."""
    done = subprocess.run(
        [sys.executable, "-c", NO_IMPORTS, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert done.stdout.split("\n")[:4] == ["NotFound", "PermissionDenied", "InvalidArgument", "[]"], done.stderr


def resident_bytes(pid: int) -> int:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


SERVER = """
import asyncio, os, sys
from pathlib import Path
from arenero.api.execd.v1 import file_service_pb2_grpc
from arenero.execd.accounts import Accounts
from arenero.execd.file_config import FileConfig
from arenero.execd.servicer.files import FileServicer
from arenero.execd.servicer.payloads import parse_write
from arenero.rpc.server import RpcServer, RpcServerConfig

async def everybody(method, metadata):
    return None

async def main():
    server = RpcServer(RpcServerConfig(f"unix:{sys.argv[1]}"), authenticate=everybody)
    servicer = FileServicer(FileConfig(os.geteuid(), os.getegid()), Accounts())
    server.add(file_service_pb2_grpc.add_FileServiceServicer_to_server, servicer, parsers={"Write": parse_write})
    await server.start()
    await server.health.set_serving(True)
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_memory_is_flat_however_much_goes_through(tmp_path: Path):
    """400 MB up and down, and a slow reader: the daemon's peak stays within some messages."""
    from arenero.api.execd.v1 import file_service_pb2_grpc
    from arenero.rpc.client import open_channel

    socket_path = tmp_path / "s"
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(socket_path)], stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        async with open_channel(f"unix:{socket_path}") as channel:
            files = FileClient(file_service_pb2_grpc.FileServiceStub(channel), os.fsencode(tmp_path))
            await files.write(b"warm", bytes(1 << 20))
            before = resident_bytes(server.pid)
            block = bytes(1 << 20)
            chunks = (piece((at << 20, block)) for at in range(400))
            await files.send(message for message in (files.opening(b"f"), *chunks, finish()))
            received = 0
            slow = files.stream("Read", path=b"f")
            await anext(slow)
            async for message in files.stream("Read", path=b"f"):
                received += len(message.data)
            await slow.aclose()
            assert received == 400 << 20
            assert resident_bytes(server.pid) - before < 48 << 20
    finally:
        server.kill()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def test_threads_end_with_the_service():
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("files") and not thread.daemon]
