"""The system calls that a sandbox may do: an allow list, compiled to a classic BPF program.

The list follows Docker's default profile for a container without capabilities. Where we differ on purpose:

- `socket` knows the families that programs use (Unix, IPv4, IPv6, netlink) and refuses the rest as unknown. Docker
  refuses single families after each kernel hole.
- The calls of kernel AIO (`io_setup` and its kin) are unknown, as in a kernel without it: their contexts come out of
  one pool of the host (`fs.aio-max-nr`, 65536 events) that a single process can take whole, and no limit divides it.
  Programs know that answer and use threads or plain reads instead.
- `ioctl` refuses TIOCSTI and TIOCLINUX, which type into a terminal from outside.
- Programs of another architecture (i386, x32) are killed: the list is for one set of numbers.

What is not on the list fails with EPERM, and what this table has never heard of with ENOSYS, so that a libc newer than
the table falls back to an older call. `clone3` fails with ENOSYS too: a filter can't look into its argument block, and
libc then uses `clone`, whose flags it can see.

The program is a binary search over ranges of numbers: about eight comparisons for any call. The kernel remembers which
numbers are allowed without a look at arguments, so most calls never run it.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from arenero.isolation import syscalls
from arenero.isolation.syscall_numbers import numbers_of

ALLOW: Final = 0x7FFF0000
KILL_PROCESS: Final = 0x80000000
_ERRNO: Final = 0x00050000
EPERM: Final = _ERRNO | errno.EPERM
ENOSYS: Final = _ERRNO | errno.ENOSYS
EAFNOSUPPORT: Final = _ERRNO | errno.EAFNOSUPPORT

AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT: Final = 0x40000000

NAMESPACE_FLAGS: Final = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
PERSONALITIES: Final = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
SOCKET_FAMILIES: Final = (1, 2, 10, 16)
OFFLINE_FAMILIES: Final = (1, 16)
TERMINAL_IOCTLS: Final = (0x5412, 0x541C)
KERNEL_AIO: Final = ("io_setup", "io_destroy", "io_getevents", "io_pgetevents", "io_submit", "io_cancel")

_ALLOWED: Final = """
    accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown clock_adjtime
    clock_getres clock_gettime clock_nanosleep close close_range connect copy_file_range creat dup dup2 dup3
    epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd
    eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fanotify_mark fchdir fchmod
    fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr file_getattr flistxattr flock fork fremovexattr
    fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake futimesat getcpu
    getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid
    getpriority getrandom getresgid getresuid getrlimit get_robust_list getrusage getsid getsockname getsockopt
    get_thread_area gettid gettimeofday getuid getxattr getxattrat inotify_add_watch inotify_init inotify_init1
    inotify_rm_watch ioprio_get ioprio_set kill
    landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen listxattr
    listxattrat llistxattr lremovexattr lseek lsetxattr lstat madvise map_shadow_stack membarrier memfd_create
    memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap modify_ldt mprotect mq_getsetattr
    mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock
    munlockall munmap name_to_handle_at nanosleep newfstatat open openat openat2 pause pidfd_open pidfd_send_signal
    pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 process_mrelease
    process_vm_readv process_vm_writev pselect6 ptrace pwrite64 pwritev pwritev2 read readahead readlink readlinkat
    readv recvfrom recvmmsg recvmsg remap_file_pages removexattr removexattrat rename renameat renameat2
    restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
    rt_sigtimedwait rt_tgsigqueueinfo sched_getaffinity sched_getattr sched_getparam sched_get_priority_max
    sched_get_priority_min sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam
    sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto
    setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit
    set_robust_list setsid setsockopt set_thread_area set_tid_address setuid setxattr setxattrat shmat shmctl shmdt
    shmget shutdown sigaltstack signalfd signalfd4 socketpair splice stat statfs statx symlink symlinkat sync
    sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete timerfd_create timerfd_gettime
    timerfd_settime timer_getoverrun timer_gettime timer_settime times tkill truncate umask uname unlink unlinkat
    uretprobe utime utimensat utimes vfork vmsplice wait4 waitid write writev
"""
ALLOWED: Final = frozenset(_ALLOWED.split())

# Instruction codes: class, size, mode and operation of linux/bpf_common.h put together.
_LOAD_WORD: Final = 0x20
_RETURN: Final = 0x06
_JUMP: Final = 0x05
_IF_EQUAL: Final = 0x15
_IF_AT_LEAST: Final = 0x35
_IF_SET: Final = 0x45
_NUMBER_OFFSET: Final = 0
_ARCH_OFFSET: Final = 4
_ARGUMENTS_OFFSET: Final = 16
_SET_MODE_FILTER: Final = 1

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, operand: a `struct sock_filter`."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Compare the low 32 bits of an argument with a list."""

    argument: int
    values: tuple[int, ...]
    then: int
    otherwise: int

    def compile(self) -> list[Instruction]:
        """Load, compare with each, return."""
        tests = [(_IF_EQUAL, len(self.values) - at, 0, value) for at, value in enumerate(self.values)]
        return [_load_argument(self.argument), *tests, _answer(self.otherwise), _answer(self.then)]


@dataclass(frozen=True, slots=True)
class AnyBit:
    """Test the low 32 bits of an argument against a mask."""

    argument: int
    mask: int
    then: int
    otherwise: int

    def compile(self) -> list[Instruction]:
        """Load, test, return."""
        return [
            _load_argument(self.argument),
            (_IF_SET, 0, 1, self.mask),
            _answer(self.then),
            _answer(self.otherwise),
        ]


Verdict = int | OneOf | AnyBit

CONDITIONAL: Final[Mapping[str, Verdict]] = {
    "clone": AnyBit(0, NAMESPACE_FLAGS, then=EPERM, otherwise=ALLOW),
    "clone3": ENOSYS,
    **dict.fromkeys(KERNEL_AIO, ENOSYS),
    "ioctl": OneOf(1, TERMINAL_IOCTLS, then=EPERM, otherwise=ALLOW),
    "personality": OneOf(0, PERSONALITIES, then=ALLOW, otherwise=EPERM),
    "socket": OneOf(0, SOCKET_FAMILIES, then=ALLOW, otherwise=EAFNOSUPPORT),
}


def verdict_of(name: str, *, offline: bool = False) -> Verdict:
    """Return what becomes of a call that the table knows."""
    if offline and name == "socket":
        return OneOf(0, OFFLINE_FAMILIES, then=ALLOW, otherwise=EAFNOSUPPORT)
    return CONDITIONAL.get(name, ALLOW if name in ALLOWED else EPERM)


@cache
def compile_default(machine: str = syscalls.MACHINE, *, offline: bool = False) -> bytes:
    """Return the program for one architecture, as an array of `struct sock_filter`. The result is remembered.

    Args:
        machine: As `uname -m` says it.
        offline: Refuse IP sockets altogether: for a sandbox without a network namespace, to which nothing else denies
            the host's network.

    Raises:
        ValueError: There is no table for that architecture.
    """
    program = [
        (_LOAD_WORD, 0, 0, _ARCH_OFFSET),
        (_IF_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        _answer(KILL_PROCESS),
        (_LOAD_WORD, 0, 0, _NUMBER_OFFSET),
    ]
    if machine == "x86_64":
        program += [(_IF_AT_LEAST, 0, 1, _X32_BIT), _answer(KILL_PROCESS)]
    program += _search(_ranges(numbers_of(machine), offline))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def install(program: bytes) -> None:
    """Bind this thread, and all that it starts, to a program for ever. `no_new_privs` must be set already."""
    instructions = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("@HxxxxxxQ", len(program) // 8, ctypes.addressof(instructions))
    syscalls.call("seccomp", _SET_MODE_FILTER, 0, fprog)


def _ranges(numbers: Mapping[str, int], offline: bool) -> list[tuple[int, Verdict]]:
    """Return (first number, verdict) of every run of equal verdicts, from 0 to the end of the 32 bits."""
    by_number = {number: verdict_of(name, offline=offline) for name, number in numbers.items()}
    ranges: list[tuple[int, Verdict]] = []
    for number in range(max(by_number) + 2):
        verdict = by_number.get(number, ENOSYS)
        if not ranges or ranges[-1][1] != verdict:
            ranges.append((number, verdict))
    return ranges


def _search(ranges: Sequence[tuple[int, Verdict]]) -> list[Instruction]:
    """Return the binary search for the range that holds the number in the accumulator."""
    if len(ranges) == 1:
        verdict = ranges[0][1]
        return [_answer(verdict)] if isinstance(verdict, int) else verdict.compile()
    middle = len(ranges) // 2
    low, high = _search(ranges[:middle]), _search(ranges[middle:])
    first_high = ranges[middle][0]
    if len(low) <= 255:
        return [(_IF_AT_LEAST, len(low), 0, first_high), *low, *high]
    # A conditional jump reaches 255 instructions; an unconditional one all of them.
    return [(_IF_AT_LEAST, 0, 1, first_high), (_JUMP, 0, 0, len(low)), *low, *high]


def _answer(action: int) -> Instruction:
    return (_RETURN, 0, 0, action)


def _load_argument(index: int) -> Instruction:
    """Load the low half of an argument. The kernel takes the arguments that are tested here as 32 bits itself."""
    return (_LOAD_WORD, 0, 0, _ARGUMENTS_OFFSET + 8 * index)
