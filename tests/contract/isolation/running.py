"""Runs a trial in a process of its own: what it does to itself is gone with it, and it has a single thread.

A trial is a function of a test module that takes and returns JSON values. It is called by `python -m
tests.contract.isolation.running MODULE FUNCTION ARGUMENTS`.
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def trial(function: Callable[..., Any], *arguments: Any, user: int | None = None) -> Any:
    """Return what the function returns in a fresh process; as another user if one is named."""
    command = [sys.executable, "-m", __name__, function.__module__, function.__name__, json.dumps(arguments)]
    identity: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False, **identity)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


if __name__ == "__main__":
    module, name, values = sys.argv[1:]
    print(json.dumps(getattr(importlib.import_module(module), name)(*json.loads(values))))
