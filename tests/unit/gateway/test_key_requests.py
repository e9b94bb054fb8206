from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from arenero.api.gateway.v1 import key_pb2
from arenero.api.gateway.v1.key_service_pb2 import CreateRequest
from arenero.errors import InvalidArgument, PermissionDenied
from arenero.gateway import key_requests
from arenero.gateway.keys.record import KeyRecord, Kind, Scope
from arenero.model.ids import TenantId
from tests.unit.gateway.keys.samples import a_key

ACME, BETA = TenantId("acme"), TenantId("beta")
ADMIN = a_key(scopes=frozenset({Scope.ADMIN}))
USER = a_key(scopes=frozenset({Scope.TENANT}))


@pytest.mark.parametrize(
    ("fields", "at_fault"),
    [
        ({"tenant": "A"}, "tenant"),
        ({"tenant": "a.b"}, "tenant"),
        ({"tenant": "*"}, "tenant"),
        ({"tenant": "a" * 33}, "tenant"),
        ({"name": "x" * 64}, "name"),
        ({"name": "line\nbreak"}, "name"),
        ({"kind": 99}, "kind"),
        ({"scopes": [99]}, "scopes[0]"),
        ({"scopes": [key_pb2.KEY_SCOPE_READ] * 9}, "scopes"),
        ({"kind": key_pb2.KEY_KIND_EVENTS, "scopes": [key_pb2.KEY_SCOPE_TENANT]}, "scopes"),
        ({"ttl": Duration()}, "ttl"),
        ({"ttl": Duration(seconds=-1)}, "ttl"),
        ({"ttl": Duration(nanos=999_999_999)}, "ttl"),
        ({"ttl": Duration(seconds=3653 * 86_400)}, "ttl"),
        ({"ttl": Duration(seconds=2**62)}, "ttl"),
    ],
)
def test_request_for_a_key_names_the_field_at_fault(fields: dict[str, Any], at_fault: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        key_requests.check_create(CreateRequest(**fields))
    assert caught.value.field == at_fault


@pytest.mark.parametrize(
    "fields",
    [{}, {"tenant": "acme", "name": "für alle", "ttl": Duration(seconds=1)}, {"kind": key_pb2.KEY_KIND_EVENTS}],
)
def test_good_request_passes(fields: dict[str, Any]) -> None:
    key_requests.check_create(CreateRequest(**fields))


@pytest.mark.parametrize("kind", list(Kind))
def test_admin_manages_every_key(kind: Kind) -> None:
    key_requests.check_may_manage(ADMIN, BETA, kind)


def test_others_manage_events_keys_of_their_own_tenant_and_nothing_else() -> None:
    key_requests.check_may_manage(USER, ACME, Kind.EVENTS)
    for tenant, kind in ((ACME, Kind.API), (BETA, Kind.EVENTS), (BETA, Kind.API)):
        with pytest.raises(PermissionDenied):
            key_requests.check_may_manage(USER, tenant, kind)


def test_list_shows_others_only_to_an_admin() -> None:
    assert key_requests.listed_tenant(ADMIN, "") is None
    assert key_requests.listed_tenant(ADMIN, "beta") == BETA
    assert key_requests.listed_tenant(USER, "") == ACME
    assert key_requests.listed_tenant(USER, "acme") == ACME
    with pytest.raises(PermissionDenied):
        key_requests.listed_tenant(USER, "beta")


def test_pages_join_to_the_whole_list() -> None:
    keys = [a_key(created_at=datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=n)) for n in range(7)]
    found: list[KeyRecord] = []
    token = ""
    while True:
        page, token = key_requests.page_of(keys, 3, token)
        found += page
        if not token:
            break
    assert found == keys


@pytest.mark.parametrize(("size", "token", "field"), [(1001, "", "page.page_size"), (1, "key_x", "page.page_token")])
def test_bad_page_is_refused(size: int, token: str, field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        key_requests.page_of([a_key()], size, token)
    assert caught.value.field == field


def test_key_id_is_checked() -> None:
    with pytest.raises(InvalidArgument):
        key_requests.parse_id("sbx_aaaaaaaaaaaaaaaaaaaa")
