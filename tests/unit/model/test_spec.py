"""Every value of a request is accepted as documented or refused with the name of its field."""

import math
from dataclasses import replace
from typing import Any

import pytest

from arenero.model.ids import SnapshotId, VaultId
from arenero.model.policy import NetworkAction, NetworkPolicy, NetworkRule
from arenero.model.spec import (
    MIB,
    IdleAction,
    IdlePolicy,
    ImageSource,
    Lifetime,
    OciLayoutSource,
    Resources,
    RootfsSource,
    SandboxSpec,
    SnapshotSource,
    TemplateSource,
    TimeoutAction,
    check_spec,
    check_ttl,
    hostname_of,
)
from arenero.model.volumes import Bucket, HostPath, NamedVolume, VolumeMount

FULL = SandboxSpec(
    name="job-1",
    runtime="docker",
    oci_runtime="runsc",
    source=ImageSource("python:3.12"),
    resources=Resources(cpus=0.5, memory_bytes=512 * MIB, pids=100, disk_bytes=1024 * MIB, open_files=1024),
    lifetime=Lifetime(ttl_s=3600, on_timeout=TimeoutAction.PAUSE),
    network=NetworkPolicy(rules=(NetworkRule(NetworkAction.ALLOW, "*.pypi.org", ports=(443,)),)),
    env={"PATH": "/bin", "_x1": "", "UMLAUT": "ä\nb"},
    metadata={"team/owner": "ops", "empty": ""},
    user="1000:1000",
    workdir="/work",
    entrypoint=("python", "-m", "http.server", ""),
    volumes=(
        VolumeMount("data", "/data", HostPath("/srv/data"), read_only=True),
        VolumeMount("cache", "/cache", NamedVolume("pip-cache"), sub_path="a/b"),
        VolumeMount("bucket", "/bucket", Bucket("b", "https://s3.example")),
    ),
    ports=(8080, 3000),
    idle=IdlePolicy(30, IdleAction.PAUSE_FREEZE, wake_on_access=True),
    vault_id=VaultId("vlt_aaaaaaaaaaaaaaaaaaaa"),
    extensions={"access.renew.extend.seconds": "300"},
)


def faults(**changes: Any) -> list[str]:
    return [fault.field for fault in check_spec(replace(FULL, **changes))]


def test_empty_and_full_spec_are_fine() -> None:
    assert check_spec(SandboxSpec()) == []
    assert check_spec(FULL) == []


def test_all_faults_are_named_at_once() -> None:
    found = check_spec(SandboxSpec(name="-", ports=(0,), user="no such"), path="request.spec")
    assert [fault.field for fault in found] == ["request.spec.name", "request.spec.user", "request.spec.ports[0]"]


@pytest.mark.parametrize("ttl_s", [1e-3, 1, 86_400 * 365, None])
def test_ttl_is_taken(ttl_s: float | None) -> None:
    assert faults(lifetime=Lifetime(ttl_s)) == []


@pytest.mark.parametrize("ttl_s", [0, 0.0, -0.0, -1, 86_400 * 365 + 1, 1e18, math.nan, math.inf, -math.inf])
def test_ttl_is_refused(ttl_s: float) -> None:
    assert faults(lifetime=Lifetime(ttl_s)) == ["spec.lifetime.ttl"]
    assert [fault.field for fault in check_ttl("ttl", ttl_s)] == ["ttl"]


def test_pausing_at_the_end_needs_an_end() -> None:
    assert faults(lifetime=Lifetime(None, TimeoutAction.PAUSE)) == ["spec.lifetime.on_timeout"]


@pytest.mark.parametrize("name", ["", "a", "job-1", "0", "x" * 63])
def test_name_is_taken(name: str) -> None:
    assert faults(name=name) == []


@pytest.mark.parametrize(
    "name", ["x" * 64, "x" * 65, "x" * 128, "x" * 300, "-a", "a-", "A", "a b", "a\n", "ä", "a\0", "a.b"]
)
def test_name_is_refused(name: str) -> None:
    assert faults(name=name) == ["spec.name"]


@pytest.mark.parametrize("name", ["", "a", "x" * 63, "x" * 300, "ÄÖ", "---", "a.b c\n"])
def test_hostname_is_always_a_valid_one(name: str) -> None:
    hostname = hostname_of(name, "sbx_aaaaaaaaaaaaaaaaaaaa")
    assert 1 <= len(hostname.encode()) <= 63
    assert hostname.replace("-", "").isalnum()
    assert hostname.isascii()
    assert hostname[0] != "-" != hostname[-1]


def test_hostname_is_the_name_or_the_id() -> None:
    assert hostname_of("job-1", "sbx_a") == "job-1"
    assert hostname_of("", "sbx_a") == "sbx-a"


@pytest.mark.parametrize(
    ("resources", "field"),
    [
        (Resources(cpus=0), "cpus"),
        (Resources(cpus=math.nan), "cpus"),
        (Resources(cpus=1025), "cpus"),
        (Resources(memory_bytes=32 * MIB - 1), "memory_bytes"),
        (Resources(memory_bytes=2**63), "memory_bytes"),
        (Resources(memory_bytes=True), "memory_bytes"),
        (Resources(pids=15), "pids"),
        (Resources(disk_bytes=1), "disk_bytes"),
        (Resources(open_files=63), "open_files"),
        (Resources(open_files=2**20 + 1), "open_files"),
        (Resources(gpus=-1), "gpus"),
    ],
)
def test_limit_is_refused(resources: Resources, field: str) -> None:
    assert faults(resources=resources) == [f"spec.resources.{field}"]


@pytest.mark.parametrize(
    ("env", "field"),
    [
        ({"": "x"}, "spec.env"),
        ({"A=B": "x"}, "spec.env"),
        ({"1A": "x"}, "spec.env"),
        ({"A\0": "x"}, "spec.env"),
        ({"A\n": "x"}, "spec.env"),
        ({"A": "x\0y"}, "spec.env[A]"),
        ({"A": "x" * 256 * 1024}, "spec.env"),
        ({f"A{number}": "" for number in range(1025)}, "spec.env"),
    ],
)
def test_environment_is_refused(env: dict[str, str], field: str) -> None:
    assert faults(env=env) == [field]


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"": "x"}, "spec.metadata"),
        ({"a b": "x"}, "spec.metadata"),
        ({"a\n": "x"}, "spec.metadata"),
        ({"k" * 64: "x"}, "spec.metadata"),
        ({"k": "a\nb"}, "spec.metadata[k]"),
        ({"k": "ä" * 129}, "spec.metadata[k]"),
        ({f"k{number}": "" for number in range(65)}, "spec.metadata"),
    ],
)
def test_label_is_refused(metadata: dict[str, str], field: str) -> None:
    assert faults(metadata=metadata) == [field]


@pytest.mark.parametrize("ports", [(0,), (65_536,), (-1,), (80, 80), (True,)])
def test_port_is_refused(ports: tuple[int, ...]) -> None:
    assert faults(ports=ports) == [f"spec.ports[{len(ports) - 1}]"]


def test_number_of_ports_is_bounded() -> None:
    assert faults(ports=tuple(range(1, 66))) == ["spec.ports"]


@pytest.mark.parametrize("user", ["root", "sandbox", "_apt", "0", "1000", "1000:1000", "4294967294"])
def test_user_is_taken(user: str) -> None:
    assert faults(user=user) == []


@pytest.mark.parametrize("user", ["Root", "a b", "1000:", ":1000", "-1", "1000:a", "4294967295", "a\n", "99999999999"])
def test_user_is_refused(user: str) -> None:
    assert faults(user=user) == ["spec.user"]


@pytest.mark.parametrize(
    ("source", "field"),
    [
        (TemplateSource(""), "template"),
        (TemplateSource("../etc"), "template"),
        (ImageSource(""), "image.reference"),
        (ImageSource("a b"), "image.reference"),
        (ImageSource("-rm"), "image.reference"),
        (ImageSource("x" * 513), "image.reference"),
        (RootfsSource("relative"), "rootfs_directory"),
        (RootfsSource("/a/../b"), "rootfs_directory"),
        (RootfsSource("/a\0"), "rootfs_directory"),
        (OciLayoutSource(""), "oci_layout.path"),
        (OciLayoutSource("/a", "b c"), "oci_layout.reference"),
    ],
)
def test_source_is_refused(source: object, field: str) -> None:
    assert faults(source=source) == [f"spec.source.{field}"]


@pytest.mark.parametrize(
    "source",
    [
        None,
        TemplateSource("host"),
        ImageSource("registry.example/a/b:1@sha256:0"),
        RootfsSource("/srv/x"),
        OciLayoutSource("/srv/y", "latest"),
        SnapshotSource(SnapshotId("snp_aaaaaaaaaaaaaaaaaaaa")),
    ],
)
def test_source_is_taken(source: object) -> None:
    assert faults(source=source) == []


@pytest.mark.parametrize(
    ("entrypoint", "field"),
    [
        (("",), "spec.entrypoint[0]"),
        (("a", "b\0"), "spec.entrypoint[1]"),
        (("a",) * 1025, "spec.entrypoint"),
        (("a", "b" * 128 * 1024), "spec.entrypoint"),
    ],
)
def test_entrypoint_is_refused(entrypoint: tuple[str, ...], field: str) -> None:
    assert faults(entrypoint=entrypoint) == [field]


@pytest.mark.parametrize("idle_timeout_s", [0, 29.9, math.nan, math.inf, 1e18])
def test_idle_timeout_is_refused(idle_timeout_s: float) -> None:
    assert faults(idle=IdlePolicy(idle_timeout_s)) == ["spec.idle.idle_timeout"]


@pytest.mark.parametrize("field", ["runtime", "oci_runtime"])
def test_runtime_is_a_label(field: str) -> None:
    assert faults(**{field: "no runtime"}) == [f"spec.{field}"]


@pytest.mark.parametrize("extensions", [{f"k{n}": "" for n in range(65)}, {"k": "v" * 65_536}])
def test_extensions_are_bounded(extensions: dict[str, str]) -> None:
    assert faults(extensions=extensions) == ["spec.extensions"]


def test_extension_key_is_one_line_of_text() -> None:
    assert faults(extensions={"a\nb": ""}) == ["spec.extensions['a\\nb']"]


def test_workdir_is_absolute() -> None:
    assert faults(workdir="work") == ["spec.workdir"]


def test_policy_is_checked_too() -> None:
    rule = NetworkRule(NetworkAction.ALLOW, "evil\0.example")
    assert faults(network=NetworkPolicy(rules=(rule,))) == ["spec.network.rules[0].target"]
