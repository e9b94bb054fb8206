"""`python -m arenero.warmpool`: run the service."""

import sys

from arenero.host.service import run_service
from arenero.warmpool import wiring
from arenero.warmpool.config import WarmpoolConfig

if __name__ == "__main__":
    sys.exit(run_service("warmpool", WarmpoolConfig, wiring.build))
