"""What may be mounted where."""

import pytest

from arenero.model.volumes import Bucket, HostPath, NamedVolume, VolumeBackend, VolumeMount, check_path, check_volumes


def fields(*volumes: VolumeMount) -> list[str]:
    return [fault.field for fault in check_volumes("v", volumes)]


def mount(name: str = "data", path: str = "/data", backend: VolumeBackend | None = None, sub: str = "") -> VolumeMount:
    return VolumeMount(name, path, backend or NamedVolume("data"), sub_path=sub)


@pytest.mark.parametrize("path", ["/", "/a", "/a/b.c", "/ä", "/..a/b", "/" + "x" * 4094])
def test_path_is_taken(path: str) -> None:
    assert not list(check_path("p", path))


@pytest.mark.parametrize("path", ["", "a", "./a", "/a/..", "/../a", "/a\0", "/" + "x" * 4095, "/" + "ä" * 2048])
def test_path_is_refused(path: str) -> None:
    assert [fault.field for fault in check_path("p", path)] == ["p"]


@pytest.mark.parametrize(
    ("volume", "field"),
    [
        (mount(name=""), "name"),
        (mount(name="a/b"), "name"),
        (mount(path="data"), "mount_path"),
        (mount(sub="/etc"), "sub_path"),
        (mount(sub="a/../../b"), "sub_path"),
        (mount(sub="a\0"), "sub_path"),
        (mount(backend=HostPath("etc")), "host_path"),
        (mount(backend=NamedVolume("../x")), "named_volume"),
        (mount(backend=Bucket("", "https://s3.example")), "bucket.bucket"),
    ],
)
def test_mount_is_refused(volume: VolumeMount, field: str) -> None:
    assert fields(volume) == [f"v[0].{field}"]


def test_names_and_places_are_used_once() -> None:
    assert fields(mount("a", "/a"), mount("a", "/b"), mount("c", "/a")) == ["v[1].name", "v[2].mount_path"]


def test_number_of_mounts_is_bounded() -> None:
    assert fields(*(mount(f"v{number}", f"/v{number}") for number in range(33))) == ["v"]
