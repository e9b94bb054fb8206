"""The SDK without `await`, against a platform that runs on a loop of its own."""

import inspect
from collections.abc import Iterator

import pytest

import arenero.sdk
from arenero.api.execd.v1 import exec_pb2, exec_service_pb2, file_service_pb2
from arenero.api.lifecycle.v1 import sandbox_service_pb2
from arenero.sdk import sync
from arenero.sdk.errors import NotFound, StartFailed
from tests.unit.sdk.test_terminal import echo
from tests.unit.sdk.wire import (
    SANDBOX_ID,
    WirePair,
    attach_ended,
    attached,
    ended,
    more,
    out,
    record,
    run_ended,
    started,
    wire_pair_elsewhere,
)


@pytest.fixture
def there() -> Iterator[WirePair]:
    """A platform on another loop in another thread."""
    with wire_pair_elsewhere() as pair:
        yield pair


@pytest.fixture
def client(there: WirePair) -> Iterator[sync.Client]:
    with sync.Client(settings=there.settings()) as made:
        yield made


@pytest.fixture
def sandbox(client: sync.Client) -> Iterator[sync.Sandbox]:
    made = sync.Sandbox.connect(SANDBOX_ID, client=client)
    yield made
    made.close()


ONLY_ASYNC = {
    "Client": {"call", "stream", "plane", "shared", "release"},  # what the SDK itself is made of
    "Process": set(),
    "Files": set(),
    "Terminal": {"start", "attach"},  # of a plane; Sandbox.terminal is how one gets them
    "Sandbox": set(),
}


@pytest.mark.parametrize("name", ONLY_ASYNC)
def test_both_have_the_same_names(name: str) -> None:
    asynchronous, synchronous = getattr(arenero.sdk, name), getattr(sync, name)
    public = {member for member in dir(asynchronous) if not member.startswith("_")}
    assert public - ONLY_ASYNC[name] <= set(dir(synchronous))


def test_both_packages_have_the_same_names() -> None:
    assert set(sync.__all__) == {name for name in arenero.sdk.__all__ if not name.startswith("_")}


def test_nothing_that_is_offered_needs_await() -> None:
    faces = (sync.Client, sync.Sandbox, sync.Process, sync.Files, sync.Terminal)
    members = [member for face in faces for _, member in inspect.getmembers(face)]
    assert not [found for found in members if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found)]


def test_block_creates_and_deletes(there: WirePair, client: sync.Client) -> None:
    there.gateway.on("Create", sandbox_service_pb2.CreateResponse(sandbox=record(), execd=there.endpoint()))
    there.execd.on("Run", [started(), out(0, b"hello"), run_ended(stdout=5)])
    with sync.Sandbox.create(client=client, ttl_s=60) as sandbox:
        assert sandbox.id == SANDBOX_ID
        assert sandbox.exec("x").stdout_text == "hello"
        assert sandbox.is_direct
    assert there.gateway.called("Delete")


def test_shared_client_is_found_in_the_environment(there: WirePair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENERO_ADDRESS", there.gateway.address)
    monkeypatch.setenv("ARENERO_API_KEY", "key-env")
    sandbox = sync.Sandbox.connect(SANDBOX_ID)
    assert sandbox.refresh().id == sandbox.record.id
    sandbox.close()


def test_stream_is_a_plain_iterator(there: WirePair, sandbox: sync.Sandbox) -> None:
    there.execd.on("Run", [started(), out(0, b"a"), out(1, b"b"), run_ended(3, stdout=2)])
    *output, exit_ = sandbox.stream(["x"])
    assert [frame.data for frame in output if isinstance(frame, sync.Output)] == [b"a", b"b"]
    assert isinstance(exit_, sync.Exit)
    assert exit_.exit_code == 3


def test_errors_are_the_same(there: WirePair, client: sync.Client, sandbox: sync.Sandbox) -> None:
    failure = exec_pb2.StartFailure(kind=exec_pb2.START_FAILURE_KIND_NOT_FOUND, message="no such program")
    there.execd.on("Start", exec_service_pb2.StartResponse(failure=failure))
    with pytest.raises(StartFailed, match="no such program"):
        sandbox.start("nope")
    there.execd.on("Attach", [])
    from tests.unit.sdk.test_files import MISSING

    there.execd.on("Stat", MISSING)
    with pytest.raises(NotFound):
        sandbox.files.stat("x")


def test_process_is_watched_and_ended(there: WirePair, sandbox: sync.Sandbox) -> None:
    running = exec_pb2.ExecStarted(exec=exec_pb2.Exec(exec_id="x", pid=9))
    there.execd.on("Start", exec_service_pb2.StartResponse(started=running))
    there.execd.on("Attach", [attached(), more(0, "ñ".encode()), attach_ended(stdout=2)])
    there.execd.on("Wait", exec_service_pb2.WaitResponse(ended=ended(0)))
    there.execd.on("Kill", exec_service_pb2.KillResponse(ended=ended(0)))
    there.execd.on("Signal", exec_service_pb2.SignalResponse(delivered=1))
    process = sandbox.start("x")
    assert (process.exec_id, process.pid) == ("x", 9)
    assert [*process.text()] == ["ñ"]
    assert process.signal("TERM") == 1
    assert process.kill().ok
    assert process.wait().ok
    assert sandbox.process("x").result().stdout_text == "ñ"


def test_files_are_read_and_written(there: WirePair, sandbox: sync.Sandbox) -> None:
    there.execd.on("Read", [file_service_pb2.ReadResponse(data=b"x", end=True)])
    there.execd.on("Write", file_service_pb2.WriteResponse())
    assert sandbox.files.read("f") == b"x"
    assert [*sandbox.files.read_stream("f")] == [b"x"]
    sandbox.files.within("/srv").write("f", b"content")
    assert there.execd.called("Write")[0].requests[0].open.root.root == b"/srv"


def test_terminal_is_typed_into(there: WirePair, sandbox: sync.Sandbox) -> None:
    there.execd.on("Interact", echo)
    with sandbox.terminal(["sh"], rows=10) as terminal:
        terminal.write("hello")
        assert terminal.read_until("lo") == b"hello"
        terminal.resize(20, 30)
        terminal.write("exit")
        assert [*terminal] == [b"exit"]
        assert terminal.exit is not None
        assert (terminal.exec_id, terminal.pid, terminal.offset) == ("t1", 5, 9)
    with sandbox.attach_terminal("t9", role="viewer") as terminal:
        assert terminal.exec_id == "t9"


def test_lists_and_leaving_them_early(there: WirePair, client: sync.Client) -> None:
    there.gateway.on("List", sandbox_service_pb2.ListResponse(sandboxes=[record(), record()]))
    for found in client.sandboxes():
        assert found.id == SANDBOX_ID
        break
    assert client.get(SANDBOX_ID).id == SANDBOX_ID
    assert client.settings.address == there.gateway.address
