"""Records between the log and the model."""

from dataclasses import replace

from hypothesis import given

from arenero.api.events.v1.sandbox_events_pb2 import SandboxInternal
from arenero.api.lifecycle.v1 import sandbox_pb2 as pb
from arenero.lifecycle.codec.record import STATES, decode_record, encode_internal, encode_sandbox
from arenero.model.record import Endpoint, Handle, SagaProgress, SandboxRecord
from arenero.model.states import SandboxState
from tests.unit.lifecycle.samples import a_record, patiently, records


@patiently
@given(records())
def test_a_record_comes_back(record: SandboxRecord) -> None:
    sandbox = pb.Sandbox.FromString(encode_sandbox(record).SerializeToString())
    internal = SandboxInternal.FromString(encode_internal(record).SerializeToString())
    undoing = record.progress is not None and record.progress.undoing
    expected = record
    if record.failure is None:
        assert internal.failure_kind == ""
    assert decode_record(sandbox, internal, revision=record.revision) == expected
    assert internal.undoing == undoing


def test_every_state_has_a_number_of_its_own() -> None:
    assert set(STATES) == set(SandboxState)
    assert len(set(STATES.values())) == len(STATES)


def test_the_public_part_tells_nothing_of_the_host() -> None:
    record = a_record(
        handle=Handle("local", 1, {"pid": 4711, "path": "/var/lib/secret-path"}),
        endpoint=Endpoint("unix:/run/hidden.sock"),
        owner="host-with-a-name",
        request_digest="abcdef",
        progress=SagaProgress("create"),
    )
    public = encode_sandbox(record).SerializeToString()
    for hidden in (b"4711", b"secret-path", b"hidden.sock", b"host-with-a-name", b"abcdef"):
        assert hidden not in public


def test_a_record_without_its_internal_part_is_still_read() -> None:
    record = a_record(handle=Handle("local", 1), owner="here")
    bare = decode_record(encode_sandbox(record), SandboxInternal(), revision=record.revision)
    assert bare == replace(record, handle=None, owner="")
