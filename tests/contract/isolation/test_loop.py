"""Loop devices on this kernel."""

import os
from pathlib import Path

import pytest

from arenero.isolation import loop

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not os.path.exists("/dev/loop-control"), reason="needs loop devices"),
]


def test_an_image_is_a_device_until_the_last_descriptor_is_closed(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"first block".ljust(8192, b"\0"))
    with image.open("r+b") as stream:
        path, device = loop.attach(stream.fileno())
    backing = Path("/sys/block", Path(path).name, "loop/backing_file")
    try:
        assert os.pread(device, 11, 0) == b"first block"
        assert backing.read_text().strip() == str(image)
        assert Path("/sys/block", Path(path).name, "queue/logical_block_size").read_text().strip() == "4096"
    finally:
        os.close(device)
    for _ in range(200):
        if not backing.exists() or backing.read_text().strip() != str(image):
            return
    raise AssertionError("the device is still bound")


def test_many_get_devices_of_their_own(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(bytes(8192))
    with image.open("r+b") as stream:
        devices = [loop.attach(stream.fileno()) for _ in range(12)]
    assert len({path for path, _ in devices}) == 12
    for _, device in devices:
        os.close(device)


def test_what_is_no_file_is_refused() -> None:
    reader, writer = os.pipe()
    try:
        with pytest.raises(OSError, match="binding /dev/loop"):
            loop.attach(reader)
    finally:
        os.close(reader)
        os.close(writer)
