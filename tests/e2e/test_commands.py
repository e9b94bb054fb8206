"""Commands in real sandboxes, by both ways."""

import asyncio
import hashlib
import signal
import time

import pytest

from arenero.sdk import Exit, Gap, Output, Sandbox
from arenero.sdk.errors import CommandFailed, FailedPrecondition, InvalidArgument, NotFound, StartFailed


async def test_output_error_and_code(sandbox_either_way: Sandbox) -> None:
    result = await sandbox_either_way.exec("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code, result.ok) == (b"out\n", b"err\n", 3, False)
    with pytest.raises(CommandFailed, match="err"):
        result.check()
    assert result.exit.cpu_time_s is not None
    assert result.exit.started_at is not None
    assert result.exit.ended_at is not None


async def test_words_are_not_interpreted(sandbox_either_way: Sandbox) -> None:
    result = await sandbox_either_way.exec(["printf", "%s|", "a b", "$HOME", "*", ""], check=True)
    assert result.stdout == b"a b|$HOME|*||"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (r"printf '\377\376\000A'", b"\xff\xfe\x00A"),
        (r"printf 'a\n\n\r\nb'", b"a\n\n\r\nb"),
        ("head -c 65537 /dev/zero | tr '\\0' a", b"a" * 65537),
        ("head -c 5000000 /dev/zero | tr '\\0' x", b"x" * 5_000_000),
    ],
    ids=["binary", "line ends", "one more than a pipe", "one long line"],
)
async def test_output_is_exact(sandbox_either_way: Sandbox, command: str, output: bytes) -> None:
    """Cases 11, 17, 19."""
    result = await sandbox_either_way.exec(command, check=True)
    assert result.stdout == output
    assert result.exit.final_offsets.get("stdout") == len(output)


async def test_output_comes_while_it_is_written(sandbox_either_way: Sandbox) -> None:
    began_s = time.monotonic()
    frames = sandbox_either_way.stream("for i in 1 2 3; do echo $i; sleep 0.5; done")
    arrived = [(time.monotonic() - began_s, frame) async for frame in frames]
    outputs = [(at_s, frame.data) for at_s, frame in arrived if isinstance(frame, Output)]
    assert [data for _, data in outputs] == [b"1\n", b"2\n", b"3\n"]
    assert outputs[0][0] < outputs[-1][0] - 0.8
    assert isinstance(arrived[-1][1], Exit)


async def test_characters_written_byte_by_byte_stay_whole(sandbox_either_way: Sandbox) -> None:
    """Case 16."""
    process = await sandbox_either_way.start(r"printf '\342'; sleep 0.05; printf '\202'; sleep 0.05; printf '\254'")
    assert "".join([piece async for piece in process.text()]) == "€"


async def test_much_output_is_exact_and_counted(sandbox_either_way: Sandbox) -> None:
    command = "import hashlib,sys\nb=bytes(range(256))*4096\nfor i in range(64): sys.stdout.buffer.write(b)"
    digest, seen = hashlib.sha256(), 0
    async for frame in sandbox_either_way.stream(["python3", "-c", command]):
        assert not isinstance(frame, Gap)
        if isinstance(frame, Output):
            assert frame.offset == seen
            digest.update(frame.data)
            seen += len(frame.data)
    assert seen == 64 << 20
    assert digest.digest() == hashlib.sha256(bytes(range(256)) * 4096 * 64).digest()


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (["no-such-program"], "NOT_FOUND"),
        (["/etc/passwd"], "NOT_EXECUTABLE"),
        (["/tmp"], "NOT_EXECUTABLE"),
        (["true", "x" * 200_000, *["y" * 100_000] * 30], "ARGUMENT_LIST_TOO_LONG"),
    ],
    ids=["missing", "not executable", "directory", "too long"],
)
async def test_start_failure_has_its_kind(sandbox: Sandbox, command: list[str], kind: str) -> None:
    """Case 26."""
    with pytest.raises(StartFailed) as raised:
        await sandbox.exec(command)
    assert raised.value.kind == kind
    assert raised.value.errno_name or kind == "NOT_FOUND"


async def test_missing_directory_and_interpreter_have_their_kinds(sandbox: Sandbox) -> None:
    """Case 26."""
    with pytest.raises(StartFailed) as raised:
        await sandbox.exec(["true"], cwd="/nowhere")
    assert (raised.value.kind, raised.value.stage) == ("BAD_CWD", "chdir")
    await sandbox.files.write("script", "#!/no/such/interpreter\n", mode=0o755)
    with pytest.raises(StartFailed) as raised:
        await sandbox.exec(["./script"])
    assert raised.value.kind == "BAD_INTERPRETER"
    with pytest.raises(StartFailed) as raised:
        await sandbox.exec(["true"], user="nobody-of-that-name")
    assert raised.value.kind == "BAD_USER"


async def test_long_line_for_the_shell_runs(sandbox: Sandbox) -> None:
    """Case 26."""
    result = await sandbox.exec(f"true {'x' * 100_000}; echo done")
    assert result.stdout == b"done\n"


async def test_deadline_ends_all_of_it(sandbox: Sandbox) -> None:
    """Cases 1 and 2."""
    began_s = time.monotonic()
    result = await sandbox.exec("sleep 301 & sleep 301 & wait", timeout_s=1)
    assert (result.exit.cause, result.ok) == ("DEADLINE", False)
    assert 0.9 < time.monotonic() - began_s < 5
    await asyncio.sleep(0.5)
    assert not [process for process in await sandbox.processes() if b"301" in process.args]


async def test_silence_has_a_deadline_of_its_own(sandbox: Sandbox) -> None:
    result = await sandbox.exec("for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done; sleep 60", idle_output_timeout_s=1)
    assert result.exit.cause == "IDLE_OUTPUT_DEADLINE"
    assert result.stdout == b"1\n2\n3\n4\n5\n6\n"


async def test_child_that_holds_the_output_does_not_hold_the_end(sandbox: Sandbox) -> None:
    """Case 4."""
    began_s = time.monotonic()
    result = await sandbox.exec("sleep 60 & echo hi")
    assert (result.stdout, result.exit_code, result.exit.stdio_held_open) == (b"hi\n", 0, True)
    assert time.monotonic() - began_s < 5


async def test_command_without_input_sees_its_end_at_once(sandbox: Sandbox) -> None:
    """Case 23."""
    async with asyncio.timeout(10):
        assert (await sandbox.exec(["cat"], check=True)).stdout == b""


async def test_input_is_passed_in_and_echoed(sandbox_either_way: Sandbox) -> None:
    content = bytes(range(256)) * 20_000
    result = await sandbox_either_way.exec(["cat"], stdin=content, check=True)
    assert result.stdout == content


async def test_input_is_written_piece_by_piece(sandbox: Sandbox) -> None:
    process = await sandbox.start(["sort"], stdin=True)
    assert await process.write_stdin("b\n") == 2
    assert await sandbox.process(process.exec_id).write_stdin("a\n") == 4
    await process.close_stdin()
    assert (await process.result()).stdout == b"a\nb\n"
    with pytest.raises(FailedPrecondition):
        await process.write_stdin("late")


async def test_process_runs_on_when_its_client_is_gone(sandbox_either_way: Sandbox) -> None:
    """Attached to again at the offset, nothing is lost and nothing comes twice."""
    process = await sandbox_either_way.start("for i in $(seq 1 40); do echo line $i; sleep 0.05; done")
    seen = b""
    async for frame in process.output():
        assert isinstance(frame, Output)
        seen += frame.data
        if b"line 5\n" in seen:
            break
    await asyncio.sleep(0.3)
    again = sandbox_either_way.process(process.exec_id)
    async for frame in again.output(from_offsets={"stdout": len(seen)}):
        if isinstance(frame, Output):
            seen += frame.data
    assert seen.decode().splitlines() == [f"line {number}" for number in range(1, 41)]
    assert (await again.wait()).ok
    assert (await again.result()).stdout == seen


async def test_end_of_the_output_is_asked_for(sandbox: Sandbox) -> None:
    process = await sandbox.start("seq 1 1000")
    await process.wait()
    frames = [frame async for frame in process.output(last_bytes=9)]
    assert isinstance(frames[0], Output)
    assert (frames[0].data, frames[0].offset) == (b"999\n1000\n"[-9:], 3893 - 9)
    assert isinstance(frames[-1], Exit)


async def test_signals_and_kills(sandbox: Sandbox) -> None:
    process = await sandbox.start("trap 'echo got it; exit 7' USR1; echo ready; while :; do sleep 0.05; done")
    async for frame in process.output():
        if isinstance(frame, Output) and b"ready" in frame.data:
            break
    assert await process.signal("USR1", target="leader") == 1
    assert (await process.wait()).exit_code == 7
    stubborn = await sandbox.start("trap '' TERM; echo ready; while :; do sleep 0.05; done")
    await anext(stubborn.output())
    ended = await stubborn.kill(grace_s=0.2)
    assert ended.signal == signal.SIGKILL
    assert ended.cause == "CANCELLED"


async def test_double_forked_children_are_killed_too(sandbox: Sandbox) -> None:
    """Cases 1 and 9."""
    process = await sandbox.start("for i in 1 2 3; do (setsid sleep 4242 &) ; done; echo ready; sleep 60")
    await anext(process.output())
    await asyncio.sleep(0.2)
    assert len([found for found in await sandbox.processes() if b"4242" in found.args]) == 3
    await process.kill()
    assert not [found for found in await sandbox.processes() if b"4242" in found.args or found.state == "Z"]


async def test_background_child_may_stay_when_asked_for(sandbox: Sandbox) -> None:
    """Case 7."""
    await sandbox.exec("nohup sleep 4343 >/dev/null 2>&1 &", on_exit="leave", check=True)
    await sandbox.exec("nohup sleep 4444 >/dev/null 2>&1 &", check=True)
    await asyncio.sleep(0.3)
    running = {argument for found in await sandbox.processes() for argument in found.args}
    assert b"4343" in running
    assert b"4444" not in running


async def test_process_ends_with_its_client_when_asked_for(sandbox: Sandbox) -> None:
    frames = sandbox.stream("echo ready; sleep 4545", on_disconnect="kill")
    await anext(frames)
    await frames.aclose()  # type: ignore[attr-defined]
    async with asyncio.timeout(10):
        while [found for found in await sandbox.processes() if b"4545" in found.args]:
            await asyncio.sleep(0.05)


async def test_ring_keeps_the_newest_and_tells_of_the_gap(sandbox: Sandbox) -> None:
    """Case 13."""
    process = await sandbox.start("seq 1 200000", retention="ring", output_limit_bytes=100_000)
    await process.wait()
    result = await process.result()
    assert result.stdout.endswith(b"199999\n200000\n")
    assert result.is_truncated
    [gap] = result.gaps
    assert gap.to_offset + len(result.stdout) == result.exit.final_offsets["stdout"]


async def test_failing_part_of_the_output_is_kept_with_a_limit(sandbox: Sandbox) -> None:
    """Case 20."""
    command = "head -c 2000000 /dev/zero; echo boom >&2; exit 1"
    result = await sandbox.exec(command, output_limit_bytes=1_000_000, retention="ring")
    assert (result.stderr, result.exit_code) == (b"boom\n", 1)


async def test_users_limits_and_variables(sandbox: Sandbox) -> None:
    """Case 27."""
    result = await sandbox.exec(
        "id -u; id -g; umask; ulimit -n; echo $A; echo $HOME",
        env={"A": "ñ"},
        umask=0o077,
        rlimits={"NOFILE": 64},
        user=(1234, 4321),
        check=True,
    )
    assert result.stdout_text.split() == ["1234", "4321", "0077", "64", "ñ", "/"]
    as_root = await sandbox.exec("id -u; grep CapEff /proc/self/status", user=0, check=True)
    assert as_root.stdout_text.split() == ["0", "CapEff:", "0000000000000000"]


async def test_execs_are_remembered_and_forgotten_ones_are_not(sandbox: Sandbox) -> None:
    process = await sandbox.start(["sleep", "30"], labels={"purpose": "test"})
    listed = [found for found in await sandbox.execs(running_only=True) if found.exec_id == process.exec_id]
    assert dict(listed[0].spec.labels) == {"purpose": "test"}
    await process.kill()
    assert process.exec_id not in [found.exec_id for found in await sandbox.execs(running_only=True)]
    with pytest.raises(NotFound):
        await sandbox.process("00000000-0000-0000-0000-000000000000").wait()


BAD = {
    "variable with an equals sign": {"env": {"A=B": "x"}},
    "variable with a NUL": {"env": {"A": "x\0"}},
    "nice value": {"nice": 50},
    "timeout below zero": {"timeout_s": -1},
    "limit that is none": {"rlimits": {"NOPE": 1}},
}


@pytest.mark.parametrize("options", BAD.values(), ids=BAD)
async def test_bad_request_is_refused(sandbox: Sandbox, options) -> None:
    with pytest.raises(InvalidArgument) as raised:
        await sandbox.exec(["true"], **options)
    assert raised.value.field


async def test_argument_with_a_nul_is_refused(sandbox: Sandbox) -> None:
    for command in (["echo", "a\0b"], [""], []):
        with pytest.raises((InvalidArgument, StartFailed)):
            await sandbox.exec(command)


async def test_many_at_once(sandbox_either_way: Sandbox) -> None:
    results = await asyncio.gather(*(sandbox_either_way.exec(["echo", str(number)]) for number in range(50)))
    assert [result.stdout for result in results] == [b"%d\n" % number for number in range(50)]


async def test_hundred_and_fifty_streams_are_open_at_once(sandbox_either_way: Sandbox) -> None:
    """Point 11 of the execution protocol."""
    streams = [sandbox_either_way.stream("echo ready; sleep 3") for _ in range(150)]
    async with asyncio.timeout(60):
        firsts = await asyncio.gather(*(anext(stream) for stream in streams))
        assert {frame.data for frame in firsts if isinstance(frame, Output)} == {b"ready\n"}
    await asyncio.gather(*(stream.aclose() for stream in streams))  # type: ignore[attr-defined]


async def test_callers_trace_goes_on_in_the_command(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    monkeypatch.setenv("TRACEPARENT", f"00-{trace_id}-b7ad6b7169203331-01")
    assert (await sandbox.exec("echo $TRACEPARENT", check=True)).stdout_text.startswith(f"00-{trace_id}-")
