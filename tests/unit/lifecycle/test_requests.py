"""Creations are checked and completed before anything is recorded."""

from dataclasses import replace

import pytest

from arenero.errors import ArenError, InvalidArgument, Unsupported
from arenero.lifecycle.config import ResourceDefaults
from arenero.lifecycle.drivers import Drivers, OpenDriver
from arenero.lifecycle.requests import CreateRequest, Defaults, check_create, complete
from arenero.model.fields import FieldError
from arenero.model.ids import new_snapshot_id, new_vault_id
from arenero.model.policy import NetworkAction, NetworkPolicy, NetworkRule
from arenero.model.spec import (
    IdleAction,
    IdlePolicy,
    ImageSource,
    Lifetime,
    Resources,
    SandboxSpec,
    SnapshotSource,
    TemplateSource,
    TimeoutAction,
)
from arenero.model.volumes import NamedVolume, VolumeMount
from arenero.runtime.capabilities import Fingerprint
from arenero.runtime.fake import CAPABILITIES, FakeDriver

DEFAULTS = Defaults("host", ResourceDefaults(), 60.0)
DRIVERS = Drivers(
    {
        "fake": OpenDriver(FakeDriver(), Fingerprint(usable=True)),
        "broken": OpenDriver(FakeDriver(), Fingerprint(usable=False, reason="no KVM", fix="enable it")),
    },
    "fake",
)


def refusal(spec: SandboxSpec) -> ArenError:
    with pytest.raises(ArenError) as raised:
        complete(spec, DRIVERS, DEFAULTS)
    return raised.value


def test_what_is_left_out_is_filled_in() -> None:
    full = complete(SandboxSpec(), DRIVERS, DEFAULTS)
    assert (full.runtime, full.source) == ("fake", TemplateSource("host"))
    assert None not in (full.resources.cpus, full.resources.memory_bytes, full.resources.pids)
    assert complete(full, DRIVERS, DEFAULTS) == full


def test_what_is_said_stays() -> None:
    mine = Resources(cpus=0.5, memory_bytes=2**30, pids=99, disk_bytes=2**31, open_files=100)
    assert complete(SandboxSpec(resources=mine), DRIVERS, DEFAULTS).resources == mine


def test_a_disk_of_which_nothing_was_said_fits_on_the_runtimes() -> None:
    small = FakeDriver(capabilities=replace(CAPABILITIES, most_disk_bytes=1 << 30))
    drivers = Drivers({"fake": OpenDriver(small, Fingerprint(usable=True))}, "fake")
    assert complete(SandboxSpec(), drivers, DEFAULTS).resources.disk_bytes == 1 << 30
    with pytest.raises(Unsupported) as raised:
        complete(SandboxSpec(resources=Resources(disk_bytes=1 << 31)), drivers, DEFAULTS)
    assert raised.value.field == "spec.resources.disk_bytes"


ALLOW = NetworkPolicy(rules=(NetworkRule(NetworkAction.ALLOW, "example.org"),))


@pytest.mark.parametrize(
    ("spec", "kind", "field"),
    [
        (SandboxSpec(runtime="nope"), InvalidArgument, "spec.runtime"),
        (SandboxSpec(runtime="broken"), Unsupported, "spec.runtime"),
        (SandboxSpec(source=ImageSource("python:3.12")), Unsupported, "spec.source.image"),
        (SandboxSpec(source=TemplateSource("other")), Unsupported, "spec.source.template"),
        (SandboxSpec(source=SnapshotSource(new_snapshot_id())), Unsupported, "spec.source.snapshot_id"),
        (SandboxSpec(oci_runtime="gvisor"), Unsupported, "spec.oci_runtime"),
        (SandboxSpec(network=ALLOW), Unsupported, "spec.network"),
        (SandboxSpec(network=NetworkPolicy(NetworkAction.ALLOW)), Unsupported, "spec.network"),
        (SandboxSpec(resources=Resources(gpus=1)), Unsupported, "spec.resources.gpus"),
        (SandboxSpec(volumes=(VolumeMount("d", "/d", NamedVolume("d")),)), Unsupported, "spec.volumes"),
        (SandboxSpec(vault_id=new_vault_id()), Unsupported, "spec.vault_id"),
        (SandboxSpec(lifetime=Lifetime(60, TimeoutAction.PAUSE)), Unsupported, "spec.lifetime.on_timeout"),
        (SandboxSpec(idle=IdlePolicy(60, IdleAction.DELETE)), Unsupported, "spec.idle.on_idle"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_field(spec: SandboxSpec, kind: type[ArenError], field: str) -> None:
    error = refusal(spec)
    assert (type(error), error.field) == (kind, field)
    assert error.message
    assert error.reason == error.reason.upper()


def test_an_unusable_runtime_says_why_and_what_to_do() -> None:
    error = refusal(SandboxSpec(runtime="broken"))
    assert "no KVM" in error.message
    assert error.fix == "enable it"


def test_an_unknown_runtime_says_which_there_are() -> None:
    assert "broken, fake" in refusal(SandboxSpec(runtime="nope")).message


def test_a_policy_that_lets_nothing_out_needs_no_network() -> None:
    for policy in (NetworkPolicy(), NetworkPolicy(rules=(NetworkRule(NetworkAction.DENY, "example.org"),))):
        complete(SandboxSpec(network=policy), DRIVERS, DEFAULTS)


def test_an_idle_policy_that_does_nothing_is_fine() -> None:
    complete(SandboxSpec(idle=IdlePolicy(60)), DRIVERS, DEFAULTS)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"request_id": "a b"}, "request_id"),
        ({"request_id": "x" * 129}, "request_id"),
        ({"start_timeout_s": 0.0}, "start_timeout"),
        ({"start_timeout_s": -1.0}, "start_timeout"),
        ({"start_timeout_s": 3601.0}, "start_timeout"),
        ({"start_timeout_s": float("nan")}, "start_timeout"),
        ({"spec": SandboxSpec(name="-x")}, "spec.name"),
    ],
)
def test_a_malformed_request_names_the_field(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        check_create(replace(CreateRequest(SandboxSpec()), **changes), [])  # type: ignore[arg-type]
    assert raised.value.field == field


def test_faults_of_reading_lead_and_all_are_named() -> None:
    wanted = CreateRequest(SandboxSpec(name="-x", user="Röt"), request_id="a b")
    with pytest.raises(InvalidArgument) as raised:
        check_create(wanted, [FieldError("spec.source", "can't be read")])
    assert raised.value.field == "spec.source"
    assert {"spec.name", "spec.user", "request_id"} <= set(raised.value.metadata)


def test_a_good_request_passes() -> None:
    check_create(CreateRequest(SandboxSpec(), "job-1.retry_2", 3600.0), [])
