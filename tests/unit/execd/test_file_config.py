"""How many transfers a sandbox's memory has room for."""

import pytest

from arenero.execd.file_config import MOST_TRANSFERS, transfers_within

MIB = 1 << 20


@pytest.mark.parametrize(("memory_mib", "most"), [(0, MOST_TRANSFERS), (1, 1), (32, 1), (64, 6), (128, 17), (8192, 64)])
def test_transfers_have_room_beside_what_the_sandbox_needs_itself(memory_mib: int, most: int) -> None:
    assert transfers_within(memory_mib * MIB) == most
