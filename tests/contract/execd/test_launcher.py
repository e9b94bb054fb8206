"""Launches: who a program runs as and with what, and every way in which it can fail to start."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any

import grpc
import pytest

from arenero.api.execd.v1 import exec_pb2, exec_service_pb2
from tests.contract.execd import kit
from tests.contract.execd.kit import Client, Execd

needs_root = pytest.mark.root


async def failure(client: Client, shell: str = "", /, **spec: Any) -> exec_pb2.StartFailure:
    seen = await client.run(shell, **spec)
    assert seen.started is None
    assert seen.end.cause == exec_pb2.END_CAUSE_START_FAILED
    return seen.end.start_failure


def ids(uid: int, gid: int, *groups: int) -> exec_pb2.User:
    return exec_pb2.User(ids=exec_pb2.UserIds(uid=uid, gid=gid, groups=groups))


async def test_shell_line_of_300_kb_runs(client: Client) -> None:
    """Case 26: longer than the kernel takes as one argument."""
    line = f'x={"a" * 300_000}; echo ${{#x}}; read y; echo "[$y] $0"; exit 7'
    seen = await client.run(line)
    assert seen.out == b"300000\n[] bash\n"
    assert seen.end.exit_code == 7


async def test_arguments_beyond_the_systems_limit_fail_as_too_long(client: Client) -> None:
    """Case 26: E2BIG, with kind, errno and stage."""
    failed = await failure(client, argv=["true", *(["x" * 100_000] * 30)])
    assert failed.kind == exec_pb2.START_FAILURE_KIND_ARGUMENT_LIST_TOO_LONG
    assert (failed.errno_name, failed.stage) == ("E2BIG", "execve")


@pytest.fixture
def bin_folder(guest: Execd) -> Path:
    folder = Path(guest.folder, "bin")
    folder.mkdir(exist_ok=True)
    files = {"plain": ("echo hi\n", 0o644), "bad": ("#!/no/such/interpreter\n", 0o755), "text": ("just text\n", 0o755)}
    for name, (content, mode) in files.items():
        (folder / name).write_text(content)
        (folder / name).chmod(mode)
    return folder


@pytest.mark.parametrize(
    ("program", "kind", "errno_name", "stage"),
    [
        ("no-such-program", exec_pb2.START_FAILURE_KIND_NOT_FOUND, "ENOENT", "lookup"),
        ("/no/such/program", exec_pb2.START_FAILURE_KIND_NOT_FOUND, "ENOENT", "execve"),
        ("{bin}/plain", exec_pb2.START_FAILURE_KIND_NOT_EXECUTABLE, "EACCES", "execve"),
        ("{bin}/text", exec_pb2.START_FAILURE_KIND_NOT_EXECUTABLE, "ENOEXEC", "execve"),
        ("{bin}/bad", exec_pb2.START_FAILURE_KIND_BAD_INTERPRETER, "ENOENT", "execve"),
        ("/tmp", exec_pb2.START_FAILURE_KIND_NOT_EXECUTABLE, "EACCES", "execve"),
        ("/etc/passwd/x", exec_pb2.START_FAILURE_KIND_NOT_FOUND, "ENOENT", "execve"),
    ],
)
async def test_program_that_cannot_run_has_its_own_kind(
    client: Client, bin_folder: Path, program: str, kind: int, errno_name: str, stage: str
) -> None:
    """Case 26: never exit 127 from a wrapper."""
    failed = await failure(client, argv=[program.format(bin=bin_folder)])
    assert (failed.kind, failed.errno_name, failed.stage) == (kind, errno_name, stage)


async def test_start_answers_the_same_failure(client: Client) -> None:
    request = exec_service_pb2.StartRequest(spec=kit.spec_message(argv=["no-such-program"]))
    answer = await client.execs.Start(request, metadata=client.metadata)
    assert answer.failure.kind == exec_pb2.START_FAILURE_KIND_NOT_FOUND
    assert "no-such-program" in answer.failure.message


@pytest.mark.parametrize("slow", [False, True], ids=["vfork", "fork"])
async def test_bad_working_directory_has_its_own_kind(client: Client, slow: bool) -> None:
    """Case 26. A nice value makes the launch go by fork."""
    failed = await failure(client, "true", cwd=b"/no/such", nice=1 if slow else 0)
    assert (failed.kind, failed.errno_name, failed.stage) == (exec_pb2.START_FAILURE_KIND_BAD_CWD, "ENOENT", "chdir")


@pytest.mark.parametrize("slow", [False, True], ids=["vfork", "fork"])
async def test_path_is_searched_as_the_environment_says(client: Client, bin_folder: Path, slow: bool) -> None:
    good = bin_folder / "good"
    good.write_text("#!/bin/sh\necho found $1 $0\n")
    good.chmod(0o755)
    path = f"/no/such:{bin_folder}:/bin".encode()
    seen = await client.run(argv=["good", "it"], env={"PATH": path}, nice=1 if slow else 0)
    assert seen.out == f"found it {good}\n".encode()
    failed = await failure(client, argv=["plain"], env={"PATH": path}, nice=1 if slow else 0)
    assert failed.kind == exec_pb2.START_FAILURE_KIND_NOT_EXECUTABLE


@needs_root
@pytest.mark.parametrize("slow", [False, True], ids=["vfork", "fork"])
async def test_root_inside_runs_without_any_capability(client: Client, slow: bool) -> None:
    """Case 27: uid 0 in a box without CAP_SYS_ADMIN."""
    line = "id -u; id -g; id -G; grep -h -E '^(Cap|NoNewPrivs)' /proc/self/status; chown 1000 /proc/self 2>&1 | wc -l"
    seen = await client.run(line, user=ids(0, 0), nice=1 if slow else 0)
    words = seen.out.decode().split()
    assert words[:3] == ["0", "0", "0"]
    sets = dict(zip(words[3:-1:2], words[4:-1:2], strict=True))
    assert sets == {f"Cap{name}:": "0" * 16 for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")} | {"NoNewPrivs:": "1"}
    assert words[-1] == "1"


@needs_root
async def test_user_without_passwd_entry_runs_with_home_at_the_root(client: Client) -> None:
    """Case 27: uid 1000 that has no entry; another number here, since the test machine may have that one."""
    seen = await client.run('echo "$HOME $USER $(id -u) $(pwd)"', user=ids(54_321, 54_321))
    assert seen.out == b"/ 54321 54321 /\n"


@needs_root
async def test_missing_capability_is_named() -> None:
    """Case 27: an execd that may not change users says what it lacks."""
    setpriv = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--"]
    with kit.execd(prefix=setpriv) as weak:
        async with kit.connected(weak) as client:
            failed = await failure(client, "true", user=ids(0, 0))
    assert failed.kind == exec_pb2.START_FAILURE_KIND_PERMISSION
    assert "CAP_SETGID" in failed.message or "CAP_SETUID" in failed.message


async def test_user_that_does_not_exist_has_its_own_kind(client: Client) -> None:
    failed = await failure(client, "true", user=exec_pb2.User(name="nobody-at-all"))
    assert failed.kind == exec_pb2.START_FAILURE_KIND_BAD_USER


async def test_ids_of_execd_itself_are_refused(client: Client) -> None:
    failed = await failure(client, "true", user=ids(65_533, 65_533))
    assert failed.kind == exec_pb2.START_FAILURE_KIND_BAD_USER


@needs_root
async def test_groups_and_umask_are_as_asked(client: Client) -> None:
    seen = await client.run("id -u; id -g; id -G; umask", user=ids(1001, 1002, 5, 1003), umask=0o077)
    assert seen.out.split() == [b"1001", b"1002", b"1002", b"5", b"1003", b"0077"]


@pytest.mark.parametrize("slow", [False, True], ids=["vfork", "fork"])
async def test_program_inherits_no_descriptor_signal_or_mask(client: Client, slow: bool) -> None:
    line = "ls /proc/self/fd | tr '\\n' ' '; grep -h -E '^Sig(Blk|Ign)' /proc/self/status"
    seen = await client.run(line, nice=1 if slow else 0)
    words = seen.out.split()
    assert words[:4] == [b"0", b"1", b"2", b"3"], "3 is ls's own"
    sets = {name: int(mask, 16) for name, mask in zip(words[4::2], words[5::2], strict=True)}
    # posix_spawn of glibc leaves the two signals ignored that its threads use among themselves: 32 and 33.
    assert sets[b"SigIgn:"] & ~(0b11 << 31) == 0
    assert sets[b"SigBlk:"] == 0


async def test_long_script_leaves_no_descriptor_behind(client: Client) -> None:
    seen = await client.run(f": {'a' * 200_000}\nls /proc/self/fd | tr '\\n' ' '")
    assert seen.out == b"0 1 2 3 "


async def test_environment_is_the_sandboxs_own_with_the_request_on_top(client: Client) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    request = exec_service_pb2.RunRequest(spec=kit.spec_message("env", env={"A": b"1", "LANG": b"C"}))
    seen = kit.Seen()
    async for frame in client.execs.Run(request, metadata=(*client.metadata, ("traceparent", trace))):
        seen.add(frame)
    env = dict(line.split("=", 1) for line in seen.out.decode().splitlines())
    assert {"A": "1", "LANG": "C", "TRACEPARENT": trace, "TERM": "dumb"}.items() <= env.items()
    assert {"PATH", "HOME", "USER", "LOGNAME", "SHELL"} <= env.keys()
    assert not [name for name in env if name.startswith(("ARENERO", "GRPC", "PYTHON"))]


async def test_cleared_environment_holds_only_the_request(client: Client) -> None:
    seen = await client.run(argv=["/usr/bin/env"], clear_env=True, env={"ONLY": b"\xff"})
    assert seen.out == b"ONLY=\xff\n"


async def test_working_directory_may_have_any_name(guest: Execd, client: Client) -> None:
    odd = os.fsencode(guest.plan.login.home) + b"/\xff\xfe"
    os.mkdir(odd)
    assert (await client.run("pwd", cwd=odd)).out == odd + b"\n"


async def test_out_of_memory_prefers_the_exec(client: Client) -> None:
    assert (await client.run("cat /proc/self/oom_score_adj")).out == b"500\n"
    # Init's own is raised while it launches, so not before the launch is over.
    line = "for i in 1 2 3 4 5; do sleep 0.1; x=$(cat /proc/1/oom_score_adj); [ $x = 0 ] && break; done; echo $x"
    assert (await client.run(line)).out == b"0\n"


async def test_limits_of_a_cgroup_are_refused_without_its_controllers(client: Client) -> None:
    failed = await failure(client, "true", cgroup=exec_pb2.CgroupLimits(pids=10))
    assert (failed.kind, failed.stage) == (exec_pb2.START_FAILURE_KIND_LIMIT, "cgroup")


async def test_same_id_starts_once(client: Client) -> None:
    exec_id = str(uuid.uuid4())
    first = await client.start("echo $$; sleep 0.3", exec_id=exec_id)
    again = await client.run("echo $$; sleep 0.3", exec_id=exec_id)
    assert again.started is not None
    assert again.started.repeated_start
    assert again.started.exec.pid == first.pid
    assert again.out == b"%d\n" % first.pid


async def test_same_id_with_another_spec_is_refused(client: Client) -> None:
    exec_id = str(uuid.uuid4())
    await client.start("true", exec_id=exec_id)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.start("false", exec_id=exec_id)
    assert caught.value.code() is grpc.StatusCode.ALREADY_EXISTS
