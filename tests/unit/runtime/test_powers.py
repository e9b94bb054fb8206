"""Whether a driver's powers suffice for a spec."""

from dataclasses import replace

import pytest

from arenero.errors import Unsupported
from arenero.model.ids import new_snapshot_id
from arenero.model.policy import NetworkAction, NetworkPolicy, NetworkRule
from arenero.model.spec import (
    ImageSource,
    OciLayoutSource,
    Resources,
    RootfsSource,
    SandboxSpec,
    SnapshotSource,
    Source,
    TemplateSource,
)
from arenero.model.volumes import NamedVolume, VolumeMount
from arenero.runtime.capabilities import Capabilities
from arenero.runtime.powers import check_powers, needs_network, source_kind

NOTHING = Capabilities(sources=frozenset({"template"}))
ALL = Capabilities(
    sources=frozenset({"template", "image", "rootfs_directory", "oci_layout", "snapshot"}),
    network_policy=True,
    volumes=True,
    gpus=True,
    oci_runtimes=frozenset({"gvisor"}),
)
ALLOW = NetworkRule(NetworkAction.ALLOW, "example.org")
DENY = NetworkRule(NetworkAction.DENY, "example.org")

DEMANDS = [
    (SandboxSpec(source=ImageSource("x")), "spec.source.image", "SOURCE_UNSUPPORTED"),
    (SandboxSpec(source=RootfsSource("/x")), "spec.source.rootfs_directory", "SOURCE_UNSUPPORTED"),
    (SandboxSpec(source=OciLayoutSource("/x")), "spec.source.oci_layout", "SOURCE_UNSUPPORTED"),
    (SandboxSpec(source=SnapshotSource(new_snapshot_id())), "spec.source.snapshot", "SOURCE_UNSUPPORTED"),
    (SandboxSpec(oci_runtime="gvisor"), "spec.oci_runtime", "OCI_RUNTIME_UNSUPPORTED"),
    (SandboxSpec(network=NetworkPolicy(rules=(ALLOW,))), "spec.network", "NETWORK_UNSUPPORTED"),
    (SandboxSpec(volumes=(VolumeMount("d", "/d", NamedVolume("d")),)), "spec.volumes", "VOLUMES_UNSUPPORTED"),
    (SandboxSpec(resources=Resources(gpus=1)), "spec.resources.gpus", "GPUS_UNSUPPORTED"),
]


@pytest.mark.parametrize(("spec", "field", "reason"), DEMANDS, ids=[field for _, field, _ in DEMANDS])
def test_a_power_is_demanded_by_its_field(spec: SandboxSpec, field: str, reason: str) -> None:
    with pytest.raises(Unsupported) as refusal:
        check_powers("fake", NOTHING, spec)
    assert (refusal.value.field, refusal.value.reason) == (field, reason)
    assert refusal.value.metadata["runtime"] == "fake"
    check_powers("fake", ALL, spec)


def test_a_disk_is_not_larger_than_the_runtime_can_give() -> None:
    bounded = replace(ALL, most_disk_bytes=1 << 30)
    with pytest.raises(Unsupported, match=str(1 << 30)) as refusal:
        check_powers("fake", bounded, SandboxSpec(resources=Resources(disk_bytes=(1 << 30) + 1)))
    assert (refusal.value.field, refusal.value.reason) == ("spec.resources.disk_bytes", "DISK_TOO_LARGE")
    check_powers("fake", bounded, SandboxSpec(resources=Resources(disk_bytes=1 << 30)))
    check_powers("fake", ALL, SandboxSpec(resources=Resources(disk_bytes=1 << 60)))


def test_nothing_special_needs_nothing_special() -> None:
    check_powers("fake", NOTHING, SandboxSpec())
    check_powers("fake", NOTHING, SandboxSpec(source=TemplateSource("anything")))


def test_a_driver_that_names_its_templates_has_no_others() -> None:
    named = replace(NOTHING, templates=frozenset({"host", "python"}))
    check_powers("fake", named, SandboxSpec(source=TemplateSource("python")))
    with pytest.raises(Unsupported, match="host, python"):
        check_powers("fake", named, SandboxSpec(source=TemplateSource("ruby")))


@pytest.mark.parametrize(
    ("policy", "needs"),
    [
        (None, False),
        (NetworkPolicy(), False),
        (NetworkPolicy(rules=(DENY,)), False),
        (NetworkPolicy(rules=(DENY, ALLOW)), True),
        (NetworkPolicy(NetworkAction.ALLOW), True),
        (NetworkPolicy(NetworkAction.ALLOW, (DENY,)), True),
    ],
)
def test_only_what_lets_something_out_needs_a_network(policy: NetworkPolicy | None, needs: bool) -> None:
    assert needs_network(policy) == needs


@pytest.mark.parametrize(
    ("source", "word"),
    [(TemplateSource("x"), "template"), (ImageSource("x"), "image"), (RootfsSource("/x"), "rootfs_directory")],
)
def test_sources_have_the_words_of_the_api(source: Source, word: str) -> None:
    assert source_kind(source) == word
