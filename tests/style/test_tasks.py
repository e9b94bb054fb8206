"""Tasks start in one place. Ruff bans asyncio.create_task by name; a method of a loop object it can't see."""

import ast

import pytest

from tests.style.sources import Module, modules

OUTSIDE_HOST = [module for module in modules() if module.parts[0] != "host"]


@pytest.mark.parametrize("module", OUTSIDE_HOST, ids=lambda module: module.name)
def test_no_task_is_started_on_a_loop(module: Module) -> None:
    started = [
        f"{module.path.name}:{node.lineno}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"create_task", "ensure_future", "run_coroutine_threadsafe"}
        and "loop" in ast.unparse(node.func.value)
    ]
    assert not started, "use asyncio.TaskGroup or arenero.host.tasks"
