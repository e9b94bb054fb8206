"""`arenero doctor`."""

import json

from arenero.api.lifecycle.v1 import sandbox_service_pb2
from tests.unit.sdk.wire import WirePair

LOCAL = sandbox_service_pb2.Runtime(
    name="local",
    usable=True,
    is_default=True,
    capabilities=["limits-memory"],
    checks=[
        sandbox_service_pb2.RuntimeCheck(name="overlay", ok=True, message="mounted"),
        sandbox_service_pb2.RuntimeCheck(name="cgroups", ok=False, message="no cpu controller", fix="enable it"),
    ],
)
DOCKER = sandbox_service_pb2.Runtime(
    name="docker",
    reason="no engine answers",
    fix="start dockerd",
    checks=[sandbox_service_pb2.RuntimeCheck(name="engine", message="no socket")],
)


def test_every_runtime_says_whether_why_and_how(wires: WirePair, arenero) -> None:
    wires.gateway.on("ListRuntimes", sandbox_service_pb2.ListRuntimesResponse(runtimes=[LOCAL, DOCKER]))
    result = arenero("doctor")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "local (default): usable",
        "  ok   overlay: mounted",
        "  warn cgroups: no cpu controller",
        "       fix: enable it",
        "  can: limits-memory",
        "docker: NOT usable: no engine answers",
        "  fix: start dockerd",
        "  FAIL engine: no socket",
    ]


def test_runtime_that_is_named_decides_the_exit_code(wires: WirePair, arenero) -> None:
    wires.gateway.on("ListRuntimes", sandbox_service_pb2.ListRuntimesResponse(runtimes=[LOCAL, DOCKER]))
    assert arenero("doctor", "--runtime", "local", "-q").exit_code == 0
    assert arenero("doctor", "--runtime", "docker", "-q").exit_code == 1
    assert arenero("doctor", "--runtime", "docker", "-q").output == ""
    assert arenero("doctor", "--runtime", "nope").exit_code == 2


def test_json_has_all_checks(wires: WirePair, arenero) -> None:
    wires.gateway.on("ListRuntimes", sandbox_service_pb2.ListRuntimesResponse(runtimes=[DOCKER]))
    result = arenero("doctor", "-o", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)[0]["reason"] == "no engine answers"
