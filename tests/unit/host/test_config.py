"""The settings of a process are checked when they are made."""

import math

import pytest

from arenero.host.config import HostConfig


@pytest.mark.parametrize("grace_s", [-1, 3601, math.nan, math.inf])
def test_odd_grace_is_refused(grace_s: float) -> None:
    with pytest.raises(ValueError, match="grace_s"):
        HostConfig(grace_s=grace_s)
