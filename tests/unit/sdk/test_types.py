"""Short names of the platform's messages."""

import betterproto2
import pytest

from arenero.sdk import types


@pytest.mark.parametrize("name", types.__all__)
def test_every_name_is_a_message_or_an_enumeration(name: str) -> None:
    assert issubclass(getattr(types, name), betterproto2.Message | betterproto2.Enum)
    assert name in dir(types)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nope'"):
        _ = types.Nope
