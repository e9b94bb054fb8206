"""Network policy: where a sandbox may connect to.

Rules are ordered and the first match decides; `default_action` decides the rest. No policy at all means no network
beyond the sandbox's own loopback, which is a caller's business: this module only says what a policy is and when it is
well formed. Matching a connection against it is the egress guest's work.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from arenero.model.fields import FieldError, check_integer

MAX_RULES: Final = 4096
MAX_HOST_BYTES: Final = 253
_HOST_LABEL: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")


class NetworkAction(Enum):
    """The verdict of a rule."""

    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class NetworkRule:
    """Allow or deny one kind of destination."""

    action: NetworkAction
    target: str
    """A domain name, `*.domain` (subdomains, not the apex), an IP address or a CIDR."""
    ports: tuple[int, ...] = ()
    """Destination ports; empty means all."""
    inspect: bool = False
    """Decrypt even without a credential binding, for hosts that share their address with others."""


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """Ordered rules and what happens to the rest."""

    default_action: NetworkAction = NetworkAction.DENY
    rules: tuple[NetworkRule, ...] = ()


def check_policy(field: str, policy: NetworkPolicy) -> Iterable[FieldError]:
    """Check a whole policy."""
    if len(policy.rules) > MAX_RULES:
        yield FieldError(f"{field}.rules", f"has {len(policy.rules)} rules; at most {MAX_RULES} are allowed")
        return
    for index, rule in enumerate(policy.rules):
        yield from check_target(f"{field}.rules[{index}].target", rule.target)
        yield from check_ports(f"{field}.rules[{index}].ports", rule.ports)


def check_ports(field: str, ports: tuple[int, ...]) -> Iterable[FieldError]:
    """Check ports: each from 1 to 65535, none twice."""
    seen: set[int] = set()
    for index, port in enumerate(ports):
        yield from check_integer(f"{field}[{index}]", port, low=1, high=65_535)
        if port in seen:
            yield FieldError(f"{field}[{index}]", f"names port {port} a second time")
        seen.add(port)


def check_target(field: str, target: str) -> Iterable[FieldError]:
    """Check a destination: a domain name, `*.domain`, an IP address or a CIDR."""
    if not target:
        yield FieldError(field, "is empty")
    elif not target.isascii() or any(not "!" <= char <= "~" for char in target):
        yield FieldError(field, "holds a space, control or non-ASCII character; write international names in punycode")
    elif _looks_like_address(target):
        yield from _check_address(field, target)
    else:
        yield from _check_host(field, target)


def _looks_like_address(target: str) -> bool:
    """Whether an address was meant, or some resolver would take it for one: a colon, a slash, a number at the end."""
    last = target.rstrip(".").rpartition(".")[2].lower()
    return ":" in target or "/" in target or last.isdigit() or last.startswith("0x")


def _check_address(field: str, target: str) -> Iterable[FieldError]:
    if "%" in target:
        yield FieldError(field, f"{target[:64]!r} names an interface; a policy can't")
        return
    try:
        network = ipaddress.ip_network(target, strict=False)
    except ValueError:
        yield FieldError(field, f"{target[:64]!r} is neither an IP address nor a CIDR")
        return
    if str(network.network_address) != str(ipaddress.ip_address(target.partition("/")[0])):
        yield FieldError(field, f"{target!r} has host bits set; did you mean {network}?")


def _check_host(field: str, target: str) -> Iterable[FieldError]:
    host = target.removeprefix("*.").removesuffix(".")
    if len(host) > MAX_HOST_BYTES:
        yield FieldError(field, f"has {len(host)} bytes; a domain name has at most {MAX_HOST_BYTES}")
    elif not all(_HOST_LABEL.fullmatch(label) for label in host.split(".")):
        yield FieldError(field, f"{target[:64]!r} is not a domain name; a wildcard may only lead, as in *.example.org")
