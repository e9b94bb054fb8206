"""Who calls is taken from metadata, and from nothing else."""

import pytest

from arenero.errors import Unauthenticated
from arenero.model.ids import TenantId
from arenero.rpc.identity import Caller, bearer_token, current_caller, set_caller, trust_metadata


async def test_metadata_names_tenant_and_actor() -> None:
    caller = Caller(TenantId("acme"), "key:key_1")
    assert await trust_metadata("/x/Y", dict(caller.to_metadata())) == caller


@pytest.mark.parametrize("metadata", [{}, {"arenero-tenant": ""}, {"arenero-tenant": "a.b"}, {"arenero-tenant": "*"}])
async def test_call_without_a_proper_tenant_is_refused(metadata: dict[str, str]) -> None:
    with pytest.raises(Unauthenticated):
        await trust_metadata("/x/Y", metadata)


def test_there_is_no_caller_outside_a_call() -> None:
    set_caller(None)
    with pytest.raises(Unauthenticated):
        current_caller()


def test_caller_is_known_once_set() -> None:
    caller = Caller(TenantId("acme"), "")
    set_caller(caller)
    assert current_caller() is caller
    set_caller(None)


@pytest.mark.parametrize("value", ["Bearer abc", "bearer abc", "BEARER  abc "])
def test_bearer_token_is_found(value: str) -> None:
    assert bearer_token({"authorization": value}) == "abc"


@pytest.mark.parametrize("metadata", [{}, {"authorization": "Basic abc"}, {"authorization": "abc"}])
def test_missing_bearer_token_is_refused(metadata: dict[str, str]) -> None:
    with pytest.raises(Unauthenticated):
        bearer_token(metadata)
