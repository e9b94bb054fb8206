"""What a sandbox says about its own start is cut to what can be true."""

import pytest

from arenero.lifecycle.execd import MAX_BOOT_SPANS, clamp_spans
from arenero.runtime.driver import StepSpan


def test_spans_within_the_wait_are_kept() -> None:
    spans = [StepSpan("execd.start", 110, 150), StepSpan("execd.serve", 150, 180)]
    assert clamp_spans(spans, 100, 200) == spans


@pytest.mark.parametrize(
    ("span", "kept"),
    [
        (StepSpan("execd.early", 0, 150), (100, 150)),
        (StepSpan("execd.late", 150, 2**63), (150, 200)),
        (StepSpan("execd.turned", 180, 120), (180, 180)),
        (StepSpan("execd.all", 0, 2**63), (100, 200)),
        (StepSpan("execd.before", 0, 50), None),
        (StepSpan("execd.after", 300, 400), None),
        (StepSpan("", 110, 120), None),
        (StepSpan("x" * 65, 110, 120), None),
        (StepSpan("a\nb", 110, 120), None),
        (StepSpan("<script>", 110, 120), None),
    ],
)
def test_what_cannot_be_true_is_cut_or_dropped(span: StepSpan, kept: tuple[int, int] | None) -> None:
    expected = [StepSpan(span.name, *kept)] if kept else []
    assert clamp_spans([span], 100, 200) == expected


def test_there_are_not_too_many() -> None:
    assert len(clamp_spans([StepSpan("x", 1, 2)] * 1000, 0, 10)) == MAX_BOOT_SPANS
