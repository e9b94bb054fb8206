"""What reading and writing archives share."""

import tarfile

import pytest

from arenero.execd.tar import BLOCK_BYTES, checksum, padding


@pytest.mark.parametrize(("size", "expected"), [(0, 0), (1, 511), (511, 1), (512, 0), (513, 511), (10**12, 0)])
def test_padding_fills_the_last_block(size: int, expected: int):
    assert padding(size) == expected
    assert (size + padding(size)) % BLOCK_BYTES == 0


def test_checksum_is_the_one_others_write():
    block = tarfile.TarInfo("a name").tobuf(tarfile.USTAR_FORMAT)
    assert checksum(block) == int(block[148:154], 8)
