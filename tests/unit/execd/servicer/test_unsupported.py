"""What execd doesn't have answers with a reason."""

from __future__ import annotations

import pytest

from arenero.api.execd.v1 import code_service_pb2, code_service_pb2_grpc
from arenero.errors import Unsupported
from arenero.execd.servicer.unsupported import unsupported

SERVICE = code_service_pb2.DESCRIPTOR.services_by_name["CodeService"]


@pytest.mark.parametrize("name", [method.name for method in SERVICE.methods])
async def test_every_call_says_why(name: str) -> None:
    servicer = unsupported(code_service_pb2_grpc.CodeServiceServicer, SERVICE, "not here", "CODE_UNSUPPORTED")
    answer = getattr(servicer, name)(None, None)
    with pytest.raises(Unsupported) as caught:
        await (anext(answer) if SERVICE.methods_by_name[name].server_streaming else answer)
    assert caught.value.reason == "CODE_UNSUPPORTED"
