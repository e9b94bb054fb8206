"""Subjects are built and taken apart in one place, and nothing from outside widens a filter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arenero.bus.subjects import (
    Kind,
    activity_subject,
    check_filter,
    check_subject,
    filter_of,
    key_of,
    matches,
    parse_subject,
    sandbox_key,
    sandbox_subject,
    tenant_filter,
)
from arenero.model.ids import SandboxId, TenantId

ACME = TenantId("acme")
BOX = SandboxId("sbx_aaaaaaaaaaaaaaaaaaaa")
BAD_TOKENS = ["", ".", "a.b", "*", ">", "a b", "a\n", "ä", "a\0", "x" * 129]


def test_subject_goes_there_and_back() -> None:
    subject = sandbox_subject(ACME, BOX, "started")
    assert subject == f"sandbox.acme.{BOX}.started"
    parsed = parse_subject(subject)
    assert (parsed.kind, parsed.tenant, parsed.id, parsed.fact) == (Kind.SANDBOX, ACME, BOX, "started")
    assert str(parsed) == subject
    assert parsed.key == sandbox_key(ACME, BOX) == f"sandbox.acme.{BOX}.>"
    assert activity_subject(ACME, BOX, "exec_started") == f"activity.acme.{BOX}.exec_started"
    assert Kind.ACTIVITY.stream == "ACTIVITY"


@pytest.mark.parametrize("bad", BAD_TOKENS)
def test_malformed_token_is_refused_wherever_it_comes(bad: str) -> None:
    with pytest.raises(ValueError, match="token"):
        sandbox_subject(TenantId(bad), BOX, "started")
    with pytest.raises(ValueError, match="token"):
        sandbox_subject(ACME, SandboxId(bad), "started")
    with pytest.raises(ValueError, match="token"):
        sandbox_subject(ACME, BOX, bad)
    with pytest.raises(ValueError, match="token"):
        key_of(Kind.POOL, ACME, bad)
    with pytest.raises(ValueError, match="token"):
        tenant_filter(TenantId(bad), "sandbox.>")


@pytest.mark.parametrize("subject", ["", "sandbox", "sandbox.acme.x", "sandbox.acme.x.y.z", "box.a.b.c"])
def test_text_that_is_no_subject_is_refused(subject: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse_subject(subject)


@pytest.mark.parametrize("subject", ["", "a.*", "a.>", "a..b", "a. .b"])
def test_nothing_is_stored_under_a_filter(subject: str) -> None:
    with pytest.raises(ValueError, match="is not a subject"):
        check_subject(subject)


def test_filter_matches_anything_where_nothing_is_said() -> None:
    assert filter_of(Kind.SANDBOX) == "sandbox.*.*.*"
    assert filter_of(Kind.SANDBOX, "acme", fact="paused") == "sandbox.acme.*.paused"
    with pytest.raises(ValueError, match="token"):
        filter_of(Kind.SANDBOX, ">")


@pytest.mark.parametrize(
    ("subject_filter", "subject", "expected"),
    [
        ("a.b.c", "a.b.c", True),
        ("a.*.c", "a.b.c", True),
        ("a.*", "a.b.c", False),
        ("a.>", "a.b.c", True),
        ("a.>", "a", False),
        ("a.b.>", "a.b", False),
        ("a.b.c.>", "a.b.c", False),
        ("a.*.>", "a.b.c", True),
        ("a.b", "a.b.c", False),
        ("a.b.c", "a.b", False),
        ("*.b", "a.b", True),
    ],
)
def test_matching_is_that_of_nats(subject_filter: str, subject: str, expected: bool) -> None:
    assert matches(subject_filter, subject) is expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("sandbox.*.paused", "sandbox.acme.*.paused"),
        ("sandbox.>", "sandbox.acme.>"),
        ("sandbox", "sandbox.acme.>"),
        ("activity.sbx_1.>", "activity.acme.sbx_1.>"),
    ],
)
def test_tenants_pattern_gets_the_tenant(pattern: str, expected: str) -> None:
    assert tenant_filter(ACME, pattern) == expected


@pytest.mark.parametrize("pattern", ["", ">", "*", "*.x", "box.>", "sandbox..x", "sandbox.>.x", "sandbox.a b"])
def test_tenants_pattern_that_is_malformed_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"must begin|not a filter"):
        tenant_filter(ACME, pattern)


@given(
    pattern=st.text(alphabet="sandboxctivy.*> \n\0_1", max_size=40), other=st.sampled_from(["other", "acm", "acme2"])
)
def test_no_pattern_reaches_another_tenant(pattern: str, other: str) -> None:
    try:
        built = tenant_filter(ACME, pattern)
    except ValueError:
        return
    check_filter(built)
    for rest in ("sbx_1.started", "x", "acme.started", "a.b.c.d"):
        assert not matches(built, f"sandbox.{other}.{rest}")
        assert not matches(built, f"activity.{other}.{rest}")


@pytest.mark.parametrize("text", ["", ">", "*.a", "a..b", "a.>.b", "a.b c", "a.\n"])
def test_malformed_filter_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a filter"):
        check_filter(text)
