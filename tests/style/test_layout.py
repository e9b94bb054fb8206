"""The tree says where things are: a module's test mirrors its path, and names say what is inside."""

import ast
from pathlib import Path

import pytest

from tests.style.sources import ROOT, Module, modules

KINDS = ("unit", "contract", "integration", "e2e", "security")
"""Where a partner may live. Not unit, when only the real thing proves anything: a kernel, a broker, a process."""

WIRED = {"__init__", "__main__", "wiring"}
"""Composition: no decisions of their own, and every test above unit runs through them. (A suite is itself a test.)"""

ELSEWHERE: dict[str, str] = {
    "arenero.cli.platform.supervisor": "e2e/cli/platform/test_commands.py",
    "arenero.runtime.local.reaping": "contract/runtime/local/test_driver.py",
}
"""Modules whose test has another name, as a path below tests/: one file that covers several, or a suite over many."""

MISSING: frozenset[str] = frozenset()
"""Modules still without a test. This list only shrinks."""

VAGUE = {"base", "common", "data", "helper", "helpers", "info", "manager", "misc", "util", "utils"}


def has_behaviour(module: Module) -> bool:
    """Whether anything in it does something: a protocol, a table or a plain dataclass has nothing to test."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_declaration(node)
        for node in ast.walk(module.tree)
    )


def is_declaration(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in function.body
    )


def needs_partner(module: Module) -> bool:
    stem = module.path.stem
    return stem not in WIRED and not stem.endswith("suite") and has_behaviour(module)


def partners(module: Module) -> list[Path]:
    """Where its test may be: tests/<kind>/lifecycle/test_machine.py for arenero.lifecycle.machine."""
    *area, name = module.parts
    return [ROOT.joinpath("tests", kind, *area, f"test_{name.lstrip('_')}.py") for kind in KINDS]


def has_partner(module: Module) -> bool:
    return any(path.is_file() for path in partners(module))


TESTED = [module for module in modules() if needs_partner(module)]


@pytest.mark.parametrize("module", TESTED, ids=lambda module: module.name)
def test_module_has_its_partner(module: Module) -> None:
    if module.name in MISSING or module.name in ELSEWHERE:
        return
    expected = partners(module)[0].relative_to(ROOT)
    assert has_partner(module), f"{module.name} has no test: {expected}, or the same path under another kind of test"


def test_missing_list_shrinks() -> None:
    for name in MISSING:
        [module] = [module for module in TESTED if module.name == name]
        assert not has_partner(module), f"{name} has its test now: take it off MISSING"


def test_tests_that_are_elsewhere_exist() -> None:
    for name, test in ELSEWHERE.items():
        assert name in {module.name for module in TESTED}, f"{name} is gone or does nothing: take it off ELSEWHERE"
        assert (ROOT / "tests" / test).is_file()


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_name_says_what_is_inside(module: Module) -> None:
    assert not VAGUE & set(module.parts), "a module is named by its subject"


@pytest.mark.parametrize(
    "module", [m for m in modules() if m.path.name == "__init__.py"], ids=lambda module: module.name
)
def test_package_init_only_reexports(module: Module) -> None:
    for node in module.tree.body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_all = isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]
        assert is_docstring or is_all or is_import(node) or is_import_for_types(node)


def is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def is_import_for_types(node: ast.stmt) -> bool:
    """What a package loads only when it is used, it imports for the type checker."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and all(map(is_import, node.body))


def test_namespace_has_no_init() -> None:
    """One `arenero/__init__.py` anywhere would hide every other distribution."""
    assert not list(ROOT.glob("*/*/src/arenero/__init__.py"))
    assert not (ROOT / "proto/gen/arenero/__init__.py").exists()
