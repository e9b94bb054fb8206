"""File systems in image files on this kernel."""

import filecmp
import os
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import disk, mounts, namespaces, syscalls
from arenero.isolation.namespaces import IdMap, Namespace
from tests.contract.isolation.running import trial

MIB = 1 << 20
needs_formatter = pytest.mark.skipif(disk.find_formatter() is None, reason="needs mkfs.ext4")
pytestmark = [pytest.mark.root, needs_formatter]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    disk.format_image(tmp_path / "blank", 32 * MIB)
    disk.copy_image(tmp_path / "blank", tmp_path / "image")
    return tmp_path / "image"


def fills_up(image: str, directory: str) -> Any:
    syscalls.unshare(Namespace.MOUNT)
    mounts.make_private()
    Path(directory).mkdir()
    disk.mount_image(image, directory)
    written = 0
    with open(f"{directory}/upper/file", "wb", buffering=0) as target:
        try:
            while written < 100 * MIB:
                written += target.write(bytes(MIB))
        except OSError as error:
            return [written, error.errno, sorted(os.listdir(directory))]
    return [written, 0, []]


def runs_out_of_files(image: str, directory: str) -> Any:
    syscalls.unshare(Namespace.MOUNT)
    mounts.make_private()
    Path(directory).mkdir()
    disk.mount_image(image, directory)
    made = 0
    try:
        while made < 10_000:
            Path(directory, "upper", str(made)).touch()
            made += 1
    except OSError as error:
        return [made, error.errno]
    return [made, 0]


def maps_owners(image: str, directory: str) -> Any:
    syscalls.unshare(Namespace.MOUNT)
    mounts.make_private()
    Path(directory).mkdir()
    runs = (IdMap(0, 700_000, 65_536),)
    disk.mount_image(image, directory, namespaces.make_user_namespace(runs, runs))
    return Path(directory, "upper").stat().st_uid


def test_a_copy_is_the_same_and_stays_sparse(image: Path) -> None:
    blank = image.with_name("blank")
    assert filecmp.cmp(blank, image, shallow=False)
    assert image.stat().st_mode & 0o777 == 0o600
    assert disk.used_bytes(image) < MIB < image.stat().st_size


def test_a_copy_overwrites_nothing(image: Path) -> None:
    with pytest.raises(FileExistsError):
        disk.copy_image(image.with_name("blank"), image)


def test_as_much_as_was_promised_can_be_written_and_no_more(image: Path, tmp_path: Path) -> None:
    written, code, names = trial(fills_up, str(image), str(tmp_path / "mount"))
    assert 32 * MIB <= written <= 40 * MIB
    assert code == 28
    assert {"upper", "work"} <= set(names)


def test_files_are_limited_too(image: Path, tmp_path: Path) -> None:
    made, code = trial(runs_out_of_files, str(image), str(tmp_path / "mount"))
    assert code == 28
    assert 1_500 < made < 2_600


def test_owners_are_mapped(image: Path, tmp_path: Path) -> None:
    assert trial(maps_owners, str(image), str(tmp_path / "mount")) == 700_000


def test_the_device_is_free_once_the_last_process_is_gone(image: Path, tmp_path: Path) -> None:
    trial(maps_owners, str(image), str(tmp_path / "mount"))
    backing = [Path(path).read_text() for path in map(str, Path("/sys/block").glob("loop*/loop/backing_file"))]
    assert str(image) not in "".join(backing)


def probes(directory: str) -> str:
    return disk.probe(Path(directory))


def test_probing_leaves_nothing(tmp_path: Path) -> None:
    assert trial(probes, str(tmp_path)) == ""
    assert os.listdir(tmp_path) == []


def test_a_failed_format_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "find_formatter", lambda: "/bin/false")
    with pytest.raises(OSError, match="mkfs"):
        disk.format_image(tmp_path / "image", MIB)
    assert os.listdir(tmp_path) == []
