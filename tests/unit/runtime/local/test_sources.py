import os
from pathlib import Path

import pytest

from arenero.errors import InvalidArgument, Unsupported
from arenero.model.spec import ImageSource, OciLayoutSource, RootfsSource, TemplateSource
from arenero.runtime.local.config import LocalConfig
from arenero.runtime.local.sources import Sources
from tests.unit.runtime.local.test_image import Maker, entry
from tests.unit.runtime.local.test_unpack import layer


@pytest.fixture
def state(tmp_path: Path) -> Path:
    state = tmp_path / "state"
    state.mkdir()
    return state


@pytest.fixture
def sources(state: Path, tmp_path: Path) -> Sources:
    config = LocalConfig(state_dir=state, allowed_sources=(tmp_path / "allowed",), etc_copies=())
    sources = Sources(config, own_ids=False)
    sources.open()
    return sources


async def test_the_template_host_is_the_default(sources: Sources) -> None:
    base = await sources.find(None)
    assert base == await sources.find(TemplateSource("host"))
    assert base.resolved.resolved == "template:host"
    assert base.resolved.digest
    assert Path(base.lower[0], "etc/passwd").is_file()


async def test_another_template_is_not_there(sources: Sources) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        await sources.find(TemplateSource("debian"))
    assert refusal.value.field == "spec.source.template"


async def test_a_root_file_system_below_an_allowed_directory(sources: Sources, tmp_path: Path) -> None:
    directory = tmp_path / "allowed/rootfs"
    directory.mkdir(parents=True)
    base = await sources.find(RootfsSource(str(directory)))
    assert base.lower == (str(directory),)
    assert base.login["uid"] == 0


@pytest.mark.parametrize("path", ["/", "/etc", "/root", "/allowed/../etc"])
async def test_directories_of_the_host_are_not_allowed(sources: Sources, path: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        await sources.find(RootfsSource(path))
    assert (refusal.value.reason, refusal.value.field) == ("SOURCE_NOT_ALLOWED", "spec.source.rootfs_directory")
    assert "allowed_sources" in refusal.value.fix


async def test_a_link_out_of_an_allowed_directory_is_not_allowed(sources: Sources, tmp_path: Path) -> None:
    (tmp_path / "allowed").mkdir()
    (tmp_path / "allowed/way").symlink_to("/etc")
    with pytest.raises(InvalidArgument, match="not below"):
        await sources.find(RootfsSource(str(tmp_path / "allowed/way")))


async def test_a_directory_that_is_not_there(sources: Sources, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="is not a directory"):
        await sources.find(RootfsSource(str(tmp_path / "allowed/none")))


async def test_an_image_brings_its_defaults(sources: Sources, tmp_path: Path, state: Path) -> None:
    maker = Maker(tmp_path / "allowed/image")
    config = {"Env": ["A=1"], "WorkingDir": "/srv", "User": "app"}
    maker.index(entry(maker.image(layer(("file", "x")).getvalue(), config=config), "app:1"))
    base = await sources.find(OciLayoutSource(str(maker.path), "app:1"))
    assert (base.env, base.login["cwd"], base.user) == ({"A": "1"}, "/srv", "app")
    assert Path(base.lower[0], "file").read_text() == "x"
    assert base.lower[0].startswith(str(state / "images"))
    assert base.resolved.digest.startswith("sha256:")


async def test_a_damaged_image_names_its_field(sources: Sources, tmp_path: Path) -> None:
    (tmp_path / "allowed").mkdir()
    with pytest.raises(InvalidArgument) as refusal:
        await sources.find(OciLayoutSource(str(tmp_path / "allowed")))
    assert refusal.value.field == "spec.source.oci_layout.path"


async def test_a_registry_is_not_asked(sources: Sources) -> None:
    with pytest.raises(Unsupported):
        await sources.find(ImageSource("debian:12"))


def test_directories_are_closed_to_others(sources: Sources, state: Path) -> None:
    assert sources is not None
    assert [oct(os.stat(state / name).st_mode & 0o777) for name in ("templates", "images", "sources")] == ["0o700"] * 3
