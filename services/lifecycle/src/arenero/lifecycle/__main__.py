"""Lifecycle as a process: `python -m arenero.lifecycle [--config FILE] [--print-config]`."""

from __future__ import annotations

import sys

from arenero.host.service import run_service
from arenero.lifecycle.config import LifecycleConfig
from arenero.lifecycle.wiring import build

if __name__ == "__main__":
    sys.exit(run_service("lifecycle", LifecycleConfig, build))
