"""Writing files.

They are hidden until complete and then put in place in one step, or written in place where that is asked for or all
that the file system can do.

An upload goes through `begin`, any number of `write`, and `finish`, each in some thread; `discard` ends one that
failed. What was written is hashed by `hash`, which may run beside the next `write`: both take long. What a sandbox can
make go wrong between these is checked at the end: a reader sees the old file or the new one.
"""

from __future__ import annotations

import enum
import errno
import os
import threading
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arenero.errors import AlreadyExists, Conflict, InvalidArgument, ResourceExhausted
from arenero.execd import filecalls
from arenero.execd.checksums import Checksum
from arenero.execd.content import CALM, COPY_BYTES, check_content, check_regular, copy_content, data_extents, write_all
from arenero.execd.directories import find_or_make_parents
from arenero.execd.entries import Entry, describe
from arenero.execd.faults import blamed_on, shown
from arenero.execd.filecalls import Status
from arenero.execd.ownership import UNCHANGED, Owners, set_mode
from arenero.execd.paths import Place
from arenero.execd.scope import Scope
from arenero.execd.temporaries import Temporary

NEW_MODE: Final = 0o644
HIGHEST_OFFSET: Final = 2**63 - 1
_WITHOUT_SET_ID: Final = 0o1777
_OPEN_TRIES: Final = 8
_LONGEST_HASHED_GAP_BYTES: Final = 64 * 1024 * 1024
_REFUSES_NEW_FILES: Final = frozenset({errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
_REFUSES_RENAME: Final = frozenset(
    {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV, errno.EBUSY, errno.EINVAL, errno.ENOENT}
)
"""ENOENT: without /proc a nameless file can't be linked. EBUSY: another file is mounted on this one."""


class WriteMode(enum.Enum):
    """What to do when the file exists."""

    REPLACE = 1
    CREATE = 2
    APPEND = 3
    IN_PLACE = 4


@dataclass(frozen=True, slots=True)
class WriteSpec:
    """What to write."""

    path: bytes
    mode: int | None = None
    """None: 0644 for a new file, else the file's own."""
    owner: str = ""
    group: str = ""
    make_parents: bool = False
    write_mode: WriteMode = WriteMode.REPLACE
    expected_size_bytes: int = 0
    sync: bool = False
    has_checksum: bool = False
    """One will be compared at the end, so hash on the way."""


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written."""

    entry: Entry
    is_in_place: bool
    attributes_refused: bool


def begin(scope: Scope, spec: WriteSpec) -> Upload:
    """Find the file's place and open what is written to.

    Raises:
        AlreadyExists: The file exists and `spec` says to create it.
        FailedPrecondition: Something that is no file is in its place.
        ResourceExhausted: It doesn't fit on the disk, as far as its size was told.
    """
    owners = scope.owners_of_new(spec.owner, spec.group)
    with scope.open_tree() as tree:
        place = find_or_make_parents(tree, spec.path, owners, scope, make=spec.make_parents)
    try:
        with blamed_on(spec.path):
            return _begin_at(scope, spec, place, owners)
    except BaseException:
        place.close()
        raise


def _begin_at(scope: Scope, spec: WriteSpec, place: Place, owners: Owners) -> Upload:
    existing = _existing(place, spec)
    _check_space(place, spec)
    target = _Target(scope, spec, place, owners, existing)
    if spec.write_mode in (WriteMode.APPEND, WriteMode.IN_PLACE) or target.is_anothers:
        return Upload(target, target.open_in_place())
    try:
        temporary = Temporary.create(place.dir_fd, replaces=existing is not None)
    except OSError as error:
        if error.errno not in _REFUSES_NEW_FILES:
            raise
        return Upload(target, target.open_in_place())
    return Upload(target, temporary.fd, temporary)


@dataclass(frozen=True, slots=True)
class _Target:
    """The file that is to be written, as it was found."""

    scope: Scope
    spec: WriteSpec
    place: Place
    owners: Owners
    """Of a new file."""
    existing: Status | None

    @property
    def is_anothers(self) -> bool:
        """Whether a user writes to another user's file: what would replace it could not be given to its owner."""
        identity = self.scope.identity
        return self.existing is not None and identity is not None and self.existing.uid != identity.uid

    def open_in_place(self) -> int:
        """Open the file itself, made when missing, and empty when all of it is to be written."""
        flags = CALM | os.O_NOFOLLOW | (os.O_APPEND if self.spec.write_mode is WriteMode.APPEND else 0)
        fd = self._open(flags)
        try:
            check_content(fd, self.spec.path, for_writing=True)
            if self.spec.write_mode in (WriteMode.REPLACE, WriteMode.CREATE) and os.fstat(fd).st_size:
                os.ftruncate(fd, 0)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _open(self, flags: int) -> int:
        # O_CREAT alone is refused for others' files in directories like /tmp (fs.protected_regular).
        name, dir_fd = self.place.name, self.place.dir_fd
        for _ in range(_OPEN_TRIES):
            if self.spec.write_mode is not WriteMode.CREATE:
                try:
                    return _open_read_write(name, flags, dir_fd)
                except FileNotFoundError:
                    pass
            try:
                return os.open(name, flags | os.O_RDWR | os.O_CREAT | os.O_EXCL, NEW_MODE, dir_fd=dir_fd)
            except FileExistsError:
                if self.spec.write_mode is WriteMode.CREATE:
                    raise _exists(self.spec) from None
        raise Conflict("the file comes and goes", reason="CHANGED_MEANWHILE", field="open.path")

    def apply_attributes(self, fd: int, *, is_in_place: bool) -> bool:
        """Give the file its owner and mode; False where its file system has none."""
        owners, mode = self._wanted(is_in_place=is_in_place)
        has_rights = self.scope.has_rights
        # The mode comes last, since a change of owner takes set-id bits away.
        is_owned = owners.apply(fd, has_rights=has_rights)
        return (mode is None or set_mode(fd, mode, has_rights=has_rights)) and is_owned

    def _wanted(self, *, is_in_place: bool) -> tuple[Owners, int | None]:
        mode = self.spec.mode
        if self.existing is None:
            return self.owners, NEW_MODE if mode is None else mode
        if is_in_place:
            return self.owners if self.owners.is_asked_for else Owners(), mode
        return self._former_owners(), self.existing.mode & _WITHOUT_SET_ID if mode is None else mode

    def _former_owners(self) -> Owners:
        """Return the owners of what replaces a file: its own, but for those that are asked for."""
        assert self.existing is not None
        if self.owners.is_asked_for:
            uid = self.owners.uid if self.spec.owner else self.existing.uid
            return Owners(uid, self.owners.gid, is_asked_for=True)
        identity = self.scope.identity
        if identity is None:
            return Owners(self.existing.uid, self.existing.gid)
        # A user can give a file to groups of theirs only.
        own = self.existing.gid in (identity.gid, *identity.groups)
        return Owners(UNCHANGED, self.existing.gid if own else UNCHANGED)

    def describe(self, fd: int) -> Entry:
        """Describe the file that was written."""
        return describe(fd, b"", self.spec.path, self.scope.directory)


class Upload:
    """One file being written. Its methods may be called from any thread."""

    def __init__(self, target: _Target, fd: int, temporary: Temporary | None = None) -> None:
        self._target = target
        self._spec = target.spec
        self._fd = fd
        self._temporary = temporary
        hashes = self._spec.has_checksum or self._spec.write_mode is WriteMode.APPEND
        self._checksum = Checksum() if hashes else None
        self._unhashed: deque[tuple[int, list[bytes | memoryview]]] = deque()
        self._hash_lock = threading.Lock()
        self._lock = threading.Lock()
        self._claim = 0
        self._is_closed = False
        self.received_offset = 0
        """All chunks below it are there; of appended bytes, how many there are."""

    @property
    def is_in_place(self) -> bool:
        """Whether the file itself is written to, so that what was there is gone from the start."""
        return self._temporary is None

    def claim(self) -> int:
        """Take the upload over from whoever had it, and return the token that `write` and `finish` ask for."""
        self._claim += 1
        return self._claim

    def is_claimed_by(self, token: int) -> bool:
        """Whether nobody else took the upload over since."""
        return token == self._claim

    def write(self, token: int, chunks: Sequence[tuple[int, bytes | memoryview]]) -> None:
        """Store chunks at their offsets, or append them.

        Raises:
            Conflict: Another call took the upload over.
            InvalidArgument: A chunk lies beyond the longest file.
            ResourceExhausted: The disk is full.
        """
        with self._lock, blamed_on(self._spec.path):
            self._check(token)
            for offset, pieces in _runs(chunks):
                if self._spec.write_mode is WriteMode.APPEND:
                    self._append(pieces)
                else:
                    self._write_at(offset, pieces)

    def hash(self) -> None:
        """Go on with the checksum of what was written. Without it, memory fills up; `finish` does what is left."""
        with self._hash_lock:
            while self._unhashed:
                self._hash(*self._unhashed.popleft())

    def finish(self, token: int, size_bytes: int | None, sha256: bytes) -> Generator[Any, None, Written]:
        """Check the content, give it owner and mode, put it in place. Then, and only then, the file is written.

        Raises:
            InvalidArgument: Size or checksum don't fit what was received (SIZE_MISMATCH, CHECKSUM_MISMATCH).
            AlreadyExists: The file was made meanwhile and `spec` says to create it.
            Conflict: Another call took the upload over.
        """
        with self._lock, blamed_on(self._spec.path):
            self._check(token)
            self.hash()
            size = self._settle_size(size_bytes)
            if sha256:
                self._compare((yield from self._digest(size)), sha256)
            return (yield from self._publish(size))

    def discard(self) -> None:
        """Drop what was written, unless it was put in place, and close everything. Safe to repeat."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._unhashed.clear()
            if self._temporary is not None:
                self._temporary.close()
            else:
                os.close(self._fd)
            self._target.place.close()

    def _check(self, token: int) -> None:
        if self._is_closed or token != self._claim:
            raise Conflict("another call took this upload over", reason="UPLOAD_TAKEN_OVER", field="open.upload_id")

    def _append(self, pieces: list[bytes | memoryview]) -> None:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            if self._checksum is not None:
                self._checksum.update(piece)
            self.received_offset += len(piece)

    def _write_at(self, offset: int, pieces: list[bytes | memoryview]) -> None:
        end = offset + sum(map(len, pieces))
        if end > HIGHEST_OFFSET:
            raise InvalidArgument("the chunk lies beyond the longest file", reason="OUT_OF_RANGE", field="offset")
        write_all(self._fd, pieces, offset)
        if self._checksum is not None:
            self._unhashed.append((offset, pieces))
        self.received_offset = max(self.received_offset, end)

    def _hash(self, offset: int, pieces: list[bytes | memoryview]) -> None:
        """Go on with the checksum, or give it up where the content will have to be read anyway."""
        if self._checksum is None:
            return
        if not 0 <= offset - self._checksum.position <= _LONGEST_HASHED_GAP_BYTES:
            self._checksum = None
            return
        for _ in self._checksum.skip_to(offset):
            pass
        for piece in pieces:
            self._checksum.update(piece)

    def _settle_size(self, size_bytes: int | None) -> int:
        """Return the size that the file, or what was appended, has in the end, and make it so."""
        received = self.received_offset
        if size_bytes is not None and size_bytes > HIGHEST_OFFSET:
            raise InvalidArgument("the file is longer than any", reason="OUT_OF_RANGE", field="finish.size_bytes")
        if self._spec.write_mode is WriteMode.IN_PLACE:
            if size_bytes is not None:
                os.ftruncate(self._fd, size_bytes)
            return os.fstat(self._fd).st_size
        wanted = received if size_bytes is None else size_bytes
        if wanted < received or (wanted != received and self._spec.write_mode is WriteMode.APPEND):
            raise InvalidArgument(
                f"{received} bytes were received, not {wanted}", reason="SIZE_MISMATCH", field="finish.size_bytes"
            )
        if self._spec.write_mode is not WriteMode.APPEND and os.fstat(self._fd).st_size != wanted:
            os.ftruncate(self._fd, wanted)
        return wanted

    def _digest(self, size: int) -> Generator[None, None, bytes]:
        """Return the checksum of the first bytes of the file, reading them when it isn't known."""
        checksum = self._checksum
        if checksum is None or self._spec.write_mode is WriteMode.IN_PLACE:
            checksum = Checksum()
            for begin, end in data_extents(self._fd, 0, size):
                yield from checksum.skip_to(begin)
                at = begin
                while at < end and (piece := os.pread(self._fd, min(COPY_BYTES, end - at), at)):
                    checksum.update(piece)
                    at += len(piece)
                    yield
        yield from checksum.skip_to(size)
        return checksum.digest()

    def _compare(self, actual: bytes, expected: bytes) -> None:
        if actual != expected:
            raise InvalidArgument(
                "the content's SHA-256 is not the one announced",
                reason="CHECKSUM_MISMATCH",
                field="finish.sha256",
                metadata={"actual": actual.hex()},
            )

    def _publish(self, size: int) -> Generator[Any, None, Written]:
        target = self._target
        holds = target.apply_attributes(self._fd, is_in_place=self._temporary is None)
        if self._spec.sync:
            os.fsync(self._fd)
        if self._temporary is not None and not self._put(self._temporary):
            return (yield from self._copy_into_place(size))
        if self._spec.sync:
            self._sync_directory()
        return Written(target.describe(self._fd), self._temporary is None, not holds)

    def _put(self, temporary: Temporary) -> bool:
        """Put the file in place; False when the file system refuses that."""
        try:
            temporary.put(self._target.place.name, replace=self._spec.write_mode is not WriteMode.CREATE)
        except FileExistsError:
            raise _exists(self._spec) from None
        except OSError as error:
            if error.errno not in _REFUSES_RENAME:
                raise
            return False
        return True

    def _copy_into_place(self, size: int) -> Generator[Any, None, Written]:
        fd = self._target.open_in_place()
        try:
            yield from copy_content(self._fd, fd, size)
            holds = self._target.apply_attributes(fd, is_in_place=True)
            if self._spec.sync:
                os.fsync(fd)
            return Written(self._target.describe(fd), is_in_place=True, attributes_refused=not holds)
        finally:
            os.close(fd)

    def _sync_directory(self) -> None:
        dir_fd = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._target.place.dir_fd)
        try:
            os.fsync(dir_fd)
        except OSError as error:
            if error.errno != errno.EINVAL:  # Where directories can't be flushed, they need not be.
                raise
        finally:
            os.close(dir_fd)


def _existing(place: Place, spec: WriteSpec) -> Status | None:
    """Return the status of the file that is there; None when there is none."""
    try:
        status = filecalls.status(place.dir_fd, place.name)
    except FileNotFoundError:
        return None
    check_regular(status.mode, spec.path)
    if spec.write_mode is WriteMode.CREATE:
        raise _exists(spec)
    return status


def _exists(spec: WriteSpec) -> AlreadyExists:
    return AlreadyExists(f"{shown(spec.path)}: it exists", reason="FILE_EXISTS", field="open.path")


def _check_space(place: Place, spec: WriteSpec) -> None:
    if not spec.expected_size_bytes:
        return
    disk = os.statvfs(place.dir_fd)
    if spec.expected_size_bytes > disk.f_bavail * disk.f_frsize:
        raise ResourceExhausted(
            f"{spec.expected_size_bytes} bytes don't fit on the disk",
            reason="NO_SPACE",
            field="open.expected_size_bytes",
            metadata={"available_bytes": str(disk.f_bavail * disk.f_frsize)},
        )


def _open_read_write(name: bytes, flags: int, dir_fd: int) -> int:
    """Open for both, as reading allows to check what was written; or to write alone where only that is allowed."""
    try:
        return os.open(name, flags | os.O_RDWR, dir_fd=dir_fd)
    except PermissionError:
        return os.open(name, flags | os.O_WRONLY, dir_fd=dir_fd)


def _runs(chunks: Sequence[tuple[int, bytes | memoryview]]) -> list[tuple[int, list[bytes | memoryview]]]:
    """Join chunks that follow each other, so that each run takes one call."""
    runs: list[tuple[int, list[bytes | memoryview]]] = []
    end = -1
    for offset, data in chunks:
        if not data:
            continue
        if offset == end:
            runs[-1][1].append(data)
        else:
            runs.append((offset, [data]))
        end = offset + len(data)
    return runs
