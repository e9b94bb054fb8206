"""What this execd answers for. A service is made when it is called for the first time.

So a sandbox that nobody uses spends neither memory nor time on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arenero.api.execd.v1 import (
    code_service_pb2,
    code_service_pb2_grpc,
    exec_service_pb2,
    exec_service_pb2_grpc,
    file_service_pb2,
    file_service_pb2_grpc,
    isolation_service_pb2,
    isolation_service_pb2_grpc,
    lease_service_pb2,
    lease_service_pb2_grpc,
)
from arenero.execd.servicer.execs import ExecServicer
from arenero.execd.servicer.files import FileServicer
from arenero.execd.servicer.lease import LeaseServicer
from arenero.execd.servicer.payloads import parse_write
from arenero.execd.servicer.unsupported import unsupported
from arenero.rpc.server import RpcServer


def register(
    server: RpcServer,
    *,
    execs: Callable[[], ExecServicer],
    files: Callable[[], FileServicer],
    lease: Callable[[], LeaseServicer],
) -> None:
    """Register all services; each is made by what is given for it."""
    server.add_later(
        _name_of(exec_service_pb2, "ExecService"), exec_service_pb2_grpc.add_ExecServiceServicer_to_server, execs
    )
    server.add_later(
        _name_of(file_service_pb2, "FileService"),
        file_service_pb2_grpc.add_FileServiceServicer_to_server,
        files,
        parsers={"Write": parse_write},
    )
    server.add_later(
        _name_of(lease_service_pb2, "LeaseService"), lease_service_pb2_grpc.add_LeaseServiceServicer_to_server, lease
    )
    _register_unsupported(server)


def _register_unsupported(server: RpcServer) -> None:
    """Register what this execd doesn't have, so that reflection shows it and calls are answered with a reason."""
    server.add_later(
        _name_of(code_service_pb2, "CodeService"),
        code_service_pb2_grpc.add_CodeServiceServicer_to_server,
        lambda: unsupported(
            code_service_pb2_grpc.CodeServiceServicer,
            code_service_pb2.DESCRIPTOR.services_by_name["CodeService"],
            "this execd has no code contexts",
            "CODE_UNSUPPORTED",
        ),
    )
    server.add_later(
        _name_of(isolation_service_pb2, "IsolationService"),
        isolation_service_pb2_grpc.add_IsolationServiceServicer_to_server,
        lambda: unsupported(
            isolation_service_pb2_grpc.IsolationServiceServicer,
            isolation_service_pb2.DESCRIPTOR.services_by_name["IsolationService"],
            "this execd has no isolation sessions",
            "ISOLATION_UNSUPPORTED",
        ),
    )


def _name_of(module: Any, service: str) -> str:
    return str(module.DESCRIPTOR.services_by_name[service].full_name)
