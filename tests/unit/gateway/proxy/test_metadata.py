import pytest

from arenero.gateway.proxy.metadata import forwarded, returned
from arenero.rpc.status import DETAILS_KEY


@pytest.mark.parametrize(
    "key",
    ["authorization", "arenero-tenant", "arenero-actor", "cookie", "traceparent", "tracestate", "user-agent", "te",
     "host", ":authority", "grpc-timeout", "grpc-encoding", "proxy-authorization"],
)  # fmt: skip
def test_what_is_not_for_the_other_side_stays_here(key: str) -> None:
    assert forwarded([(key, "x"), ("x-mine", "1")]) == [("x-mine", "1")]


def test_the_rest_goes_on_in_order_repeated_and_binary() -> None:
    pairs: list[tuple[str, str | bytes]] = [
        ("b", "1"),
        ("a", "2"),
        ("b", "3"),
        ("c-bin", b"\x00\xff"),
        ("arenero-sandbox-id", "sbx_x"),
    ]
    assert forwarded(pairs) == pairs


def test_details_of_a_status_come_back_and_other_words_of_grpc_do_not() -> None:
    pairs: list[tuple[str, str | bytes]] = [
        ("x", "1"),
        (DETAILS_KEY, b"d"),
        ("grpc-status", "3"),
        ("grpc-message", "m"),
    ]
    assert returned(pairs) == (("x", "1"), (DETAILS_KEY, b"d"))
    assert returned(None) == ()
