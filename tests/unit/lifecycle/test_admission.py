"""Quotas and slots."""

import asyncio

import pytest

from arenero.errors import ResourceExhausted
from arenero.lifecycle.admission import Admission, Slots
from arenero.lifecycle.config import AdmissionConfig
from arenero.lifecycle.index import SandboxIndex
from arenero.lifecycle.keys import SandboxKey
from arenero.model.ids import TenantId, new_sandbox_id
from arenero.model.states import SandboxState as S
from tests.unit.lifecycle.samples import a_record

ACME = TenantId("acme")


def new_key(tenant: TenantId = ACME) -> SandboxKey:
    return SandboxKey(tenant, new_sandbox_id())


def test_what_lives_and_what_was_admitted_both_count() -> None:
    index = SandboxIndex()
    admission = Admission(AdmissionConfig(sandboxes_per_tenant=2), index)
    index.apply(a_record(state=S.STOPPING))
    with admission.admit(new_key()):
        with pytest.raises(ResourceExhausted) as refusal, admission.admit(new_key()):
            pass
        assert refusal.value.reason == "SANDBOX_QUOTA"
        assert refusal.value.retry_after_s == 1.0
        assert refusal.value.metadata == {"limit": "2", "used": "2"}
    with admission.admit(new_key()):
        pass


def test_ended_ones_and_other_tenants_do_not_count() -> None:
    index = SandboxIndex()
    admission = Admission(AdmissionConfig(sandboxes_per_tenant=1), index)
    index.apply(a_record(state=S.TERMINATED))
    with admission.admit(new_key()), admission.admit(new_key(TenantId("other"))):
        pass


def test_what_is_recorded_counts_once() -> None:
    """Between its append and the end of its admission a sandbox is in both counts."""
    index = SandboxIndex()
    admission = Admission(AdmissionConfig(sandboxes_per_tenant=2), index)
    record = a_record()
    with admission.admit(SandboxKey(ACME, record.id)):
        index.apply(record)
        with admission.admit(new_key()):
            pass


def test_repeats_of_one_request_count_once() -> None:
    admission = Admission(AdmissionConfig(sandboxes_per_tenant=1), SandboxIndex())
    key = new_key()
    with admission.admit(key), admission.admit(key):
        pass
    with admission.admit(new_key()):
        pass


def test_a_refused_one_leaves_no_trace() -> None:
    admission = Admission(AdmissionConfig(sandboxes_per_tenant=0), SandboxIndex())
    for _ in range(3):
        with pytest.raises(ResourceExhausted) as refusal, admission.admit(new_key()):
            pass
        assert refusal.value.metadata["used"] == "0"


def test_a_tenant_may_have_a_limit_of_its_own() -> None:
    config = AdmissionConfig(sandboxes_per_tenant=1, tenant_limits={"acme": 3})
    admission = Admission(config, SandboxIndex())
    assert (admission.limit_of(ACME), admission.limit_of(TenantId("other"))) == (3, 1)


async def test_the_queue_is_bounded() -> None:
    admission = Admission(AdmissionConfig(concurrent_creates=1, queued_creates=2), SandboxIndex())
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(hold(admission.slots, new_key(), asyncio.Event())) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(ResourceExhausted) as refusal, admission.admit(new_key()):
            pass
        assert refusal.value.reason == "TOO_MANY_CREATIONS"
        for task in tasks:
            task.cancel()
    with admission.admit(new_key()):
        pass


async def hold(slots: Slots, key: SandboxKey, release: asyncio.Event, order: list[SandboxKey] | None = None) -> None:
    async with slots.hold(key):
        if order is not None:
            order.append(key)
        await release.wait()


async def test_slots_go_to_the_first_that_came() -> None:
    slots, keys, release = Slots(2), [new_key() for _ in range(6)], asyncio.Event()
    order: list[SandboxKey] = []
    async with asyncio.TaskGroup() as group:
        for key in keys:
            group.create_task(hold(slots, key, release, order))
        await asyncio.sleep(0)
        assert order == keys[:2]
        assert [slots.position(key) for key in keys] == [0, 0, 1, 2, 3, 4]
        assert slots.waiting == 4
        release.set()
    assert order == keys
    assert slots.waiting == 0


@pytest.mark.parametrize("ticks", [0, 1, 2, 3])
async def test_a_slot_is_not_lost_when_a_waiter_gives_up(ticks: int) -> None:
    """Whether the turn had come, was just coming, or had not: the next waiter gets it."""
    slots, release = Slots(1), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(hold(slots, new_key(), release))
        await asyncio.sleep(0)
        impatient = group.create_task(hold(slots, new_key(), asyncio.Event()))
        await asyncio.sleep(0)
        release.set()
        for _ in range(ticks):
            await asyncio.sleep(0)
        impatient.cancel()
        done = asyncio.Event()
        done.set()
        await asyncio.wait_for(hold(slots, new_key(), done), 1)
    assert slots.waiting == 0
