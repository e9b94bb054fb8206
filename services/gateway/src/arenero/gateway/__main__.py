"""`python -m arenero.gateway`: run the service."""

import sys

from arenero.gateway import wiring
from arenero.gateway.config import GatewayConfig
from arenero.host.service import run_service

if __name__ == "__main__":
    sys.exit(run_service("gateway", GatewayConfig, wiring.build))
