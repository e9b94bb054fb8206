"""The filter, run by a small interpreter of classic BPF: what each call gets, whatever its number and arguments."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arenero.isolation import seccomp
from arenero.isolation.seccomp import ALLOW, EAFNOSUPPORT, ENOSYS, EPERM, KILL_PROCESS, compile_default
from arenero.isolation.syscall_numbers import ARCHITECTURES, numbers_of

MACHINES = pytest.mark.parametrize("machine", ARCHITECTURES)
MOST_INSTRUCTIONS = 4096
CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET = 0x10000000, 0x00020000, 0x40000000
CLONE_OF_A_THREAD = 0x3D0F00


def run(program: bytes, number: int, arch: int, arguments: tuple[int, ...] = ()) -> int:
    """Return the verdict of a program on one call. Jumps out of the program raise."""
    words = (*arguments, *([0] * (6 - len(arguments))))
    data = struct.pack("<iIQ6Q", number - 2**32 if number >= 2**31 else number, arch, 0, *words)
    instructions = list(struct.iter_unpack("<HBBI", program))
    accumulator = at = 0
    while True:
        code, if_true, if_false, operand = instructions[at]
        at += 1
        match code:
            case 0x20:
                accumulator = struct.unpack_from("<I", data, operand)[0]
            case 0x06:
                return int(operand)
            case 0x05:
                at += operand
            case 0x15:
                at += if_true if accumulator == operand else if_false
            case 0x35:
                at += if_true if accumulator >= operand else if_false
            case 0x45:
                at += if_true if accumulator & operand else if_false
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


def verdict(machine: str, name: str, *arguments: int, offline: bool = False) -> int:
    program = compile_default(machine, offline=offline)
    return run(program, numbers_of(machine)[name], seccomp.AUDIT_ARCH[machine], arguments)


@MACHINES
def test_every_known_call_gets_what_the_lists_say(machine: str) -> None:
    for name in numbers_of(machine):
        if name in seccomp.CONDITIONAL:
            continue
        expected = ALLOW if name in seccomp.ALLOWED else EPERM
        assert verdict(machine, name) == expected, name


@MACHINES
@pytest.mark.parametrize(
    "name",
    [
        *("mount", "umount2", "unshare", "setns", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen"),
        *("bpf", "perf_event_open", "keyctl", "add_key", "request_key", "userfaultfd", "io_uring_setup"),
        *("kexec_load", "init_module", "finit_module", "delete_module", "open_by_handle_at", "quotactl", "reboot"),
        *("swapon", "settimeofday", "clock_settime", "acct", "syslog", "sethostname", "process_madvise", "kcmp"),
    ],
)
def test_what_reaches_the_host_is_refused(machine: str, name: str) -> None:
    assert verdict(machine, name) == EPERM


@MACHINES
@pytest.mark.parametrize("name", ["read", "write", "execve", "ptrace", "futex", "openat2", "landlock_create_ruleset"])
def test_what_programs_need_is_allowed(machine: str, name: str) -> None:
    assert verdict(machine, name) == ALLOW


@MACHINES
def test_clone_makes_threads_and_no_namespaces(machine: str) -> None:
    assert verdict(machine, "clone", CLONE_OF_A_THREAD) == ALLOW
    assert verdict(machine, "clone", 17) == ALLOW
    for flag in (CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET):
        assert verdict(machine, "clone", flag | 17) == EPERM


@MACHINES
def test_clone3_is_unknown_so_that_libc_falls_back(machine: str) -> None:
    assert verdict(machine, "clone3") == ENOSYS


@MACHINES
@pytest.mark.parametrize("name", ["io_setup", "io_submit", "io_destroy", "io_getevents", "io_pgetevents", "io_cancel"])
def test_kernel_aio_is_unknown_so_that_programs_do_without(machine: str, name: str) -> None:
    assert verdict(machine, name) == ENOSYS


@MACHINES
def test_sockets_of_usual_families_only(machine: str) -> None:
    allowed = {family for family in range(64) if verdict(machine, "socket", family) == ALLOW}
    assert allowed == {1, 2, 10, 16}
    assert verdict(machine, "socket", 40) == EAFNOSUPPORT
    assert {family for family in range(64) if verdict(machine, "socket", family, offline=True) == ALLOW} == {1, 16}


@MACHINES
@pytest.mark.parametrize("request_number", [0x5412, 0x541C, 0x5412 | 1 << 32])
def test_nothing_is_typed_into_a_terminal(machine: str, request_number: int) -> None:
    """The kernel looks at 32 bits of the request, so a filter must not be fooled by the others."""
    assert verdict(machine, "ioctl", 0, request_number) == EPERM
    assert verdict(machine, "ioctl", 0, 0x5413) == ALLOW


@MACHINES
def test_personalities_of_linux_only(machine: str) -> None:
    assert [verdict(machine, "personality", value) for value in seccomp.PERSONALITIES] == [ALLOW] * 5
    assert verdict(machine, "personality", 0x0400000) == EPERM


@MACHINES
@given(number=st.integers(0, 2**32 - 1))
def test_an_unknown_number_is_never_allowed(machine: str, number: int) -> None:
    if number not in set(numbers_of(machine).values()):
        answer = run(compile_default(machine), number, seccomp.AUDIT_ARCH[machine])
        assert answer in (ENOSYS, KILL_PROCESS)


@MACHINES
@given(arch=st.integers(0, 2**32 - 1), number=st.integers(0, 500))
def test_another_architecture_is_killed(machine: str, arch: int, number: int) -> None:
    if arch != seccomp.AUDIT_ARCH[machine]:
        assert run(compile_default(machine), number, arch) == KILL_PROCESS


def test_x32_is_killed() -> None:
    assert run(compile_default("x86_64"), 0x40000000 | 1, seccomp.AUDIT_ARCH["x86_64"]) == KILL_PROCESS


@MACHINES
@given(number=st.integers(0, 500), arguments=st.tuples(*[st.integers(0, 2**64 - 1)] * 3))
def test_it_always_comes_to_a_known_verdict(machine: str, number: int, arguments: tuple[int, ...]) -> None:
    answer = run(compile_default(machine), number, seccomp.AUDIT_ARCH[machine], arguments)
    assert answer in (ALLOW, EPERM, ENOSYS, EAFNOSUPPORT, KILL_PROCESS)


@MACHINES
def test_it_is_short(machine: str) -> None:
    assert len(compile_default(machine)) // 8 < MOST_INSTRUCTIONS // 10


def test_allowed_names_exist() -> None:
    known = set().union(*(numbers_of(machine) for machine in ARCHITECTURES))
    assert known >= seccomp.ALLOWED
    assert known >= set(seccomp.CONDITIONAL)


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises((KeyError, ValueError)):
        compile_default("s390x")


def test_refusals_carry_their_errno() -> None:
    assert (EPERM & 0xFFFF, ENOSYS & 0xFFFF) == (errno.EPERM, errno.ENOSYS)
