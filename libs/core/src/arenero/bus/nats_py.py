"""What the bus uses of nats-py, imported without aiohttp.

nats-py imports aiohttp where it is installed, for connections by WebSocket, which the bus never makes. That is more
than half of the time and memory that importing the bus costs a service, so it is hidden for the moment of the import.
"""

from __future__ import annotations

import sys
from typing import Final

_WEBSOCKETS: Final = "aiohttp"
_hides = _WEBSOCKETS not in sys.modules
if _hides:
    sys.modules[_WEBSOCKETS] = None  # type: ignore[assignment]  # how Python marks what can't be imported
try:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription
    from nats.errors import Error as NatsError
    from nats.errors import MaxPayloadError
finally:
    if _hides:
        del sys.modules[_WEBSOCKETS]

__all__ = ["Client", "MaxPayloadError", "Msg", "NatsError", "Subscription"]
