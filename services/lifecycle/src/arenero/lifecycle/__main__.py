"""Lifecycle as a process: `python -m arenero.lifecycle [--config FILE] [--print-config] [--drain]`.

With `--drain` it ends every sandbox of this machine and then itself; no other lifecycle may run meanwhile. One that
runs does the same when it gets SIGUSR1 and then SIGTERM.
"""

from __future__ import annotations

import sys

from arenero.host.service import run_service
from arenero.lifecycle import wiring
from arenero.lifecycle.config import LifecycleConfig

DRAIN = "--drain"

if __name__ == "__main__":
    build = wiring.build_drain if DRAIN in sys.argv else wiring.build
    arguments = [word for word in sys.argv[1:] if word != DRAIN]
    sys.exit(run_service("lifecycle", LifecycleConfig, build, argv=arguments))
