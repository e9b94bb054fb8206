"""Checksums of content with holes."""

from hashlib import sha256

from hypothesis import given, settings
from hypothesis import strategies as st

from arenero.execd.checksums import Checksum


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3_000_000), st.binary(max_size=20)), max_size=4))
def test_holes_count_as_zeros(pieces: list[tuple[int, bytes]]):
    checksum = Checksum()
    whole = b""
    for gap, data in pieces:
        for _ in checksum.skip_to(checksum.position + gap):
            pass
        checksum.update(data)
        whole += bytes(gap) + data
    assert checksum.position == len(whole)
    assert checksum.digest() == sha256(whole).digest()


def test_long_hole_is_hashed_in_steps():
    """A hole of many gigabytes costs a sandbox nothing, so nobody may have to wait for one in one go."""
    steps = Checksum().skip_to(2**62)
    for _ in range(5):
        next(steps)
    steps.close()
