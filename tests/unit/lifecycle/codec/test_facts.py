"""Facts between the log and the model."""

from hypothesis import given

from arenero.api.events.v1.sandbox_events_pb2 import SandboxEvent, SandboxStarted
from arenero.lifecycle.codec.facts import decode_fact, encode_fact
from arenero.lifecycle.facts import FACTS, Fact
from tests.unit.lifecycle.samples import all_facts


@given(all_facts)
def test_a_fact_comes_back(fact: Fact) -> None:
    event = SandboxEvent()
    getattr(event, fact.word).CopyFrom(encode_fact(fact))
    assert event.WhichOneof("fact") == fact.word
    assert decode_fact(SandboxEvent.FromString(event.SerializeToString())) == fact


def test_the_message_has_a_field_for_every_fact_and_no_other() -> None:
    fields = {field.name for field in SandboxEvent.DESCRIPTOR.oneofs_by_name["fact"].fields}
    assert fields == {fact.word for fact in FACTS}


def test_a_fact_of_a_later_version_reads_as_none() -> None:
    unknown = SandboxEvent(started=SandboxStarted()).SerializeToString().replace(b"\x2a", b"\xfa\x07", 1)
    event = SandboxEvent.FromString(unknown)
    assert event.WhichOneof("fact") is None
    assert decode_fact(event) is None
