"""Decides by name where a call goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import grpc

from arenero.gateway.catalog import PUBLIC, Backend, find_method
from arenero.gateway.proxy.destination import Destination
from arenero.gateway.proxy.relay import Books, Relay


class Door(grpc.GenericRpcHandler):
    """Handles the calls of all public services that the gateway does not answer itself.

    Args:
        destinations: Where the calls of each backend go.
        books: Where they are written down.
    """

    def __init__(self, destinations: Mapping[Backend, Destination], books: Books) -> None:
        self._destinations = destinations
        self._books = books

    @property
    def backends(self) -> list[Backend]:
        """Who is behind."""
        return list(self._destinations)

    @property
    def services(self) -> list[str]:
        """Full names of the services that are reached through here."""
        return [service.name for service in PUBLIC.values() if service.backend in self._destinations]

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Return the handler of a method, None for what is not passed on."""
        method = find_method(str(details.method))
        if method is None or method.service.backend not in self._destinations:
            return None
        return Relay(method, self._destinations[method.service.backend], self._books).handler()
