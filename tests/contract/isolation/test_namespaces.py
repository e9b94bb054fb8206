"""Namespaces and maps of ids on this kernel."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import forking, namespaces, syscalls
from arenero.isolation.namespaces import IdMap, Namespace
from tests.contract.isolation.running import trial

NOBODY = 65_534


def maps_ids() -> Any:
    runs = (IdMap(0, 700_000, 65_536),)
    fd = namespaces.make_user_namespace(runs, runs)

    def look() -> Any:
        syscalls.setns(fd, Namespace.USER)
        os.setgroups([])
        os.setresgid(5, 5, 5)
        os.setresuid(5, 5, 5)
        return Path("/proc/self/uid_map").read_text().split(), os.getuid(), os.stat("/").st_uid

    return forking.ask(look)


def has_loopback() -> Any:
    def look() -> Any:
        syscalls.unshare(Namespace.NETWORK)
        with socket.socket() as before:
            refused = before.connect_ex(("127.0.0.1", 9))
        namespaces.bring_up_loopback()
        with socket.socket() as server, socket.socket() as client:
            server.bind(("127.0.0.1", 0))
            server.listen()
            client.connect(server.getsockname())
        return refused, [name for _, name in socket.if_nameindex()]

    return forking.ask(look)


def probes() -> Any:
    inside = os.geteuid() != 0
    return {kind.name: namespaces.probe(kind, inside_user_namespace=inside) for kind in Namespace}


def probes_what_is_forbidden() -> Any:
    def look() -> Any:
        syscalls.unshare(Namespace.USER)
        Path("/proc/sys/user/max_uts_namespaces").write_text("0")
        return namespaces.probe(Namespace.UTS)

    return forking.ask(look)


@pytest.mark.root
def test_a_user_namespace_maps_the_ids_it_was_told() -> None:
    uid_map, uid, owner_of_root = trial(maps_ids)
    assert (uid_map, uid, owner_of_root) == (["0", "700000", "65536"], 5, NOBODY)


@pytest.mark.root
def test_a_network_namespace_has_loopback_once_it_is_up_and_nothing_else() -> None:
    refused, interfaces = trial(has_loopback)
    assert refused != 0
    assert "lo" in interfaces
    assert not [name for name in interfaces if name.startswith(("eth", "en", "wl"))]


@pytest.mark.root
def test_probing_finds_all_kinds_here_as_root() -> None:
    assert set(trial(probes).values()) == {""}


@pytest.mark.root
def test_probing_says_why_a_kind_is_refused() -> None:
    assert "No space left" in trial(probes_what_is_forbidden)
