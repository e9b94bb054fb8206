"""What a caller wants, as messages."""

from datetime import timedelta
from typing import Any

import pytest

from arenero.sdk._specification import check_texts, duration_of, resources_of, source_of
from arenero.sdk.errors import InvalidArgument
from arenero.sdk.types import ImageSource, NetworkAction, NetworkPolicy, NetworkRule, Resources, SandboxSpec, Source

WHOLE = ["memory_bytes", "pids", "disk_bytes", "open_files"]


def resources(**limits: Any) -> Resources:
    return resources_of(**{"cpus": None, **limits})


@pytest.mark.parametrize("name", ["cpus", *WHOLE])
def test_limit_of_zero_is_refused(name: str) -> None:
    """On the wire it would mean the platform's default, which is far from what was written."""
    with pytest.raises(InvalidArgument, match="no limit") as refused:
        resources(**{name: 0})
    assert refused.value.field == f"spec.resources.{name}"


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("limit", [-1, 2**63, 10**400, 1.5, float("nan")])
def test_limit_that_the_wire_does_not_hold_is_refused(name: str, limit: float) -> None:
    with pytest.raises(InvalidArgument, match="whole number") as refused:
        resources(**{name: limit})
    assert refused.value.field == f"spec.resources.{name}"


@pytest.mark.parametrize("cpus", [-1, float("inf"), float("nan"), 10**400])
def test_cores_are_a_number_above_zero(cpus: float) -> None:
    with pytest.raises(InvalidArgument, match="number of cores") as refused:
        resources(cpus=cpus)
    assert refused.value.field == "spec.resources.cpus"


def test_limits_are_what_was_written_and_the_default_otherwise() -> None:
    assert resources(cpus=0.5, memory_bytes=2**63 - 1, pids=None) == Resources(cpus=0.5, memory_bytes=2**63 - 1)
    assert resources(memory_bytes=None) == Resources()


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -float("inf"), 1e300, 10**400])
def test_length_of_time_that_the_wire_does_not_hold_is_refused(seconds: float) -> None:
    with pytest.raises(InvalidArgument, match="number of seconds") as refused:
        duration_of(seconds, "spec.lifetime.ttl")
    assert refused.value.field == "spec.lifetime.ttl"


@pytest.mark.parametrize("seconds", [-1, 0, 0.25, 315_576_000_000])
def test_length_of_time_is_judged_by_the_platform_otherwise(seconds: float) -> None:
    assert duration_of(seconds, "ttl") == timedelta(seconds=seconds)


def test_source_is_the_one_that_is_named() -> None:
    assert source_of(template="", image="") is None
    assert source_of(template="", image="x") == Source(image=ImageSource(reference="x"))
    with pytest.raises(InvalidArgument, match="template, image"):
        source_of(template="a", image="x")


def test_text_of_any_language_is_text() -> None:
    rule = NetworkRule(action=NetworkAction.ALLOW, target="bücher.example")
    check_texts(SandboxSpec(name="名前 🏖", env={"A": "ñ"}, entrypoint=["é"], network=NetworkPolicy(rules=[rule])))


HALF = {
    "name": SandboxSpec(name="\udcff"),
    "env": SandboxSpec(env={"\udcff": ""}),
    "entrypoint": SandboxSpec(entrypoint=["", "\udcff"]),
    "source.image.reference": SandboxSpec(source=Source(image=ImageSource(reference="\ud83c"))),
    "network.rules.target": SandboxSpec(network=NetworkPolicy(rules=[NetworkRule(target="\udcff")])),
}


@pytest.mark.parametrize(("field", "message"), HALF.items(), ids=HALF)
def test_half_a_character_is_refused_wherever_it_is(field: str, message: SandboxSpec) -> None:
    with pytest.raises(InvalidArgument, match="half a character") as refused:
        check_texts(message)
    assert refused.value.field == field
    str(refused.value).encode()
