"""Processes and ports as /proc shows them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from arenero.execd import inventory


@pytest.mark.parametrize(
    ("place", "address"),
    [
        ("0100007F:1F90", "127.0.0.1"),
        ("00000000:1F90", "0.0.0.0"),
        ("00000000000000000000000001000000:1F90", "::1"),
        ("0000000000000000FFFF00000100007F:1F90", "::ffff:127.0.0.1"),
    ],
)
@pytest.mark.skipif(sys.byteorder != "little", reason="the examples are of a little-endian machine")
def test_address_is_in_the_machines_byte_order(place: str, address: str) -> None:
    assert inventory._address_of(place) == address


def test_listening_sockets_are_found_with_their_holder() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.create_server(("127.0.0.1", 0)) as other,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.create_connection(tcp.getsockname()) as client,
    ):
        udp.bind(("127.0.0.1", 0))
        ports = {(port.protocol, port.port): port for port in inventory.list_ports()}
        found = ports["tcp", tcp.getsockname()[1]]
        assert (found.address, found.pid) == ("127.0.0.1", os.getpid())
        assert ("tcp", other.getsockname()[1]) in ports
        assert ("udp", udp.getsockname()[1]) in ports
        assert ("tcp", client.getsockname()[1]) not in ports, "a connected socket doesn't listen"


def test_process_is_described_and_belongs_to_the_exec_of_its_session() -> None:
    with subprocess.Popen(["sh", "-c", "read x", "\xff"], stdin=subprocess.PIPE, start_new_session=True) as child:
        try:
            by_pid = {each.pid: each for each in inventory.list_processes({}, {child.pid: "the-exec"})}
        finally:
            child.kill()
    found = by_pid[child.pid]
    assert (found.parent, found.uid, found.exec_id) == (os.getpid(), os.getuid(), "the-exec")
    assert found.args == (b"sh", b"-c", b"read x", "\xff".encode())
    assert found.rss_bytes > 0
    assert os.getpid() not in by_pid, "execd's own are not the sandbox's"


def test_cgroup_of_an_exec_is_found_by_name() -> None:
    match = inventory._CGROUP.search(b"1:name=systemd:/x\n0::/box/exec-17/deeper\n")
    assert match is not None
    assert match.group(1) == b"exec-17"
    assert inventory._CGROUP.search(b"0::/box/init\n") is None
