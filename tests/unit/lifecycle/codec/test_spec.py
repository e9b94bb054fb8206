"""Specs between the API and the model."""

import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import given

from arenero.api.lifecycle.v1 import sandbox_pb2 as pb
from arenero.lifecycle.codec.spec import decode_spec, encode_spec
from arenero.model.fields import FieldError
from arenero.model.spec import ImageSource, SandboxSpec, check_spec
from tests.unit.lifecycle.samples import patiently, specs


def decode(message: pb.SandboxSpec) -> tuple[SandboxSpec, list[str]]:
    faults: list[FieldError] = []
    return decode_spec(message, faults), [fault.field for fault in faults]


@patiently
@given(specs)
def test_a_spec_comes_back(spec: SandboxSpec) -> None:
    message = pb.SandboxSpec.FromString(encode_spec(spec).SerializeToString())
    assert decode(message) == (spec, [])


def test_an_empty_message_is_an_empty_spec() -> None:
    assert decode(pb.SandboxSpec()) == (SandboxSpec(), [])


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (pb.SandboxSpec(isolation_level=9), "spec.isolation_level"),  # type: ignore[arg-type]
        (pb.SandboxSpec(lifetime=pb.Lifetime(on_timeout=9)), "spec.lifetime.on_timeout"),  # type: ignore[arg-type]
        (pb.SandboxSpec(source=pb.Source(snapshot_id="snap")), "spec.source.snapshot_id"),
        (
            pb.SandboxSpec(source=pb.Source(image=pb.ImageSource(reference="x", password="p"))),
            "spec.source.image.password",
        ),
        (
            pb.SandboxSpec(source=pb.Source(image=pb.ImageSource(reference="x", username="u"))),
            "spec.source.image.username",
        ),
        (pb.SandboxSpec(vault_id="mine"), "spec.vault_id"),
        (pb.SandboxSpec(volumes=[pb.VolumeMount(name="data")]), "spec.volumes[0]"),
        (pb.SandboxSpec(idle=pb.IdlePolicy(on_idle=pb.IDLE_ACTION_DELETE)), "spec.idle.idle_timeout"),
        (pb.SandboxSpec(idle=pb.IdlePolicy(on_idle=9)), "spec.idle.on_idle"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_read_names_its_field(message: pb.SandboxSpec, field: str) -> None:
    assert field in decode(message)[1]


def test_a_password_goes_no_further() -> None:
    source = pb.Source(image=pb.ImageSource(reference="python:3.12", username="me", password="hunter2"))
    spec, _ = decode(pb.SandboxSpec(source=source))
    assert spec.source == ImageSource("python:3.12")
    assert "hunter2" not in repr(spec)


@pytest.mark.parametrize("seconds", [-1, 10**18])
def test_a_lifetime_out_of_range_reaches_the_rules(seconds: int) -> None:
    spec, faults = decode(pb.SandboxSpec(lifetime=pb.Lifetime(ttl=Duration(seconds=seconds))))
    assert not faults
    assert [fault.field for fault in check_spec(spec)] == ["spec.lifetime.ttl"]
