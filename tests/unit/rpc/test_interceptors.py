"""Names of spans."""

import pytest

from arenero.rpc.interceptors import span_name


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("/arenero.api.lifecycle.v1.SandboxService/Create", "lifecycle.sandbox.Create"),
        ("/arenero.api.execd.v1.ExecService/Run", "execd.exec.Run"),
        ("/arenero.api.execd.v1.CodeContextService/List", "execd.code_context.List"),
        ("/grpc.health.v1.Health/Check", "grpc.health.v1.Health/Check"),
        ("/Strange", "Strange"),
        ("", ""),
    ],
)
def test_span_is_named_by_area_noun_and_verb(method: str, name: str) -> None:
    assert span_name(method) == name
