"""Who may create now: a quota of sandboxes per tenant, and a bounded number of creations at once.

The quota counts every live sandbox, pending and stopping ones too, since they hold or will hold something of the host;
a paused one counts, so a resume needs no admission of its own. A request is counted from the moment it is admitted: the
check and the count happen without a pause in between, so parallel requests can't slip through together.

Creations that are admitted and recorded wait in order for a slot. The queue is bounded at admission.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from arenero.errors import ResourceExhausted
from arenero.lifecycle.config import AdmissionConfig
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import SandboxKey
from arenero.model.ids import TenantId


class Slots:
    """A bounded number of creations at once, first come, first served."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._queue: deque[tuple[SandboxKey, asyncio.Future[None]]] = deque()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._queue)

    @asynccontextmanager
    async def hold(self, key: SandboxKey) -> AsyncIterator[None]:
        """Wait for a slot and hold it."""
        await self._take(key)
        try:
            yield
        finally:
            self._give_back()

    def position(self, key: SandboxKey) -> int:
        """Return a creation's place in the queue, from 1; 0 when it doesn't wait."""
        return next((place for place, (waiting, _) in enumerate(self._queue, 1) if waiting == key), 0)

    async def _take(self, key: SandboxKey) -> None:
        if self._free and not self._queue:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((key, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back()  # the turn came in the same instant: on to the next
            elif (key, turn) in self._queue:
                self._queue.remove((key, turn))
            raise

    def _give_back(self) -> None:
        """Pass the slot on to the first that still waits, else free it."""
        while self._queue:
            _, turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class Admission:
    """Admits creations.

    Args:
        config: The limits.
        index: Counts what there is.
    """

    def __init__(self, config: AdmissionConfig, index: SandboxIndex) -> None:
        self._config = config
        self._index = index
        self._reserved: Counter[SandboxKey] = Counter()
        self.slots = Slots(config.concurrent_creates)

    @contextmanager
    def admit(self, key: SandboxKey) -> Iterator[None]:
        """Count a sandbox that is about to be recorded. Repeats of one request count once.

        Raises:
            ResourceExhausted: The tenant's quota is used up, or too many creations wait already.
        """
        if not self._reserved[key]:
            self._check_queue()
            self._check_quota(key.tenant)
        self._reserved[key] += 1
        try:
            yield
        finally:
            self._reserved[key] -= 1
            if not self._reserved[key]:
                del self._reserved[key]

    def limit_of(self, tenant: TenantId) -> int:
        """Return how many live sandboxes a tenant may have."""
        return self._config.tenant_limits.get(tenant, self._config.sandboxes_per_tenant)

    def _check_queue(self) -> None:
        pending = len(self._reserved) + self.slots.waiting
        if pending >= self._config.queued_creates:
            raise ResourceExhausted(
                f"{pending} creations wait already; try again later",
                reason="TOO_MANY_CREATIONS",
                retry_after_s=self._config.retry_after_s,
                metadata={"waiting": str(pending)},
            )

    def _check_quota(self, tenant: TenantId) -> None:
        limit = self.limit_of(tenant)
        used = self._index.live_count(tenant) + self._count_reserved(tenant)
        if used >= limit:
            raise ResourceExhausted(
                f"the tenant {tenant} has {used} of {limit} sandboxes, pending ones included",
                reason="SANDBOX_QUOTA",
                fix="delete sandboxes that are no longer needed, or have the quota raised",
                retry_after_s=self._config.retry_after_s,
                metadata={"limit": str(limit), "used": str(used)},
            )

    def _count_reserved(self, tenant: TenantId) -> int:
        """Count what is admitted and not yet in the index."""
        return sum(1 for key in self._reserved if key.tenant == tenant and self._index.find(key) is None)
