"""Import rules that import-linter can't say: parts of a third party, undeclared dependencies."""

import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.style.sources import Module, distributions, modules, modules_of

MODULES = pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)


EDGE_PACKAGES = {"rpc", "gateway", "sdk", "cli"}
"""All edge: their whole business is what goes over the wire."""

EDGE_MODULES = {"codec", "servicer", "servicers", "subscriptions", "wiring"}
"""Where a service or a guest meets the wire, or turns messages into words of the model.

Also `<noun>_servicer` and `<noun>_client`.
"""


def is_edge(module: Module) -> bool:
    return (
        module.parts[0] in EDGE_PACKAGES
        or not EDGE_MODULES.isdisjoint(module.parts)
        or module.path.stem.endswith(("_servicer", "_client"))
    )


@MODULES
def test_grpc_stays_at_the_edges(module: Module) -> None:
    """Domain code raises `arenero.errors` and knows no transport; `host` serves and may ask for health."""
    grpc = [name for name in module.imports if name.partition(".")[0] in {"grpc", "grpc_health", "grpc_reflection"}]
    assert not grpc or is_edge(module) or module.parts[0] == "host"


@MODULES
def test_generated_messages_stay_at_the_edges(module: Module) -> None:
    """What is between the edges speaks in `arenero.model`; the bus carries events and so knows their message."""
    generated = [name for name in module.imports if name.startswith("arenero.api.")]
    assert not generated or is_edge(module) or module.parts[0] == "bus"


@MODULES
def test_otel_sdk_stays_in_telemetry(module: Module) -> None:
    """Everyone may start a span; only one place decides where spans go."""
    sdk = [name for name in module.imports if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))]
    assert not sdk or module.parts[0] in {"telemetry", "testing"}


@pytest.mark.parametrize("dist", distributions(), ids=lambda dist: dist.name)
def test_every_import_is_declared(dist: Path) -> None:
    """The shared environment has everything, so only this notices a dependency that an install alone would lack."""
    undeclared = {
        name: owner
        for name in foreign_imports(modules_of(dist))
        for owner in [owner_of(name)]
        if owner != own_name(dist) and owner not in declared(dist)
    }
    assert not undeclared


def foreign_imports(found: Iterable[Module]) -> set[str]:
    """What they import beyond the standard library."""
    names = {name for module in found for name in module.imports}
    return {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}


def owner_of(name: str) -> str:
    """The distribution that an imported name comes from."""
    top, _, rest = name.partition(".")
    if top == "arenero":
        return OWN[rest.partition(".")[0]]
    if top == "google":
        return "protobuf" if rest.startswith("protobuf") else "googleapis-common-protos"
    if top == "opentelemetry":
        return next((dist for prefix, dist in OPENTELEMETRY.items() if name.startswith(prefix)), "opentelemetry-api")
    [owner] = {normal(owner) for owner in packages_distributions()[top]}
    return owner


OPENTELEMETRY = {
    "opentelemetry.sdk": "opentelemetry-sdk",
    "opentelemetry.proto": "opentelemetry-proto",
    "opentelemetry.exporter.otlp.proto.common": "opentelemetry-exporter-otlp-proto-common",
    "opentelemetry.semconv": "opentelemetry-semantic-conventions",
}


def declared(dist: Path) -> set[str]:
    """Its dependencies and those of its extras, as normal names."""
    project = project_of(dist)
    extras = [line for lines in project.get("optional-dependencies", {}).values() for line in lines]
    return {normal(line) for line in [*project["dependencies"], *extras]}


def own_name(dist: Path) -> str:
    return str(project_of(dist)["name"])


def project_of(dist: Path) -> dict[str, dict[str, list[str]]]:
    return dict(tomllib.loads((dist / "pyproject.toml").read_text())["project"])


def normal(requirement: str) -> str:
    """`PyNaCl>=1.5` → pynacl."""
    name = requirement
    for separator in "[<>=!~; ":
        name = name.partition(separator)[0]
    return name.strip().lower().replace("_", "-")


OWN = {module.parts[0]: own_name(module.dist) for module in modules()} | {"api": "arenero-api"}
"""Which of our distributions holds which package of the namespace."""
