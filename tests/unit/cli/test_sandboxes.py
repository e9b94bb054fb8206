"""`arenero sandbox …`."""

import json

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from arenero.api.common.v1 import page_pb2
from arenero.api.lifecycle.v1 import sandbox_pb2, sandbox_service_pb2
from tests.unit.sdk.wire import SANDBOX_ID, Refused, WirePair, detail, record


def created(*missing: str) -> sandbox_service_pb2.CreateResponse:
    made = record()
    made.isolation.missing.extend(missing)
    return sandbox_service_pb2.CreateResponse(sandbox=made)


def test_create_prints_the_id_and_keeps_the_sandbox(wires: WirePair, arenero) -> None:
    wires.gateway.on("Create", created())
    result = arenero(
        *("sandbox", "create", "--ttl", "15m", "--memory", "512M", "--cpus", "1.5", "--pids", "99", "--disk", "1G"),
        *("-e", "A=1", "-e", "B=2", "-l", "team=x", "--name", "n", "--runtime", "local", "--start-timeout", "5s"),
    )
    assert (result.exit_code, result.stdout) == (0, f"{SANDBOX_ID}\n"), result.output
    spec = wires.gateway.called("Create")[0].request.spec
    assert spec.lifetime.ttl.seconds == 900
    assert (spec.resources.memory_bytes, spec.resources.cpus, spec.resources.pids) == (1 << 29, 1.5, 99)
    assert (dict(spec.env), dict(spec.metadata), spec.name) == ({"A": "1", "B": "2"}, {"team": "x"}, "n")
    assert not wires.gateway.called("Delete")


@pytest.mark.parametrize("command", [("sandbox", "create"), ("run", "true")], ids=["create", "run"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--cpus", "0"), ("--cpus", "0.01<=x<=1024")),
        (("--cpus", "-1"), ("--cpus", "0.01<=x<=1024")),
        (("--pids", "0"), ("--pids", "16<=x<=4194304")),
        (("--memory", "0"), ("--memory", "at least 32M")),
        (("--disk", "1M"), ("--disk", "at least 16M")),
        (("--template", "host", "--rootfs", "/x"), ("--template and --rootfs", "one of them")),
        (("--image", "x", "--oci-layout", "/x"), ("--image and --oci-layout",)),
    ],
    ids=lambda value: " ".join(value),
)
def test_what_can_not_be_meant_is_wrong_usage(
    wires: WirePair, arenero, command: tuple[str, ...], options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    words_before = command if command[0] == "sandbox" else command[:1]
    result = arenero(*words_before, *options, *command[len(words_before) :])
    assert result.exit_code == 2
    assert all(word in result.stderr for word in words), result.stderr
    assert not wires.gateway.called("Create")


def test_limits_that_are_not_given_are_left_to_the_platform(wires: WirePair, arenero) -> None:
    wires.gateway.on("Create", created())
    assert arenero("sandbox", "create").exit_code == 0
    assert wires.gateway.called("Create")[0].request.spec.resources == sandbox_pb2.Resources()


def test_details_show_limits_and_lifetime(wires: WirePair, arenero) -> None:
    limits = sandbox_pb2.Resources(cpus=2, memory_bytes=2 << 30, pids=1024, disk_bytes=10 << 30, open_files=65_536)
    found = record()
    found.spec.resources.CopyFrom(limits)
    wires.gateway.on("Get", sandbox_service_pb2.GetResponse(sandbox=found))
    shown = arenero("sandbox", "get", SANDBOX_ID).stdout.splitlines()
    lines = dict(line.split("  ", 1) for line in shown)
    wanted = {"cpus": "2", "memory": "2.0 GiB", "pids": "1024", "disk": "10.0 GiB", "open files": "65536"}
    assert {name: value.strip() for name, value in lines.items()}.items() >= {**wanted, "expires": "never"}.items()


def test_create_shows_the_record_as_json(wires: WirePair, arenero) -> None:
    wires.gateway.on("Create", created())
    assert json.loads(arenero("sandbox", "create", "-o", "json").stdout)["id"] == SANDBOX_ID


def test_create_says_what_the_isolation_lacks(wires: WirePair, arenero) -> None:
    wires.gateway.on("Create", created("seccomp", "cgroup\x1b[2J"))
    result = arenero("sandbox", "create", "--best-effort")
    assert result.stdout == f"{SANDBOX_ID}\n"
    assert "  seccomp\n" in result.stderr
    assert "\x1b" not in result.stderr
    level = wires.gateway.called("Create")[0].request.spec.isolation_level
    assert level == sandbox_pb2.ISOLATION_LEVEL_BEST_EFFORT


@pytest.mark.parametrize(("value", "level"), [("1", "BEST_EFFORT"), ("0", "UNSPECIFIED"), ("", "UNSPECIFIED")])
def test_best_effort_can_be_set_for_good(wires: WirePair, arenero, environment, value: str, level: str) -> None:
    environment["ARENERO_BEST_EFFORT"] = value
    wires.gateway.on("Create", created())
    arenero("sandbox", "create")
    wanted = wires.gateway.called("Create")[0].request.spec.isolation_level
    assert sandbox_pb2.IsolationLevel.Name(wanted) == f"ISOLATION_LEVEL_{level}"


def test_refused_creation_says_why_and_how_to_mend_it(wires: WirePair, arenero) -> None:
    told = detail("INVALID_ARGUMENT", field="spec.pids", fix="ask for fewer")
    wires.gateway.on("Create", Refused(grpc.StatusCode.INVALID_ARGUMENT, "spec.pids: at most 3", told))
    result = arenero("sandbox", "create", "--pids", "99")
    assert result.exit_code == 2
    assert result.stderr == "arenero: spec.pids: at most 3 — ask for fewer [INVALID_ARGUMENT]\n"


def full_record() -> sandbox_pb2.Sandbox:
    made = record()
    made.spec.name = "evil\x1b[31m"
    made.spec.metadata["team"] = "x"
    made.created_at.GetCurrentTime()
    made.created_at.seconds -= 90
    made.expires_at.GetCurrentTime()
    made.expires_at.seconds += 3725
    made.isolation.runtime = "local"
    made.isolation.features.extend(["user-namespace", "seccomp"])
    made.source.resolved = "template host"
    return made


def test_list_is_a_table(wires: WirePair, arenero) -> None:
    wires.gateway.on("List", sandbox_service_pb2.ListResponse(sandboxes=[full_record(), record()]))
    result = arenero("sandbox", "list")
    head, first, second = result.stdout.splitlines()
    assert head.split() == ["ID", "NAME", "STATE", "RUNTIME", "SOURCE", "AGE", "EXPIRES", "REASON"]
    assert first.split()[:1] + first.split()[2:] == [
        SANDBOX_ID,
        "running",
        "local",
        "template",
        "host",
        "1m30s",
        "1h2m",
    ]
    assert "\x1b" not in result.stdout
    assert second.split() == [SANDBOX_ID, "running"]


def test_list_filters_and_follows_pages(wires: WirePair, arenero) -> None:
    wires.gateway.on(
        "List",
        sandbox_service_pb2.ListResponse(sandboxes=[record()], page=page_pb2.PageResult(next_page_token="more")),
        sandbox_service_pb2.ListResponse(sandboxes=[record()]),
    )
    result = arenero(
        "sandbox", "list", "-q", "--state", "running", "--state", "failed", "-l", "a=b", "--name", "n", "-a"
    )
    assert result.stdout == f"{SANDBOX_ID}\n" * 2
    wanted = wires.gateway.called("List")[0].request.filter
    assert [*wanted.states] == [sandbox_pb2.SANDBOX_STATE_RUNNING, sandbox_pb2.SANDBOX_STATE_FAILED]
    assert (dict(wanted.metadata), wanted.name, wanted.include_ended) == ({"a": "b"}, "n", True)


def test_list_as_json_has_everything(wires: WirePair, arenero) -> None:
    wires.gateway.on("List", sandbox_service_pb2.ListResponse(sandboxes=[full_record()]))
    [shown] = json.loads(arenero("sandbox", "list", "-o", "json").stdout)
    assert (shown["spec"]["name"], shown["isolation"]["runtime"]) == ("evil\x1b[31m", "local")


def test_empty_list_is_a_head_or_an_empty_array(wires: WirePair, arenero) -> None:
    wires.gateway.on("List", sandbox_service_pb2.ListResponse())
    assert len(arenero("sandbox", "list").stdout.splitlines()) == 1
    assert arenero("sandbox", "list", "-o", "json").stdout == "[]\n"


def test_unknown_state_is_wrong_usage(arenero) -> None:
    result = arenero("sandbox", "list", "--state", "sleepy")
    assert result.exit_code == 2
    assert "running" in result.stderr


def test_get_shows_what_is_in_force(wires: WirePair, arenero) -> None:
    wires.gateway.on("Get", sandbox_service_pb2.GetResponse(sandbox=full_record()))
    shown = arenero("sandbox", "get", SANDBOX_ID).stdout
    assert "isolated by  user-namespace, seccomp\n" in shown
    assert "labels       team=x\n" in shown
    assert json.loads(arenero("sandbox", "get", SANDBOX_ID, "-o", "json").stdout)["id"] == SANDBOX_ID


def test_missing_sandbox_has_an_exit_code_of_its_own(wires: WirePair, arenero) -> None:
    wires.gateway.on("Get", Refused(grpc.StatusCode.NOT_FOUND, "there is none", detail("SANDBOX_NOT_FOUND")))
    assert arenero("sandbox", "get", "sbx_x").exit_code == 3


def test_delete_prints_each_that_is_gone(wires: WirePair, arenero) -> None:
    assert arenero("sandbox", "delete", "sbx_a", "sbx_b").stdout == "sbx_a\nsbx_b\n"
    assert [call.request.sandbox_id for call in wires.gateway.called("Delete")] == ["sbx_a", "sbx_b"]


def test_delete_of_all(wires: WirePair, arenero) -> None:
    wires.gateway.on("List", sandbox_service_pb2.ListResponse(sandboxes=[record()]))
    assert arenero("sandbox", "delete", "--all").stdout == f"{SANDBOX_ID}\n"


def test_delete_of_nothing_is_wrong_usage(arenero) -> None:
    assert arenero("sandbox", "delete").exit_code == 2


def test_renew_says_how_long_it_lives(wires: WirePair, arenero) -> None:
    wires.gateway.on("Renew", sandbox_service_pb2.RenewResponse(sandbox=full_record()))
    assert arenero("sandbox", "renew", SANDBOX_ID, "1h30m", "--extend-only").stdout == "expires in 1h2m\n"
    request = wires.gateway.called("Renew")[0].request
    assert (request.ttl.seconds, request.extend_only) == (5400, True)


def test_labels_are_set_and_removed(wires: WirePair, arenero) -> None:
    wires.gateway.on("UpdateMetadata", sandbox_service_pb2.UpdateMetadataResponse(sandbox=record()))
    assert arenero("sandbox", "label", SANDBOX_ID, "a=b", "--remove", "c").exit_code == 0
    request = wires.gateway.called("UpdateMetadata")[0].request
    assert (dict(request.set), [*request.remove]) == ({"a": "b"}, ["c"])


def test_stats_show_what_was_measured(wires: WirePair, arenero) -> None:
    stats = sandbox_service_pb2.GetStatsResponse(measured_at=Timestamp(seconds=1), memory_bytes=7)
    wires.gateway.on("GetStats", stats)
    assert "memory_bytes  7\n" in arenero("sandbox", "stats", SANDBOX_ID).stdout


def test_platform_that_is_not_there_has_an_exit_code_of_its_own(arenero, environment) -> None:
    environment["ARENERO_ADDRESS"] = ""
    result = arenero("sandbox", "list")
    assert result.exit_code == 4
    assert "arenero up" in result.stderr
