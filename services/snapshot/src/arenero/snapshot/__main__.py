"""`python -m arenero.snapshot`: run the service."""

import sys

from arenero.host.service import run_service
from arenero.snapshot import wiring
from arenero.snapshot.config import SnapshotConfig

if __name__ == "__main__":
    sys.exit(run_service("snapshot", SnapshotConfig, wiring.build))
