"""Settings of the local driver: what could hurt the host is refused."""

import pytest

from arenero.runtime.local.config import FIRST_FREE_ID, LocalConfig


@pytest.mark.parametrize("first_id", [-1, 0, 1, 1000, FIRST_FREE_ID - 1])
def test_ids_of_the_hosts_own_users_are_refused(first_id: int) -> None:
    with pytest.raises(ValueError, match="first_id"):
        LocalConfig(first_id=first_id)


def test_default_ids_are_free() -> None:
    assert LocalConfig().first_id >= FIRST_FREE_ID
    assert LocalConfig(first_id=FIRST_FREE_ID).first_id == FIRST_FREE_ID
