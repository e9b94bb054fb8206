"""Ways into a sandbox."""

import pytest
from nacl.signing import SigningKey

from arenero.errors import FailedPrecondition, Unsupported
from arenero.lifecycle.endpoints import Endpoints, check_endpoint
from arenero.lifecycle.tokens import TokenSigner
from arenero.model.record import Endpoint, Failure
from arenero.model.states import SandboxState as S
from arenero.testing.clock import ManualClock
from tests.unit.lifecycle.samples import a_record

CLOCK = ManualClock()
ENDPOINTS = Endpoints(TokenSigner(SigningKey(b"s" * 32), CLOCK))
RUNNING = a_record(endpoint=Endpoint("unix:/run/x.sock"), generation=2)


def test_execd_is_reached_by_address_and_token() -> None:
    access = ENDPOINTS.execd(RUNNING, 60)
    assert (access.address, access.generation) == ("unix:/run/x.sock", 2)
    assert (access.token_expires_at - CLOCK.now()).total_seconds() == 60
    assert ENDPOINTS.find_execd(RUNNING) is not None


@pytest.mark.parametrize("state", [s for s in S if s is not S.RUNNING])
def test_what_does_not_run_cannot_be_reached(state: S) -> None:
    record = a_record(state=state, endpoint=Endpoint("unix:/x"), failure=Failure("OUT_OF_MEMORY", "no memory"))
    for reach in (lambda: ENDPOINTS.execd(record, 60), lambda: ENDPOINTS.port(record, 80)):
        with pytest.raises(FailedPrecondition) as refusal:
            reach()
        assert refusal.value.reason == f"SANDBOX_{state.value.upper()}"
        assert refusal.value.metadata["cause"] == "OUT_OF_MEMORY"
    assert ENDPOINTS.find_execd(record) is None


def test_where_there_is_no_execd_it_is_said() -> None:
    with pytest.raises(Unsupported) as refusal:
        ENDPOINTS.execd(a_record(), 60)
    assert refusal.value.reason == "NO_EXECD"
    assert ENDPOINTS.find_execd(a_record()) is None


def test_ports_are_not_there_yet() -> None:
    with pytest.raises(Unsupported) as refusal:
        ENDPOINTS.port(RUNNING, 8080)
    assert refusal.value.reason == "PORT_ENDPOINTS_UNSUPPORTED"


@pytest.mark.parametrize(
    ("port", "ttl_s", "fields"),
    [
        (0, 1.0, []),
        (65_535, 86_400.0, []),
        (65_536, 60.0, ["port"]),
        (0, 0.0, ["token_ttl"]),
        (0, -1.0, ["token_ttl"]),
        (0, 86_401.0, ["token_ttl"]),
        (70_000, 1e18, ["token_ttl", "port"]),
    ],
)
def test_what_is_asked_is_checked(port: int, ttl_s: float, fields: list[str]) -> None:
    assert [fault.field for fault in check_endpoint(port, ttl_s)] == fields
