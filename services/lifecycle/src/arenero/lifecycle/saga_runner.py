"""Walks through the steps of a saga, records each, and turns round when one fails. See `sagas` for the theory.

The runner keeps nothing: where it is stands in the record. It ends by returning the record after the saga, or raises:

- `Superseded`: the record is no longer in the saga's state, so somebody decided otherwise. Look at it again.
- an error of a class that may be tried again (`Unavailable`): nothing is wrong with the sandbox. Come back later.
- what else an undo, or a step of a saga without an undo, raised.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime

from opentelemetry import trace
from opentelemetry.trace import Span

from arenero.errors import ArenError, DeadlineExceeded, Internal, Unavailable
from arenero.lifecycle.admission import Slots
from arenero.lifecycle.facts import Progressed
from arenero.lifecycle.keys import SandboxKey, key_of
from arenero.lifecycle.records import Change, Records
from arenero.lifecycle.sagas import CREATE, Done, Saga, Step, Tools
from arenero.model.record import Failure, SagaProgress, SandboxRecord
from arenero.runtime.driver import StepSpan

_log = logging.getLogger(__name__)
_tracer = trace.get_tracer("arenero.lifecycle")


class Superseded(Exception):
    """The saga is no longer what is to be done."""


class _StepFailed(Exception):
    """A step can't be done, so the saga turns round."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class SagaRunner:
    """Runs sagas.

    Args:
        records: Where progress is recorded.
        tools: What steps work with.
        slots: Bounds the creations at once.
    """

    def __init__(self, records: Records, tools: Tools, slots: Slots) -> None:
        self._records = records
        self._tools = tools
        self._slots = slots

    async def run(self, saga: Saga, record: SandboxRecord) -> SandboxRecord:
        """Go on with a saga from where the record says, to its end. Errors: see the module."""
        key = key_of(record)
        about = {"arenero.sandbox_id": key.id, "arenero.tenant": key.tenant}
        with _tracer.start_as_current_span(f"saga.{saga.name}", attributes=about):
            if record.progress is None or not record.progress.undoing:
                try:
                    return await self._advance_in_time(saga, record)
                except _StepFailed as failed:
                    record = await self._turn_round(saga, key, failed.failure)
            return await self._unwind(saga, record)

    async def _advance_in_time(self, saga: Saga, record: SandboxRecord) -> SandboxRecord:
        async with _deadline(saga, record, self._tools.clock.now()):
            if saga is not CREATE:
                return await self._advance(saga, record)
            async with self._slots.hold(key_of(record)):
                return await self._advance(saga, record)

    async def _advance(self, saga: Saga, record: SandboxRecord) -> SandboxRecord:
        """Do the steps that are not done yet."""
        for step in saga.steps:
            if record.progress is None or step.name not in record.progress.done:
                began_s = time.perf_counter()
                done = await self._do(saga, step, record)
                record = await self._note(saga, step, record, done, time.perf_counter() - began_s)
        return record

    async def _do(self, saga: Saga, step: Step, record: SandboxRecord) -> Done:
        """Do one step; when it fails for good, and the saga can turn round, say so by `_StepFailed`."""
        saga_span = trace.get_current_span()
        with _tracer.start_as_current_span(f"saga.{saga.name}.{step.name}"):
            try:
                done = await step.do(self._tools, record)
            except Unavailable:
                raise
            except ArenError as error:
                if saga.fail is None:
                    raise
                raise _StepFailed(_failure_of(error)) from error
            except Exception as error:
                if saga.fail is None:
                    raise
                _log.exception("lifecycle.saga.defect", extra={"sandbox_id": record.id, "step": step.name})
                raise _StepFailed(_failure_of(Internal("an internal error"))) from error
            _emit(done.spans, trace.get_current_span())
        _emit(done.guest_spans, saga_span)
        return done

    async def _note(self, saga: Saga, step: Step, record: SandboxRecord, done: Done, took_s: float) -> SandboxRecord:
        """Record that a step was done; with the last one, that the saga is at its end."""

        def decide(newest: SandboxRecord, now: datetime) -> Change:
            _check_under_way(saga, newest)
            if step is saga.steps[-1]:
                end = saga.finish(replace(newest, **done.fields), now)
                return Change(end.fact, {**done.fields, **end.fields})
            progress = _after(saga, step, newest)
            return Change(Progressed(saga.name, step.name, took_s), {**done.fields, "progress": progress})

        return await self._records.change(key_of(record), decide)

    async def _turn_round(self, saga: Saga, key: SandboxKey, failure: Failure) -> SandboxRecord:
        """Record why the saga failed and that it is being undone from now on."""

        def decide(newest: SandboxRecord, now: datetime) -> Change:
            _check_under_way(saga, newest)
            progress = newest.progress or SagaProgress(saga.name)
            step = progress.step or saga.steps[0].name
            turned = replace(progress, undoing=True, step=step, done=(*progress.done, step))
            return Change(Progressed(saga.name, step, undone=True), {"failure": failure, "progress": turned})

        _log.info("lifecycle.saga.failed", extra={"sandbox_id": key.id, "saga": saga.name, "reason": failure.reason})
        return await self._records.change(key, decide)

    async def _unwind(self, saga: Saga, record: SandboxRecord) -> SandboxRecord:
        """Undo what may have been done, last first, then record that the saga failed."""
        done = record.progress.done if record.progress else ()
        for step in reversed(saga.steps):
            if step.undo is not None and step.name in done:
                with _tracer.start_as_current_span(f"saga.{saga.name}.undo.{step.name}"):
                    await step.undo(self._tools, record)

        def decide(newest: SandboxRecord, now: datetime) -> Change:
            _check_under_way(saga, newest)
            assert saga.fail is not None, "only a saga with an undo turns round"
            return saga.fail(newest, now)

        return await self._records.change(key_of(record), decide)


def _check_under_way(saga: Saga, record: SandboxRecord) -> None:
    if record.state is not saga.state:
        raise Superseded(f"{saga.name} of {record.id}: it is {record.state.value}")


def _after(saga: Saga, step: Step, record: SandboxRecord) -> SagaProgress:
    """Return the progress after a step that is not the last."""
    progress = record.progress or SagaProgress(saga.name)
    done = progress.done if step.name in progress.done else (*progress.done, step.name)
    following = saga.steps[saga.steps.index(step) + 1]
    return replace(progress, done=done, step=following.name, queue_position=0)


def _failure_of(error: ArenError) -> Failure:
    return Failure(error.reason, error.message, type(error).__name__, error.field, error.fix)


@asynccontextmanager
async def _deadline(saga: Saga, record: SandboxRecord, now: datetime) -> AsyncIterator[None]:
    """Bound a timed saga by the record's patience, counted from the request."""
    if not saga.timed or record.start_timeout_s is None:
        yield
        return
    left_s = record.start_timeout_s - (now - record.created_at).total_seconds()
    try:
        async with asyncio.timeout(max(left_s, 0.0)) as scope:
            yield
    except TimeoutError:
        if not scope.expired():
            raise
        message = f"it was not running within {record.start_timeout_s:g} s"
        raise _StepFailed(_failure_of(DeadlineExceeded(message, reason="START_TIMEOUT"))) from None


def _emit(spans: Iterable[StepSpan], parent: Span) -> None:
    """Add timed parts to a trace, below a span."""
    context = trace.set_span_in_context(parent)
    for span in spans:
        child = _tracer.start_span(span.name, context=context, start_time=span.start_unix_ns)
        child.end(span.end_unix_ns)
