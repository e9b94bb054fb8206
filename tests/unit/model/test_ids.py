"""Ids say their kind, are parsed with care, and repeat when they must."""

import re
from collections.abc import Callable

import pytest

from arenero.model import ids
from arenero.model.ids import TenantId

KINDS: list[tuple[str, Callable[[], str], Callable[[str], str]]] = [
    ("sbx", ids.new_sandbox_id, ids.parse_sandbox_id),
    ("snp", ids.new_snapshot_id, ids.parse_snapshot_id),
    ("pool", ids.new_pool_id, ids.parse_pool_id),
    ("vlt", ids.new_vault_id, ids.parse_vault_id),
    ("key", ids.new_key_id, ids.parse_key_id),
    ("lse", ids.new_lease_id, ids.parse_lease_id),
    ("clm", ids.new_claim_id, ids.parse_claim_id),
    ("evt", ids.new_event_id, ids.parse_event_id),
]
BODY = "a234567bcdefghijklmn"


@pytest.mark.parametrize(("prefix", "new", "parse"), KINDS, ids=[kind[0] for kind in KINDS])
def test_new_id_has_its_form_and_parses(prefix: str, new: Callable[[], str], parse: Callable[[str], str]) -> None:
    made = {new() for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(rf"{prefix}_[a-z2-7]{{20}}", one) for one in made)
    assert all(parse(one) == one for one in made)


@pytest.mark.parametrize(("prefix", "parse"), [(kind[0], kind[2]) for kind in KINDS])
@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "{prefix}",
        "{prefix}_",
        "{prefix}_short",
        "{prefix}_" + BODY + "a",
        "{prefix}_" + BODY.upper(),
        "{prefix}_" + BODY[:-1] + "1",
        "{prefix}_" + BODY[:-1] + "é",
        "{prefix}_" + BODY + "\n",
        "xyz_" + BODY,
        " {prefix}_" + BODY,
        "{prefix}_../../../etc/passwd",
    ],
)
def test_malformed_id_is_refused(prefix: str, parse: Callable[[str], str], wrong: str) -> None:
    with pytest.raises(ValueError, match=" id"):
        parse(wrong.format(prefix=prefix))


def test_message_about_a_huge_id_is_short() -> None:
    with pytest.raises(ValueError, match="sandbox id") as caught:
        ids.parse_sandbox_id("x" * 1_000_000)
    assert len(str(caught.value)) < 200


def test_request_gives_the_same_sandbox_in_the_same_tenant_only() -> None:
    acme, other = TenantId("acme"), TenantId("other")
    first = ids.sandbox_id_for_request(acme, "job-1")
    assert ids.parse_sandbox_id(first) == first
    assert ids.sandbox_id_for_request(acme, "job-1") == first
    assert ids.sandbox_id_for_request(acme, "job-2") != first
    assert ids.sandbox_id_for_request(other, "job-1") != first
    assert ids.sandbox_id_for_request(TenantId("a"), "bc") != ids.sandbox_id_for_request(TenantId("ab"), "c")
    with pytest.raises(ValueError, match="NUL"):
        ids.sandbox_id_for_request(acme, "a\0b")


def test_event_of_a_repeated_step_has_the_same_id() -> None:
    assert ids.event_id_for("sbx_1", "create", "3") == ids.event_id_for("sbx_1", "create", "3")
    assert ids.event_id_for("sbx_1", "create", "3") != ids.event_id_for("sbx_1", "create", "4")


def test_exec_id_is_a_uuid_in_lower_case() -> None:
    made = ids.new_exec_id()
    assert ids.parse_exec_id(made.upper()) == made


@pytest.mark.parametrize(
    "wrong", ["", "x", "123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}"]
)
def test_other_forms_of_a_uuid_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="must be a UUID"):
        ids.parse_exec_id(wrong)


@pytest.mark.parametrize("tenant", ["a", "acme", "a-b", "0", "x" * 32])
def test_tenant_is_a_short_label(tenant: str) -> None:
    assert ids.parse_tenant_id(tenant) == tenant


@pytest.mark.parametrize("tenant", ["", "-a", "a-", "A", "a.b", "a b", "*", ">", "a\n", "ä", "x" * 33])
def test_other_tenants_are_refused(tenant: str) -> None:
    with pytest.raises(ValueError, match="not a tenant"):
        ids.parse_tenant_id(tenant)


@pytest.mark.parametrize("value", ["a", "A.b_c-9", "x" * 128])
def test_request_id_is_taken(value: str) -> None:
    assert not list(ids.check_request_id("request_id", value))


@pytest.mark.parametrize("value", ["", "a b", "a\n", "a/b", "é", "a\0", "x" * 129])
def test_request_id_is_refused(value: str) -> None:
    [fault] = ids.check_request_id("request_id", value)
    assert fault.field == "request_id"
