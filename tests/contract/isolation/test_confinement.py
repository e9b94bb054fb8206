"""Giving up rights on this kernel: what is gone stays gone."""

import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import capabilities, confinement, landlock, namespaces, seccomp, syscalls
from arenero.isolation.namespaces import IdMap, Namespace
from tests.contract.isolation.running import trial

pytestmark = pytest.mark.root
RUNS = (IdMap(0, 700_000, 65_536),)


def enter() -> None:
    confinement.enter_user_namespace(namespaces.make_user_namespace(RUNS, RUNS))


def status(pid: int | str = "self") -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def gives_up() -> Any:
    enter()
    confinement.give_up_rights(confinement.EXECD_CAPABILITIES, seccomp.compile_default())
    ours = status()
    program = "import sys; sys.stdout.write(open('/proc/self/status').read())"
    theirs = subprocess.run(["/usr/bin/env", "python3", "-c", program], capture_output=True, text=True, check=False)
    inherited = dict(line.partition(":")[::2] for line in theirs.stdout.splitlines())
    return [
        sorted(capabilities.names_of(int(ours["CapEff"], 16))),
        sorted(capabilities.names_of(int(ours["CapBnd"], 16))),
        ours["NoNewPrivs"],
        ours["Seccomp"],
        int(inherited["CapEff"], 16),
        inherited["NoNewPrivs"].strip(),
        inherited["Seccomp"].strip(),
    ]


def is_refused() -> Any:
    enter()
    confinement.give_up_rights(frozenset(), seccomp.compile_default())
    refused = {}
    for name, act in {
        "unshare": lambda: syscalls.unshare(Namespace.USER),
        "mount": lambda: syscalls.mount("tmpfs", "/tmp", "tmpfs"),
        "setns": lambda: syscalls.setns(0, 0),
        "keyctl": lambda: syscalls.call("keyctl", 0, 0),
        "hostname": lambda: syscalls.sethostname("mine"),
        "root": lambda: os.setresuid(0, 0, 0),
        "chown": lambda: os.chown("/etc/passwd", 0, 0),
    }.items():
        try:
            act()
            refused[name] = "done"
        except OSError as error:
            refused[name] = os.strerror(error.errno or 0)
    return refused


def is_hidden(other: int) -> Any:
    try:
        os.readlink(f"/proc/{other}/exe")
    except PermissionError:
        return True
    return False


def hides_from_its_own_user() -> Any:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        enter()
        confinement.hide()
        os.write(writer, b"x")
        os.read(os.pipe()[0], 1)
    os.read(reader, 1)
    enter()
    hidden = is_hidden(pid)
    os.kill(pid, 9)
    return hidden


def is_limited() -> Any:
    confinement.limit_resources(processes=100)
    return [
        resource.getrlimit(resource.RLIMIT_CORE),
        resource.getrlimit(resource.RLIMIT_NPROC),
        len(set(resource.getrlimit(resource.RLIMIT_NOFILE))),
    ]


def lives_by_rules(directory: str) -> Any:
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    inside, outside = Path(directory, "inside"), Path(directory, "outside")
    inside.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("x")
    landlock.restrict(landlock.Rules(read_only=("/usr",), read_write=(str(inside),), tcp_connect=()))
    (inside / "file").write_text("mine")
    found = {"usr": bool(os.listdir("/usr"))}
    for name, act in {
        "read": lambda: (outside / "secret").read_text(),
        "write": lambda: (outside / "new").write_text(""),
        "list": lambda: os.listdir("/etc"),
    }.items():
        try:
            act()
            found[name] = True
        except PermissionError:
            found[name] = False
    return found


def test_execd_keeps_what_it_needs_and_programs_get_nothing() -> None:
    effective, bounding, no_new_privs, filtered, inherited, still, filtered_too = trial(gives_up)
    assert effective == bounding == sorted(confinement.EXECD_CAPABILITIES)
    assert (no_new_privs, filtered) == ("1", "2")
    assert (inherited, still, filtered_too) == (0, "1", "2")


def test_what_reaches_the_host_is_refused() -> None:
    denied = "Operation not permitted"
    refused = trial(is_refused)
    assert refused == dict.fromkeys(refused, denied) | {"root": refused["root"], "chown": refused["chown"]}
    assert refused["chown"] in (denied, "Value too large for defined data type")


def test_a_hidden_process_is_closed_to_its_own_user() -> None:
    assert trial(hides_from_its_own_user)


def test_no_core_is_dumped_and_processes_are_limited() -> None:
    assert trial(is_limited) == [[0, 0], [100, 100], 1]


def test_landlocks_rules_hold(tmp_path: Path) -> None:
    if not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    assert trial(lives_by_rules, str(tmp_path)) == {"usr": True, "read": False, "write": False, "list": False}
