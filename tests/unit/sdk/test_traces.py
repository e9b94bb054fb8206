"""Traces as text."""

from arenero.sdk.traces import Span, Trace, tree


def test_tree_shows_when_how_long_and_what() -> None:
    trace = Trace(
        spans=[
            Span(name="gateway.sandbox.Create", start_unix_ns=1_000_000, end_unix_ns=31_000_000),
            Span(
                name="lifecycle.driver.create",
                depth=1,
                start_unix_ns=3_500_000,
                end_unix_ns=4_000_000,
                attributes={"arenero.step": "rootfs", "other": "x"},
                error="no space",
            ),
        ]
    )
    first, second = tree(trace)
    assert first == "    0.00 ms    30.00 ms  gateway.sandbox.Create"
    assert second.split()[:5] == ["2.50", "ms", "0.50", "ms", "lifecycle.driver.create"]
    assert second.endswith("arenero.step=rootfs error: no space")
    assert "  lifecycle" in second


def test_empty_trace_has_no_lines() -> None:
    assert [*tree(Trace())] == []
