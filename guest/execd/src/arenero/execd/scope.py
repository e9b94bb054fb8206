"""What all calls on files share: which tree, with whose rights, and who owns what is new."""

from __future__ import annotations

from dataclasses import dataclass

from arenero.errors import InvalidArgument
from arenero.execd.accounts import Directory
from arenero.execd.file_config import FileConfig
from arenero.execd.identity import Identity
from arenero.execd.ownership import Owners, owners_of_new
from arenero.execd.paths import Tree

HIGHEST_MODE = 0o7777


@dataclass(frozen=True, slots=True)
class Scope:
    """The surroundings of one call. Its tree is opened by the thread that has taken on its identity."""

    config: FileConfig
    directory: Directory
    root: bytes = b""
    identity: Identity | None = None
    """None: execd's own rights."""

    @property
    def has_rights(self) -> bool:
        """Whether execd acts with its own rights, which reach every file of the sandbox."""
        return self.identity is None

    def open_tree(self) -> Tree:
        """Open the tree; to be closed."""
        return Tree.open(self.root, home=self.config.home)

    def owners_of_new(self, owner: str = "", group: str = "") -> Owners:
        """Return who owns a new file: the default user, or the user that acts.

        Raises:
            InvalidArgument: There is no such user or group.
        """
        default = (self.config.uid, self.config.gid) if self.has_rights else None
        return owners_of_new(owner, group, self.directory, default)


def checked_mode(mode: int, field: str = "mode") -> int:
    """Return permission bits.

    Raises:
        InvalidArgument: There are other bits among them.
    """
    if mode & ~HIGHEST_MODE:
        raise InvalidArgument(f"{mode:#o} are no permission bits", reason="INVALID_MODE", field=field)
    return mode
