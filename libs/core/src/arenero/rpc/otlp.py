"""Ships serialized spans to an OTLP/gRPC receiver. Blocking: for the span thread of telemetry, not for the loop."""

from __future__ import annotations

from typing import Final

import grpc

from arenero.rpc.client import OPTIONS
from arenero.rpc.server import UNIX

_EXPORT: Final = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_TIMEOUT_S: Final = 5.0


class OtlpSender:
    """A callable that delivers one request, or raises `grpc.RpcError`. The channel is made with the first one."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._channel: grpc.Channel | None = None

    def __call__(self, request: bytes) -> None:
        """Send one serialized ExportTraceServiceRequest."""
        if self._channel is None:
            self._channel = self._open()
        self._channel.unary_unary(_EXPORT, _as_is, _as_is)(request, timeout=_TIMEOUT_S)

    def close(self) -> None:
        """Close the channel."""
        if self._channel is not None:
            self._channel.close()

    def _open(self) -> grpc.Channel:
        if self._address.startswith(UNIX):
            credentials = grpc.local_channel_credentials(grpc.LocalConnectionType.UDS)
            return grpc.secure_channel(self._address, credentials, options=OPTIONS)
        return grpc.insecure_channel(self._address, options=OPTIONS)


def _as_is(message: bytes) -> bytes:
    return message
