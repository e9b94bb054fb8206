"""What the streams keep."""

from arenero.bus.streams import STREAMS
from arenero.bus.subjects import Kind


def test_every_kind_has_its_stream_and_no_two_overlap() -> None:
    assert set(STREAMS) == set(Kind)
    for kind, stream in STREAMS.items():
        assert (stream.name, stream.subject_filter) == (kind.stream, f"{kind.value}.>")


def test_state_is_never_dropped_and_activity_is_bounded() -> None:
    for kind, stream in STREAMS.items():
        config = stream.to_config()
        assert config["deny_delete"] is True
        if kind is Kind.ACTIVITY:
            assert (config["discard"], config["max_age"]) == ("old", 7 * 86_400 * 10**9)
        else:
            assert (config["discard"], config["max_age"], config["max_msgs"]) == ("new", 0, -1)
