"""One run of the local driver in a process of its own, with as few rights as its caller left it.

    python -m tests.security.local_scenario DIRECTORY LEVEL COMMAND...

prints JSON: how sandboxes are isolated here, what the asked level became, and what each command in a sandbox of that
level did. With `--as-in-a-container` in front it first gives up what Docker's default profile refuses.
"""

import asyncio
import json
import os
import sys
import tempfile
from typing import Any

from arenero.errors import ArenError
from arenero.isolation import capabilities, seccomp, syscalls
from arenero.model.spec import IsolationLevel
from tests.security.local_sandboxes import make, opened

CONTAINER: frozenset[str] = frozenset(
    {"CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID"}
    | {"SETFCAP", "SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"}
)


def give_up_as_in_a_container() -> None:
    """Keep the capabilities of a container's root, and be refused namespaces and mounts."""
    if os.geteuid() == 0:
        kept = capabilities.mask_of(CONTAINER)
        for number in range(len(capabilities.NAMES)):
            if not kept >> number & 1:
                syscalls.prctl(syscalls.PR_CAPBSET_DROP, number)
        capabilities.write(kept, kept, 0)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.install(seccomp.compile_default())


async def run(level: IsolationLevel, commands: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    async with opened() as driver:
        fingerprint = await driver.open() if not driver.capabilities.sources else None
        found["capabilities"] = driver.capabilities.names()
        found["reason"] = fingerprint.reason if fingerprint else ""
        try:
            box = await make(driver, isolation_level=level)
        except ArenError as error:
            return {**found, "refused": error.reason, "fix": error.fix}
        found["features"] = list(box.started.isolation.features)
        found["missing"] = list(box.started.isolation.missing)
        found["ran"] = [(o.code, o.out, o.err) for o in [await box.run(command) for command in commands]]
        await driver.destroy(box.handle)
        found["held"] = sorted(await driver.list_held())
    return found


if __name__ == "__main__":
    directory, level, *commands = sys.argv[1:]
    if directory == "--as-in-a-container":
        directory, level, *commands = sys.argv[2:]
        give_up_as_in_a_container()
    tempfile.tempdir = directory
    print(json.dumps(asyncio.run(run(IsolationLevel(level), commands))))
