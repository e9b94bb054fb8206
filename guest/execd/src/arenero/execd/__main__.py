"""execd by itself: `python -m arenero.execd`, as an image's first process or under an init that is there already.

The process becomes init and forks the server. What the sandbox is comes from a plan (JSON, as `InitPlan` writes it);
the options stand above it. Without a plan, execs run as whoever started this.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from arenero.execd import init, preload, wiring
from arenero.execd.accounts import Accounts
from arenero.execd.plan import InitPlan, Login

CONFIG_ERROR = 1


def main(argv: Sequence[str]) -> NoReturn:
    """Become init, or exit at once when the options are wrong."""
    try:
        plan = plan_of(_parse(argv))
    except (OSError, ValueError, TypeError) as error:
        sys.stderr.write(f"execd: {error}\n")
        sys.exit(CONFIG_ERROR)
    preload.load()
    os.chdir("/")
    init.main(plan, lambda: plan, wiring.serve)


def plan_of(options: argparse.Namespace) -> InitPlan:
    """Return the plan that the options describe.

    Raises:
        OSError: A file can't be read.
        ValueError: The plan is wrong, or there is no key to check callers' tokens with.
    """
    values: dict[str, Any] = {"sandbox_id": "standalone", "login": dataclasses.asdict(_own_login())}
    if options.plan:
        values |= json.loads(sys.stdin.read() if options.plan == "-" else Path(options.plan).read_text())
    if options.public_key:
        values["public_key_hex"] = Path(options.public_key).read_text().strip()
    stated = {"listen": options.listen, "sandbox_id": options.sandbox_id, "ttl_s": options.ttl}
    values |= {name: value for name, value in stated.items() if value is not None}
    values["insecure"] = options.insecure
    plan = InitPlan.from_json(values)
    if not plan.insecure and len(bytes.fromhex(plan.public_key_hex)) != 32:
        raise ValueError("there is no key to check tokens with: give --public-key, or --insecure to serve everybody")
    return plan


def _own_login() -> Login:
    uid, gid = os.getuid(), os.getgid()
    account = Accounts().read().find_user(str(uid))
    if account is None or not account.name:
        return Login(uid, gid, str(uid), "/", "/", "/bin/sh")
    return Login(uid, gid, account.name, account.home, account.home, account.shell or "/bin/sh")


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m arenero.execd", allow_abbrev=False)
    parser.add_argument("--plan", metavar="FILE", help="JSON plan of the sandbox; - for standard input")
    parser.add_argument("--listen", metavar="ADDRESS", help="unix:/path or host:port")
    parser.add_argument("--sandbox-id", metavar="ID", help="id that tokens must name")
    parser.add_argument("--public-key", metavar="FILE", help="Ed25519 key, 64 hexadecimal digits, that signs tokens")
    parser.add_argument("--ttl", type=float, metavar="SECONDS", help="end the sandbox after this time")
    parser.add_argument("--insecure", action="store_true", help="serve whoever can connect, without tokens")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main(sys.argv[1:])
