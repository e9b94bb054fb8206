"""Uploads that can be resumed: kept by the client's id from one call to the next, with a bound in number and time.

They are kept by open descriptors, never looked up by name again, so nothing of the sandbox can slip another file in.
They do not outlive execd; then the client starts over. Used on the event loop only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from arenero.errors import InvalidArgument, ResourceExhausted
from arenero.execd.file_config import FileConfig
from arenero.execd.identity import Identity
from arenero.execd.uploads import Upload

LONGEST_ID: Final = 64
_ID_CHARACTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


@dataclass(frozen=True, slots=True)
class UploadKey:
    """What an upload is found by. The same id for another file, or as another user, is another upload."""

    upload_id: str
    root: bytes
    path: bytes
    identity: Identity | None

    def check(self) -> None:
        """Refuse an id that isn't one.

        Raises:
            InvalidArgument: It is too long or has other characters than [A-Za-z0-9_-].
        """
        if not 0 < len(self.upload_id) <= LONGEST_ID or not _ID_CHARACTERS.issuperset(self.upload_id):
            raise InvalidArgument(
                f"an upload's id has 1 to {LONGEST_ID} of [A-Za-z0-9_-]", reason="INVALID_UPLOAD_ID", field="upload_id"
            )


@dataclass(slots=True)
class _Kept:
    upload: Upload
    expiry: asyncio.TimerHandle | None = None
    """None: a call uses it."""


class PendingUploads:
    """The resumable uploads of a sandbox."""

    def __init__(self, config: FileConfig, discard: Callable[[Upload], None]) -> None:
        """`discard` is told which uploads nobody came back for."""
        self._config = config
        self._discard = discard
        self._kept: dict[UploadKey, _Kept] = {}

    def find(self, key: UploadKey) -> Upload | None:
        """Return an upload, whether or not a call uses it."""
        kept = self._kept.get(key)
        return kept.upload if kept else None

    def make_room(self) -> None:
        """Give up the upload that rests longest when there are too many.

        Raises:
            ResourceExhausted: Calls use all of them, reason UPLOAD_LIMIT.
        """
        if len(self._kept) < self._config.most_uploads:
            return
        resting = next((key for key, kept in self._kept.items() if kept.expiry is not None), None)
        if resting is None:
            raise ResourceExhausted(
                f"{self._config.most_uploads} resumable uploads run already", reason="UPLOAD_LIMIT", retry_after_s=5.0
            )
        self._give_up(resting)

    def use(self, key: UploadKey, upload: Upload) -> None:
        """Keep an upload that a call uses now; it doesn't expire until it rests."""
        self._cancel(key)
        self._kept.pop(key, None)
        self._kept[key] = _Kept(upload)

    def rest(self, key: UploadKey) -> None:
        """The call that used an upload broke off: it may be resumed for a while."""
        kept = self._kept.get(key)
        if kept is not None and kept.expiry is None:
            loop = asyncio.get_running_loop()
            kept.expiry = loop.call_later(self._config.upload_idle_s, self._give_up, key)

    def forget(self, key: UploadKey) -> None:
        """The upload is done or failed for good."""
        self._cancel(key)
        self._kept.pop(key, None)

    def close(self) -> None:
        """Give all up."""
        for key in list(self._kept):
            self._give_up(key)

    def _give_up(self, key: UploadKey) -> None:
        self._cancel(key)
        self._discard(self._kept.pop(key).upload)

    def _cancel(self, key: UploadKey) -> None:
        kept = self._kept.get(key)
        if kept is not None and kept.expiry is not None:
            kept.expiry.cancel()
