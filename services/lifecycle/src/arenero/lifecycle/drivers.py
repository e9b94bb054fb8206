"""The drivers of this lifecycle, by the runtime's name, and what each can do here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arenero.errors import InvalidArgument, Unsupported
from arenero.model.record import SandboxRecord
from arenero.runtime.capabilities import Fingerprint
from arenero.runtime.driver import Driver


@dataclass(frozen=True, slots=True)
class OpenDriver:
    """A driver and what it found out about this host."""

    driver: Driver
    fingerprint: Fingerprint


class Drivers:
    """The drivers that were opened at start.

    Args:
        opened: By the runtime's name; unusable ones too, so that their reason can be told.
        default: The runtime that is taken when a request names none.
    """

    def __init__(self, opened: Mapping[str, OpenDriver], default: str) -> None:
        self._opened = dict(opened)
        self.default = default

    def all(self) -> tuple[OpenDriver, ...]:
        """Return every driver, the unusable ones too."""
        return tuple(self._opened.values())

    def usable(self) -> tuple[Driver, ...]:
        """Return the drivers that work here."""
        return tuple(o.driver for o in self._opened.values() if o.fingerprint.usable)

    def choose(self, runtime: str, *, field: str = "spec.runtime") -> Driver:
        """Return the driver for a new sandbox.

        Raises:
            InvalidArgument: There is no such runtime.
            Unsupported: It can't be used on this host.
        """
        found = self._opened.get(runtime)
        if found is None:
            known = ", ".join(sorted(self._opened))
            raise InvalidArgument(f"there is no runtime {runtime[:64]!r} here; there are: {known}", field=field)
        if not found.fingerprint.usable:
            raise Unsupported(
                f"the runtime {runtime} can't be used here: {found.fingerprint.reason}",
                reason="RUNTIME_UNUSABLE",
                field=field,
                fix=found.fingerprint.fix,
            )
        return found.driver

    def of(self, record: SandboxRecord) -> Driver:
        """Return the driver that a sandbox was made by, usable or not.

        Raises:
            Unsupported: This lifecycle was started without it.
        """
        found = self._opened.get(record.spec.runtime)
        if found is None:
            raise Unsupported(f"this lifecycle has no driver for {record.spec.runtime}", reason="RUNTIME_MISSING")
        return found.driver
