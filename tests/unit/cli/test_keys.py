"""`arenero key …`."""

import json

from arenero.api.gateway.v1 import key_pb2, key_service_pb2
from tests.unit.sdk.wire import WirePair

KEY = key_pb2.Key(
    id="key_1", tenant="acme", name="ci\x1b[1m", kind="KEY_KIND_API", scopes=["KEY_SCOPE_READ"], hint="abcd"
)


def test_secret_is_the_only_result(wires: WirePair, arenero) -> None:
    wires.gateway.on("Create", key_service_pb2.CreateResponse(key=KEY, secret="arn_secret"))
    result = arenero("key", "create", "ci", "--tenant", "acme", "--scope", "read", "--scope", "admin", "--ttl", "1d")
    assert result.stdout == "arn_secret\n"
    assert "only time" in result.stderr
    request = wires.gateway.called("Create")[0].request
    assert (request.name, request.tenant, request.ttl.seconds) == ("ci", "acme", 86400)
    assert [*request.scopes] == [key_pb2.KEY_SCOPE_READ, key_pb2.KEY_SCOPE_ADMIN]
    assert request.kind == key_pb2.KEY_KIND_API


def test_events_key_shows_how_to_connect(wires: WirePair, arenero) -> None:
    consumer = key_service_pb2.NatsConsumer(stream="SANDBOX", name="c", filter="sandbox.acme.>")
    access = key_service_pb2.NatsAccess(
        url="nats://127.0.0.1:4222", user="u", password="p", subjects=["sandbox.acme.>"], consumers=[consumer]
    )
    wires.gateway.on("Create", key_service_pb2.CreateResponse(key=KEY, nats=access))
    shown = arenero("key", "create", "--events").stdout
    assert "nats://127.0.0.1:4222" in shown
    assert "consumer  SANDBOX/c (sandbox.acme.>)\n" in shown
    assert wires.gateway.called("Create")[0].request.kind == key_pb2.KEY_KIND_EVENTS
    as_json = json.loads(arenero("key", "create", "--events", "-o", "json").stdout)
    assert as_json["nats"]["password"] == "p"


def test_list_is_a_table_without_secrets(wires: WirePair, arenero) -> None:
    wires.gateway.on("List", key_service_pb2.ListResponse(keys=[KEY]))
    _, line = arenero("key", "list", "--tenant", "acme", "-a").stdout.splitlines()
    assert line.split() == ["key_1", "acme", "ci\N{REPLACEMENT CHARACTER}[1m", "api", "read", "abcd", "active"]
    request = wires.gateway.called("List")[0].request
    assert (request.tenant, request.include_ended) == ("acme", True)


def test_revoked_keys_are_printed(wires: WirePair, arenero) -> None:
    wires.gateway.on("Revoke", key_service_pb2.RevokeResponse(key=KEY))
    assert arenero("key", "revoke", "key_1", "key_2").stdout == "key_1\nkey_2\n"


def test_key_in_use_is_shown(wires: WirePair, arenero) -> None:
    revoked = key_pb2.Key()
    revoked.CopyFrom(KEY)
    revoked.revoked_at.GetCurrentTime()
    wires.gateway.on("WhoAmI", key_service_pb2.WhoAmIResponse(key=revoked))
    shown = arenero("key", "whoami").stdout
    assert "tenant  acme\n" in shown
    assert "state   revoked\n" in shown
