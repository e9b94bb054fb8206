"""`python -m arenero.vault`: run the service."""

import sys

from arenero.host.service import run_service
from arenero.vault import wiring
from arenero.vault.config import VaultConfig

if __name__ == "__main__":
    sys.exit(run_service("vault", VaultConfig, wiring.build))
