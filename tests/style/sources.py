"""The repository's own source modules, as the style tests see them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GENERATED = "_types"


@dataclass(frozen=True)
class Module:
    """One hand-written module of a distribution."""

    dist: Path
    """The folder with the pyproject.toml."""
    path: Path
    name: str
    """As it is imported: arenero.lifecycle.machine."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The name below `arenero`."""
        return tuple(self.name.split(".")[1:])

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(), str(self.path))

    @cached_property
    def imports(self) -> frozenset[str]:
        """Every module or name that is imported anywhere in it, in full: arenero.api.execd.v1.exec_pb2, asyncio."""
        return frozenset(imported(self.tree))


def distributions() -> list[Path]:
    """The folders of the workspace's members, without the generated one."""
    patterns = ("libs/*", "services/*", "guest/*", "sdk/*")
    return sorted(path.parent for pattern in patterns for path in ROOT.glob(f"{pattern}/pyproject.toml"))


def modules() -> list[Module]:
    """All hand-written modules, packages' `__init__` included (named as the package)."""
    return [module for dist in distributions() for module in modules_of(dist)]


def modules_of(dist: Path) -> list[Module]:
    """The hand-written modules of one distribution."""
    found = []
    for path in sorted((dist / "src").rglob("*.py")):
        parts = path.relative_to(dist / "src").with_suffix("").parts
        if GENERATED not in parts:
            found.append(Module(dist, path, ".".join(part for part in parts if part != "__init__")))
    return found


def imported(tree: ast.AST) -> Iterator[str]:
    """The names that a tree imports; `from a import b` gives a.b, since b may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
