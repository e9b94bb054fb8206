from itertools import product
from typing import Any, cast

import bcrypt
import pytest

from arenero.bus import accounts
from arenero.bus.accounts import API_PREFIX, GRANTS, SUBSCRIBED, Subscriber
from arenero.bus.connection import inbox_prefix
from arenero.bus.subjects import Kind, matches
from arenero.model.ids import TenantId, new_key_id

ACME = Subscriber(new_key_id(), TenantId("acme"), "hash-a")
ACME_TOO = Subscriber(new_key_id(), TenantId("acme"), "hash-b")
BETA = Subscriber(new_key_id(), TenantId("beta"), "hash-c")


def may(service: str, subject: str, what: str = "publish") -> bool:
    return any(f == subject or matches(f, subject) for f in accounts.service_permissions(service)[what])


def rendered(*subscribers: Subscriber) -> dict[str, Any]:
    return of(accounts.render({"gateway": "g", "lifecycle": "l"}, subscribers))


def of(config: dict[str, object]) -> dict[str, Any]:
    [(name, found)] = config.items()
    assert name == "accounts"
    return cast(dict[str, Any], found)


@pytest.mark.parametrize(("service", "kind"), list(product(GRANTS, Kind)))
def test_service_appends_to_its_own_kinds_only(service: str, kind: Kind) -> None:
    grant = GRANTS[service]
    assert may(service, f"{kind.value}.acme.id.fact") == (kind in (*grant.owns, *grant.writes))


@pytest.mark.parametrize(("service", "kind"), list(product(GRANTS, Kind)))
def test_service_reads_its_own_kinds_only(service: str, kind: Kind) -> None:
    grant = GRANTS[service]
    expected = kind in (*grant.owns, *grant.reads)
    for request in (
        f"DIRECT.GET.{kind.stream}",
        f"CONSUMER.CREATE.{kind.stream}.name.filter",
        f"STREAM.INFO.{kind.stream}",
    ):
        assert may(service, f"$JS.API.{request}") == expected


@pytest.mark.parametrize(("service", "kind"), list(product(GRANTS, Kind)))
def test_only_the_owner_changes_a_stream(service: str, kind: Kind) -> None:
    for verb in ("CREATE", "UPDATE", "PURGE"):
        assert may(service, f"$JS.API.STREAM.{verb}.{kind.stream}") == (kind in GRANTS[service].owns)
    assert not may(service, f"$JS.API.STREAM.DELETE.{kind.stream}")


def test_every_kind_has_one_owner() -> None:
    for kind in Kind:
        assert sum(kind in grant.owns for grant in GRANTS.values()) == 1


def test_only_the_gateway_reads_keys() -> None:
    readers = {service for service, grant in GRANTS.items() if Kind.KEY in (*grant.owns, *grant.reads)}
    assert readers == {"gateway"}
    assert Kind.KEY not in SUBSCRIBED


@pytest.mark.parametrize("service", GRANTS)
def test_service_hears_its_own_inboxes_only(service: str) -> None:
    assert accounts.service_permissions(service)["subscribe"] == [f"{inbox_prefix(service)}.>"]


def test_services_share_the_account_with_the_log() -> None:
    platform = rendered()["PLATFORM"]
    assert platform["jetstream"] == "enabled"
    assert [user["user"] for user in platform["users"]] == ["gateway", "lifecycle"]


def test_each_subscriber_has_an_account_of_its_own_without_jetstream() -> None:
    found = rendered(ACME, ACME_TOO, BETA)
    assert set(found) == {"PLATFORM", ACME.account, ACME_TOO.account, BETA.account}
    for subscriber in (ACME, ACME_TOO, BETA):
        [user] = found[subscriber.account]["users"]
        assert user["user"] == subscriber.key_id
        assert "jetstream" not in found[subscriber.account]


def test_each_export_is_for_one_subscriber() -> None:
    exports = rendered(ACME, ACME_TOO, BETA)["PLATFORM"]["exports"]
    assert exports
    assert all(len(export["accounts"]) == 1 for export in exports)


def test_subscriber_imports_what_is_exported_to_it_and_nothing_else() -> None:
    found = rendered(ACME, BETA)
    for subscriber in (ACME, BETA):
        exported = {
            e.get("stream") or e["service"] for e in found["PLATFORM"]["exports"] if subscriber.account in e["accounts"]
        }
        imported = {(i.get("stream") or i["service"])["subject"] for i in found[subscriber.account]["imports"]}
        assert imported == exported


def test_subscriber_publishes_only_requests_about_its_own_consumers() -> None:
    [user] = rendered(ACME)[ACME.account]["users"]
    names = {accounts.consumer_name(ACME.key_id, kind) for kind in SUBSCRIBED}
    for subject in user["permissions"]["publish"]:
        assert subject.startswith((f"{API_PREFIX}.CONSUMER.", "$JS.ACK."))
        assert names & set(subject.split("."))
        assert "*" not in subject
        assert not any(verb in subject for verb in ("CREATE", "DELETE", "UPDATE", "PAUSE", "UNPIN"))


def test_subscriber_hears_only_its_tenant() -> None:
    [user] = rendered(ACME)[ACME.account]["users"]
    assert user["permissions"]["subscribe"] == ["sandbox.acme.>", "activity.acme.>", "_INBOX.>"]


def test_tenant_can_not_widen_its_subjects() -> None:
    with pytest.raises(ValueError, match="token"):
        accounts.tenant_subjects(Kind.SANDBOX, TenantId("acme.>"))


def test_hash_is_of_the_form_that_the_server_takes() -> None:
    password = accounts.new_password()
    hashed = accounts.hash_password(password)
    assert hashed.startswith("$2a$")
    assert bcrypt.checkpw(password.encode(), hashed.encode())


def test_probe_may_do_nothing() -> None:
    [user] = of(accounts.render({}, probe_hash="p"))["PROBE"]["users"]
    assert user["permissions"] == {"publish": {"deny": ">"}, "subscribe": {"deny": ">"}}
