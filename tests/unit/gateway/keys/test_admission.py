import pytest

from arenero.errors import PermissionDenied, Unauthenticated
from arenero.gateway.keys.admission import Admission
from arenero.gateway.keys.record import Scope
from arenero.gateway.keys.secrets import new_secret
from arenero.model.ids import TenantId
from arenero.rpc.identity import Caller
from tests.unit.gateway.keys.kit import Keys
from tests.unit.gateway.keys.samples import a_key

SANDBOXES = "/arenero.api.lifecycle.v1.SandboxService"
EXEC = "/arenero.api.execd.v1.ExecService"
LEASE = "/arenero.api.execd.v1.LeaseService"
KEYS = "/arenero.api.gateway.v1.KeyService"


async def admit(keys: Keys, method: str, *scopes: Scope) -> Caller | None:
    secret = new_secret()
    await keys.ledger.create(a_key(secret, scopes=frozenset(scopes)), actor="key:key_x")
    return await Admission(keys.keyring)(method, {"authorization": f"Bearer {secret}"})


async def test_caller_is_the_keys_tenant_and_the_key(keys: Keys) -> None:
    caller = await admit(keys, f"{SANDBOXES}/Create", Scope.TENANT)
    [key] = keys.keyring.keys()
    assert caller == Caller(TenantId("acme"), key.actor)


@pytest.mark.parametrize(
    "metadata",
    [{}, *({"authorization": value} for value in ("", "Basic x", "Bearer", "Bearer ark_x")), {"x-api-key": "ark_x"}],
)
async def test_without_a_good_key_nothing_is_open(keys: Keys, metadata: dict[str, str]) -> None:
    with pytest.raises(Unauthenticated):
        await Admission(keys.keyring)(f"{SANDBOXES}/Create", metadata)


@pytest.mark.parametrize(
    ("scope", "allowed", "denied"),
    [
        (Scope.TENANT, [f"{SANDBOXES}/Create", f"{EXEC}/Run", f"{KEYS}/Create", f"{EXEC}/Teleport"], []),
        (Scope.READ, [f"{SANDBOXES}/Get", f"{EXEC}/Attach", f"{KEYS}/WhoAmI", f"{KEYS}/List"],
         [f"{SANDBOXES}/Create", f"{SANDBOXES}/GetEndpoint", f"{EXEC}/Run", f"{EXEC}/Teleport", f"{KEYS}/Revoke"]),
        (Scope.ADMIN, [f"{KEYS}/Create", f"{KEYS}/Revoke", f"{KEYS}/List"], [f"{SANDBOXES}/Get", f"{EXEC}/Run"]),
    ],
)  # fmt: skip
async def test_scope_decides_what_may_be_called(
    keys: Keys, scope: Scope, allowed: list[str], denied: list[str]
) -> None:
    for method in allowed:
        assert await admit(keys, method, scope)
    for method in denied:
        with pytest.raises(PermissionDenied) as caught:
            await admit(keys, method, scope)
        assert caught.value.reason == "SCOPE_MISSING"


async def test_key_without_scopes_opens_nothing(keys: Keys) -> None:
    with pytest.raises(PermissionDenied):
        await admit(keys, f"{SANDBOXES}/Get")


@pytest.mark.parametrize("name", ["SetLease", "Shutdown", "Refresh"])
async def test_what_is_for_the_control_plane_is_closed_to_every_key(keys: Keys, name: str) -> None:
    with pytest.raises(PermissionDenied) as caught:
        await admit(keys, f"{LEASE}/{name}", *Scope)
    assert caught.value.reason == "CONTROL_PLANE_ONLY"


async def test_error_tells_no_secret(keys: Keys) -> None:
    secret = new_secret()
    with pytest.raises(Unauthenticated) as caught:
        await Admission(keys.keyring)(f"{SANDBOXES}/Get", {"authorization": f"Bearer {secret}"})
    assert secret not in repr(caught.value)
