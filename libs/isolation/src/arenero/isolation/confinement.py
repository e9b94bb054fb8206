"""How a process gives up its rights, once its surroundings are built. There is no way back from any of it.

The order matters. Identity comes first, while the right to change it is there; then the capabilities that execd itself
needs are all that is kept; `no_new_privs` makes sure that no program brings any back; the filter of system calls is
last, because it refuses most of what came before.
"""

from __future__ import annotations

import os
import resource
from typing import Final

from arenero.isolation import capabilities, landlock, seccomp, syscalls
from arenero.isolation.namespaces import Namespace

EXECD_CAPABILITIES: Final = frozenset(
    {"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETPCAP", "SETUID"}
)
"""What execd keeps, over its own user namespace: to change owners, use anybody's files inside, signal anybody,
become somebody, and take even that from what it starts. Programs that it starts have none."""


def enter_user_namespace(fd: int) -> None:
    """Become user 0 of a user namespace. Done as the host's root, who has every right over it."""
    syscalls.setns(fd, Namespace.USER)
    become(0, 0)


def become(uid: int, gid: int) -> None:
    """Change all user and group ids of this process; supplementary groups are dropped."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def limit_resources(processes: int | None) -> None:
    """Never dump core, use all descriptors that are allowed, and, where asked, limit the user's processes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if processes is not None:
        _, most = resource.getrlimit(resource.RLIMIT_NPROC)
        wanted = processes if most == resource.RLIM_INFINITY else min(processes, most)
        resource.setrlimit(resource.RLIMIT_NPROC, (wanted, wanted))


def hide() -> None:
    """Let nobody but the host's root look into this process: no ptrace, no reading of its memory or environment."""
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)


def give_up_rights(keep: frozenset[str], program: bytes | None, rules: landlock.Rules | None = None) -> None:
    """Keep these capabilities and nothing else, for ever; bind this process to a filter and to Landlock's rules."""
    capabilities.keep_only(keep)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if rules is not None:
        landlock.restrict(rules)
    if program is not None:
        seccomp.install(program)
