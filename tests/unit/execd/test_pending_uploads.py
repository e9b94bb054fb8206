"""Uploads between the call that broke off and the one that goes on."""

import asyncio
from pathlib import Path

import pytest

from arenero.errors import InvalidArgument, ResourceExhausted
from arenero.execd.file_config import FileConfig
from arenero.execd.pending_uploads import PendingUploads, UploadKey
from arenero.execd.uploads import Upload, WriteSpec, begin
from tests.unit.execd.filekit import ALICE, scope_of

CONFIG = FileConfig(most_uploads=2, upload_idle_s=60.0)


@pytest.fixture
def discarded() -> list[Upload]:
    return []


@pytest.fixture
def pending(discarded: list[Upload]) -> PendingUploads:
    def discard(upload: Upload) -> None:
        discarded.append(upload)
        upload.discard()

    return PendingUploads(CONFIG, discard)


def key(upload_id: str, path: bytes = b"f") -> UploadKey:
    return UploadKey(upload_id, b"/root", path, None)


def upload(directory: Path) -> Upload:
    return begin(scope_of(directory), WriteSpec(b"f"))


async def test_upload_is_found_by_all_of_its_key(pending: PendingUploads, tmp_path: Path):
    kept = upload(tmp_path)
    pending.use(key("a"), kept)
    assert pending.find(key("a")) is kept
    for other in (key("b"), key("a", b"g"), UploadKey("a", b"/", b"f", None), UploadKey("a", b"/root", b"f", ALICE)):
        assert pending.find(other) is None
    pending.close()


@pytest.mark.looptime
async def test_upload_expires_only_while_it_rests(pending: PendingUploads, discarded: list[Upload], tmp_path: Path):
    kept = upload(tmp_path)
    pending.use(key("a"), kept)
    await asyncio.sleep(100)
    pending.rest(key("a"))
    await asyncio.sleep(59)
    pending.use(key("a"), kept)
    await asyncio.sleep(100)
    assert (pending.find(key("a")), discarded) == (kept, [])
    pending.rest(key("a"))
    pending.rest(key("a"))
    await asyncio.sleep(61)
    assert (pending.find(key("a")), discarded) == (None, [kept])


async def test_room_is_made_by_the_one_that_rests_longest(
    pending: PendingUploads, discarded: list[Upload], tmp_path: Path
):
    first, second = upload(tmp_path), upload(tmp_path)
    pending.use(key("a"), first)
    pending.use(key("b"), second)
    with pytest.raises(ResourceExhausted) as error:
        pending.make_room()
    assert error.value.reason == "UPLOAD_LIMIT"
    pending.rest(key("b"))
    pending.make_room()
    assert discarded == [second]
    pending.close()
    assert discarded == [second, first]


async def test_forgotten_upload_is_left_to_who_has_it(pending: PendingUploads, discarded: list[Upload], tmp_path: Path):
    kept = upload(tmp_path)
    pending.use(key("a"), kept)
    pending.rest(key("a"))
    pending.forget(key("a"))
    pending.forget(key("a"))
    assert (pending.find(key("a")), discarded) == (None, [])
    kept.discard()


@pytest.mark.parametrize("upload_id", ["", "a" * 65, "a/b", "ä", "a b", "a\n"])
def test_what_is_no_id(upload_id: str):
    with pytest.raises(InvalidArgument):
        key(upload_id).check()


def test_what_is_an_id():
    key("A-z_0" * 12).check()
