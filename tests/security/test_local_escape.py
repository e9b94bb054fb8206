"""What a hostile program in a local sandbox tries, as its ordinary user and as its root, and must not reach."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from arenero.api.execd.v1 import exec_pb2
from arenero.isolation.syscall_numbers import numbers_of
from arenero.model.spec import Resources
from arenero.runtime.local.driver import LocalDriver
from tests.security.local_sandboxes import MIB, SMALL, Box, make, opened, wait_for

pytestmark = [pytest.mark.root, pytest.mark.asyncio(loop_scope="module")]

as_anybody = pytest.mark.parametrize("uid", [None, 0], ids=["sandbox", "root"])
NUMBERS = numbers_of(os.uname().machine)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def driver() -> AsyncIterator[LocalDriver]:
    async with opened() as driver:
        yield driver


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box(driver: LocalDriver) -> Box:
    return await make(driver)


@pytest_asyncio.fixture(loop_scope="module")
async def fresh(driver: LocalDriver) -> AsyncIterator[Box]:
    """A sandbox of the test's own, to be ruined."""
    box = await make(driver)
    yield box
    await driver.destroy(box.handle)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A file that everybody on the host can read, in a directory that no template shows."""
    name = f"secret-{secrets.token_hex(8)}"
    path = Path("/var", name)
    path.write_text(name)
    path.chmod(0o644)
    yield path, name
    path.unlink()


@as_anybody
async def test_files_of_the_host_are_not_there(box: Box, uid: int | None, secret: tuple[Path, str]) -> None:
    path, name = secret
    found = await box.run(f"find / -name {name} -not -path '/proc/*' 2>/dev/null; cat {path}", uid=uid)
    assert (found.code, found.out) == (1, "")


@as_anybody
async def test_the_etc_of_the_host_is_not_there(box: Box, uid: int | None) -> None:
    seen = await box.run("cat /etc/shadow /etc/gshadow /etc/sudoers; cat /etc/passwd; ls -A /root /home /srv", uid=uid)
    assert "sandbox:x:1000" in seen.out
    users = {line.split(":")[0] for line in Path("/etc/passwd").read_text().splitlines()}
    inside = {line.split(":")[0] for line in seen.out.splitlines() if ":x:" in line}
    assert inside < users | {"sandbox"}
    assert len(inside) < 12
    assert "$" not in seen.out


@as_anybody
async def test_programs_of_the_host_are_read_only(box: Box, uid: int | None) -> None:
    script = (
        "for f in /usr/bin/x /usr/lib/x /bin/x /opt/x; do touch $f && echo wrote $f; done; mount -o remount,rw /usr"
    )
    tried = await box.run(script, uid=uid)
    assert "wrote" not in tried.out


@as_anybody
async def test_files_that_only_the_hosts_root_may_read_stay_closed(box: Box, uid: int | None) -> None:
    path = Path("/usr/local/lib", f"secret-{secrets.token_hex(8)}")
    path.write_text("secret")
    path.chmod(0o600)
    try:
        assert (await box.run(f"cat {path}", uid=uid)).out == ""
    finally:
        path.unlink()


@as_anybody
async def test_set_user_id_programs_are_inert(box: Box, uid: int | None) -> None:
    await box.run("cp /usr/bin/id /var/tmp/id && chmod 6755 /var/tmp/id", uid=0)
    assert (await box.run("/var/tmp/id -u; /usr/bin/su -c id; true")).out.strip() == "1000"
    await box.run("rm -f /var/tmp/id", uid=0)


@as_anybody
async def test_every_mount_is_without_devices_and_set_user_id(box: Box, uid: int | None) -> None:
    lines = (await box.run("cat /proc/self/mounts", uid=uid)).out.splitlines()
    mounts = {line.split()[1]: set(line.split()[3].split(",")) for line in lines}
    assert [place for place, options in mounts.items() if "nosuid" not in options] == []
    devices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts"}
    masks = {place for place in mounts if place.startswith("/proc/")}
    assert {place for place, options in mounts.items() if "nodev" not in options} <= devices | masks


@as_anybody
async def test_there_are_seven_devices_and_no_way_to_more(box: Box, uid: int | None) -> None:
    listed = await box.run("find /dev -type c -o -type b; mknod /var/tmp/sda b 8 0; mknod /dev/x c 1 1; true", uid=uid)
    assert set(listed.out.split()) <= {
        *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts/ptmx"),
        *(f"/dev/pts/{number}" for number in range(10)),
    }


# --- /proc and processes ----------------------------------------------------------------------------------------------


@as_anybody
async def test_only_its_own_processes_are_seen(box: Box, uid: int | None) -> None:
    seen = await box.run("cat /proc/[0-9]*/comm; cat /proc/[0-9]*/cmdline | tr '\\0' ' '", uid=uid)
    assert str(Path.cwd()) not in seen.out
    assert "zygote" not in seen.out
    assert len(re.findall(r"arenero", seen.out)) >= 2
    assert int((await box.run("ls -d /proc/[0-9]* | wc -l", uid=uid)).out) < 12


@as_anybody
@pytest.mark.parametrize("name", ["kcore", "keys", "timer_list", "interrupts", "vmallocinfo", "kpagecount"])
async def test_what_shows_the_host_is_masked(box: Box, uid: int | None, name: str) -> None:
    assert (await box.run(f"head -c 1 /proc/{name} 2>/dev/null | wc -c", uid=uid)).out.strip() == "0"


@as_anybody
async def test_what_changes_the_host_cannot_be_written(box: Box, uid: int | None) -> None:
    names = ("sysrq-trigger", "sys/kernel/core_pattern", "sys/vm/overcommit_memory", "sys/kernel/hostname", "irq/0")
    script = "; ".join(f"(echo x > /proc/{name}) 2>/dev/null && echo wrote {name}" for name in names)
    assert "wrote" not in (await box.run(script, uid=uid)).out


@as_anybody
@pytest.mark.parametrize("name", ["root/", "cwd/", "fd/", "exe", "environ", "mem", "maps", "map_files/", "stack"])
async def test_init_and_server_are_closed(box: Box, uid: int | None, name: str) -> None:
    for pid in (await box.run("pgrep -x arenero-init; pgrep -x arenero-execd", uid=uid)).out.split():
        kind = "ls" if name.endswith("/") else "head -c 1"
        tried = await box.run(f"{kind} /proc/{pid}/{name} 2>/dev/null | wc -c", uid=uid)
        assert tried.out.strip() == "0", (pid, name)


@as_anybody
async def test_init_and_server_cannot_be_signalled_or_traced(box: Box, uid: int | None) -> None:
    code = """
import ctypes, json, os, signal
libc = ctypes.CDLL(None, use_errno=True)
pids = [int(p) for p in os.listdir("/proc") if p.isdigit()]
ours = [p for p in pids if open(f"/proc/{p}/comm").read().strip() in ("arenero-init", "arenero-execd")]
done = []
for pid in ours:
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        try:
            os.kill(pid, number)
            done.append(f"signal {number} to {pid}" if pid != 1 else "")
        except PermissionError:
            pass
    for request in (16, 0x4206):  # PTRACE_ATTACH, PTRACE_SEIZE
        if libc.ptrace(request, pid, 0, 0) == 0:
            done.append(f"ptrace {pid}")
    word = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(word), 8)
    if libc.process_vm_readv(pid, vector, 1, vector, 1, 0) >= 0:
        done.append(f"read {pid}")
print(json.dumps([len(ours), [d for d in done if d]]))
"""
    found, done = await box.python(code, uid=uid)
    assert (found >= 2, done) == (True, [])
    assert (await box.run("echo alive")).out == "alive\n"


@as_anybody
async def test_nothing_of_a_process_has_rights(box: Box, uid: int | None) -> None:
    seen = await box.run("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status", uid=uid)
    fields = dict(line.split(":\t") for line in seen.out.splitlines())
    assert {name: int(value, 16) for name, value in fields.items() if name.startswith("Cap")} == dict.fromkeys(
        ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), 0
    )
    assert (fields["NoNewPrivs"], fields["Seccomp"].strip()) == ("1", "2")


# --- system calls -----------------------------------------------------------------------------------------------------

CALLS = {
    "mount": (0, 0, 0, 0, 0),
    "umount2": (0, 0),
    "unshare": (0x10000000,),
    "setns": (0, 0),
    "pivot_root": (0, 0),
    "chroot": (0,),
    "open_tree": (-100, 0, 1),
    "fsopen": (0, 0),
    "mount_setattr": (-100, 0, 0, 0, 0),
    "bpf": (0, 0, 0),
    "keyctl": (0, 0, 0),
    "add_key": (0, 0, 0, 0, 0),
    "request_key": (0, 0, 0, 0),
    "perf_event_open": (0, 0, 0, 0, 0),
    "userfaultfd": (0,),
    "io_uring_setup": (1, 0),
    "open_by_handle_at": (-100, 0, 0),
    "kexec_load": (0, 0, 0, 0),
    "init_module": (0, 0, 0),
    "finit_module": (0, 0, 0),
    "delete_module": (0, 0),
    "reboot": (0, 0, 0, 0),
    "swapon": (0, 0),
    "acct": (0,),
    "syslog": (3, 0, 0),
    "sethostname": (0, 0),
    "settimeofday": (0, 0),
    "quotactl": (0, 0, 0, 0),
    "pidfd_getfd": (0, 0, 0),
    "clone": (0x10000000 | 17, 0, 0, 0, 0),
    "clone_of_mounts": (0x00020000 | 17, 0, 0, 0, 0),
}


@as_anybody
async def test_calls_that_reach_the_host_are_refused(box: Box, uid: int | None) -> None:
    calls = {name: (NUMBERS[name.partition("_of_")[0]], *words) for name, words in CALLS.items()}
    code = f"""
import ctypes, errno, json, os
libc = ctypes.CDLL(None, use_errno=True)
answers = {{}}
for name, words in {calls!r}.items():
    result = libc.syscall(*map(ctypes.c_long, words))
    if result == 0 and name.startswith("clone"):
        os._exit(0)
    answers[name] = errno.errorcode[ctypes.get_errno()] if result < 0 else "done"
print(json.dumps(answers))
"""
    assert await box.python(code, uid=uid) == dict.fromkeys(calls, "EPERM")


@as_anybody
async def test_odd_sockets_do_not_exist(box: Box, uid: int | None) -> None:
    code = """
import json, socket
answers = {}
for family in range(1, 46):
    try:
        socket.socket(family, socket.SOCK_RAW if family == 17 else socket.SOCK_DGRAM).close()
        answers[family] = True
    except OSError:
        pass
print(json.dumps(sorted(answers)))
"""
    assert set(await box.python(code, uid=uid)) == {1, 2, 10, 16}
    raw = "import json, socket\ntry:\n socket.socket(2, 3, 1)\n print('1')\nexcept PermissionError:\n print('0')"
    assert await box.python(raw, uid=uid) == 0


@as_anybody
async def test_nothing_is_typed_into_a_terminal_from_outside(box: Box, uid: int | None) -> None:
    code = """
import fcntl, json, os, termios
master, slave = os.openpty()
try:
    fcntl.ioctl(slave, termios.TIOCSTI, b"x")
    print("true")
except PermissionError:
    print("false")
"""
    assert await box.python(code, uid=uid) is False


@as_anybody
async def test_the_hosts_terminals_are_not_one_sandboxs_to_take(driver: LocalDriver, uid: int | None) -> None:
    box = await make(driver, replace(SMALL, open_files=2048))
    code = """
import json, os
held = []
try:
    while len(held) < 1500:
        held.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except OSError:
    pass
print(json.dumps(len(held)))
"""
    try:
        assert await box.python(code, uid=uid) == 256
        assert await box.python("import json, os\nprint(json.dumps(len(os.openpty())))", uid=uid) == 2
    finally:
        await driver.destroy(box.handle)


@as_anybody
async def test_the_hosts_pool_of_kernel_aio_is_closed(box: Box, uid: int | None) -> None:
    code = f"""
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
context = ctypes.c_ulong(0)
result = libc.syscall(ctypes.c_long({NUMBERS["io_setup"]}), ctypes.c_long(1024), ctypes.byref(context))
print(json.dumps([result, errno.errorcode[ctypes.get_errno()]]))
"""
    assert await box.python(code, uid=uid) == [-1, "ENOSYS"]


# --- network ----------------------------------------------------------------------------------------------------------


@as_anybody
async def test_the_network_ends_at_its_own_loopback(box: Box, uid: int | None) -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        addresses = ["127.0.0.1", "169.254.169.254", "8.8.8.8", *own_addresses()]
        code = f"""
import json, socket
reached = []
for address in {addresses!r}:
    with socket.socket() as client:
        client.settimeout(1)
        if client.connect_ex((address, {port})) == 0:
            reached.append(address)
print(json.dumps([reached, [name for _, name in socket.if_nameindex()]]))
"""
        reached, interfaces = await box.python(code, uid=uid)
    assert reached == []
    assert not [name for name in interfaces if not re.match(r"lo|tunl|sit|gre|erspan|ip6|ip_vti", name)]


def own_addresses() -> list[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return []
        return [probe.getsockname()[0]]


async def test_its_own_loopback_works_even_for_low_ports(box: Box) -> None:
    code = """
import json, socket
server = socket.create_server(("127.0.0.1", 80))
client = socket.create_connection(("127.0.0.1", 80))
print(json.dumps(client.getpeername()[1]))
"""
    assert await box.python(code) == 80


@as_anybody
async def test_abstract_sockets_of_the_host_are_out_of_reach(box: Box, uid: int | None) -> None:
    name = f"arenero-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + name)
        server.listen()
        code = f"import json, socket\nprint(json.dumps(socket.socket(1).connect_ex('\\0{name}')))"
        assert await box.python(code, uid=uid) != 0


# --- other sandboxes and the driver -----------------------------------------------------------------------------------


async def test_sandboxes_do_not_see_each_other(box: Box, fresh: Box) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    sleeper = asyncio.ensure_future(box.run(f"exec -a {mark} sleep 20"))  # noqa: TID251 - awaited below
    try:
        await wait_for(lambda: any(mark in shown for shown in commands()))
        await box.run(f"echo {mark} > /var/tmp/{mark}; echo {mark} > /dev/shm/{mark}")
        seen = await fresh.run(f"pgrep -f {mark[:-1]}; cat /proc/*/cmdline; find / -name '{mark}'", uid=0)
        assert f"{mark}\n" not in seen.out
        assert "/var/tmp" not in seen.out
        assert "/dev/shm" not in seen.out
    finally:
        await box.run("pkill -x sleep")
        await sleeper


def commands() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_text())
        except OSError:
            continue
    return found


async def test_sandboxes_have_users_of_their_own(box: Box, fresh: Box) -> None:
    owners = []
    for one in (box, fresh):
        lines = Path(f"/proc/{one.init_pid}/uid_map").read_text().split()
        owners.append(range(int(lines[1]), int(lines[1]) + int(lines[2])))
        # Hidden: what it has of its own is shown as the host's root's.
        assert os.stat(f"/proc/{one.init_pid}/environ").st_uid == 0
        assert int(re.findall(r"Uid:\s+(\d+)", Path(f"/proc/{one.init_pid}/status").read_text())[0]) in owners[-1]
    assert not set(owners[0]) & set(owners[1])
    assert all(owner.start >= 100_000 for owner in owners)


async def test_execds_own_processes_hold_nothing_of_the_host(box: Box) -> None:
    counters = r"/arenero/[\w/]+/(memory|cpu|cpuacct)\.\w+"
    allowed = re.compile(rf"(socket|pipe):\[\d+\]|anon_inode:.*|/dev/null|/memfd:.*|/proc/1/oom_score_adj|/|{counters}")
    root = os.stat("/")
    children = Path(f"/proc/{box.init_pid}/task/{box.init_pid}/children").read_text().split()
    for pid in (box.init_pid, *map(int, children)):
        for path in Path(f"/proc/{pid}/fd").iterdir():
            leads_to = os.readlink(path)
            assert allowed.fullmatch(leads_to), leads_to
            # A directory is the sandbox's root, or its control group as the root of a mount: nothing lies above.
            assert not os.path.samestat(path.stat(), root)


@as_anybody
async def test_execds_socket_is_out_of_reach_and_cannot_be_replaced(box: Box, uid: int | None) -> None:
    script = "ls -A /run/arenero; ln -s /run/docker.sock /run/arenero/execd.sock && echo replaced; touch /run/arenero/x"
    tried = await box.run(script, uid=uid)
    assert tried.out == ""
    assert (await box.run("echo alive")).out == "alive\n"


@as_anybody
async def test_control_groups_cannot_be_changed(box: Box, uid: int | None) -> None:
    script = """
grep cgroup /proc/self/mounts | grep -v ' ro,' && echo writable
find /sys -name release_agent
for f in $(find /sys/fs/cgroup -name 'cgroup.procs' -o -name 'memory.*limit*' -o -name memory.max -o -name pids.max)
do (echo 1 > $f) 2>/dev/null && echo wrote $f; done
cat /proc/self/cgroup
"""
    seen = (await box.run(script, uid=uid)).out
    assert "wrote" not in seen
    assert "writable" not in seen
    assert "release_agent" not in seen
    groups = [line.partition("::")[2] or line.split(":")[2] for line in seen.splitlines() if re.match(r"\d+:", line)]
    assert not [path for path in groups if "arenero" in path]


# --- limits -----------------------------------------------------------------------------------------------------------


async def test_a_fork_bomb_is_held_and_execd_answers(fresh: Box) -> None:
    code = """
import os, time
while True:
    try:
        if os.fork() == 0:
            time.sleep(60)
    except BlockingIOError:
        break
print(len([p for p in os.listdir("/proc") if p.isdigit()]))
time.sleep(60)
"""
    bomb = asyncio.ensure_future(fresh.run(argv=("/usr/bin/python3", "-c", code)))  # noqa: TID251 - awaited below
    try:
        assert SMALL.pids is not None
        await wait_for(lambda: processes_of(fresh) > SMALL.pids - 10)
        assert processes_of(fresh) < SMALL.pids + 80
        await asyncio.sleep(0.5)
    finally:
        # No room for another process: what is running must be ended from outside or by execd itself.
        await asyncio.to_thread(subprocess.run, ["pkill", "-9", "-P", str(fresh.init_pid)], check=False)
        bomb.cancel()


def processes_of(box: Box) -> int:
    text = Path(f"/proc/{box.init_pid}/cgroup").read_text()
    path = next(line.split(":")[2] for line in text.splitlines() if ":pids:" in line or line.startswith("0::"))
    for parent in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup"):
        file = Path(parent + path.removesuffix("/init"), "pids.current")
        if file.exists():
            return int(file.read_text())
    raise AssertionError("no pids.current")


async def test_a_memory_hog_is_killed_and_told_and_execd_lives(driver: LocalDriver, fresh: Box) -> None:
    hog = await fresh.run(argv=("/usr/bin/python3", "-c", "x = bytearray(1 << 30)"))
    assert hog.signal == 9
    assert hog.ended.cause == exec_pb2.END_CAUSE_OUT_OF_MEMORY
    assert (await driver.stats(fresh.handle)).oom_kills == 1
    assert (await fresh.run("echo alive; cat /proc/self/oom_score_adj")).out == "alive\n500\n"


@as_anybody
async def test_a_disk_hog_meets_its_limit_and_harms_nobody(driver: LocalDriver, uid: int | None) -> None:
    box = await make(driver)
    try:
        hog = await box.run("head -c 500M /dev/zero > /var/tmp/hog; stat -c %s /var/tmp/hog", uid=uid)
        assert "No space left" in hog.err
        assert 50 * MIB < int(hog.out) < 80 * MIB
        stats = await driver.stats(box.handle)
        assert stats.disk_bytes is not None
        assert stats.disk_bytes < 90 * MIB
        assert (await box.run("rm /var/tmp/hog; echo ok > /var/tmp/small; cat /var/tmp/small", uid=uid)).out == "ok\n"
    finally:
        await driver.destroy(box.handle)


@as_anybody
async def test_memory_file_systems_are_limited_too(box: Box, uid: int | None) -> None:
    fill = "head -c 300M /dev/zero > $d/hog; du -m $d/hog; rm -f $d/hog"
    script = f"for d in /dev/shm /run /run/lock /dev /sys; do {fill}; done"
    sizes = [int(line.split()[0]) for line in (await box.run(script, uid=uid)).out.splitlines()]
    assert max(sizes) <= 65


async def test_files_are_limited_per_process(box: Box) -> None:
    code = "import json, resource\nprint(json.dumps(resource.getrlimit(resource.RLIMIT_NOFILE)))"
    assert await box.python(code) == [SMALL.open_files, SMALL.open_files]


async def test_processor_time_is_limited(driver: LocalDriver) -> None:
    box = await make(driver, Resources(cpus=0.2, memory_bytes=128 * MIB, pids=64))
    try:
        code = "import time; end = time.time() + 2\nwhile time.time() < end: pass\nprint(time.process_time())"
        used = await box.python(code)
        assert used < 0.2 * 2 * 1.6
    finally:
        await driver.destroy(box.handle)


# --- the end ----------------------------------------------------------------------------------------------------------


async def test_nothing_is_left_after_a_sandbox_that_fought(driver: LocalDriver) -> None:
    before = host_state()
    box = await make(driver)
    daemon = "setsid sh -c 'trap \"\" TERM HUP INT; while true; do sleep 1; done' >/dev/null 2>&1 </dev/null &"
    await box.run(f"for i in 1 2 3; do {daemon} done; mkdir -p /var/tmp/a/b; chmod 000 /var/tmp/a", uid=0)
    await driver.destroy(box.handle)
    await wait_for(lambda: host_state() == before)
    assert not box.directory.exists()


def host_state() -> dict[str, Any]:
    return {
        "mounts": sorted(line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()),
        "groups": sorted(str(path) for path in Path("/sys/fs/cgroup").glob("*/arenero/*/*")),
        "loops": sorted(
            str(path) for path in Path("/sys/block").glob("loop*/loop/backing_file") if "arn-" in read(path)
        ),
        "sandboxes": sorted(
            path.read_text() for path in Path("/proc").glob("[0-9]*/comm") if "arenero-in" in read(path)
        ),
    }


def read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


async def test_a_lease_ends_a_sandbox_though_nobody_asks(driver: LocalDriver) -> None:
    """The control plane may be away: the sandbox's own first process keeps the time."""
    start = time.monotonic()
    box = await make(driver, ttl_s=1.0)
    facts = await asyncio.wait_for(driver.wait(box.handle), 15)
    assert time.monotonic() - start >= 1
    assert (facts.exit_code, facts.oom_killed) == (72, False)
    await driver.destroy(box.handle)
