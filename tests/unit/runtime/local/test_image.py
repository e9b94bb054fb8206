"""OCI image layouts, whole and damaged."""

import bz2
import gzip
import hashlib
import json
import lzma
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arenero.errors import InvalidArgument, ResourceExhausted, Unsupported
from arenero.runtime.local.image import Image, Layout
from arenero.runtime.local.unpack import Budget
from tests.unit.runtime.local.test_unpack import layer

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
OWN = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


class Maker:
    """Writes an image layout."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "blobs/sha256").mkdir(parents=True)

    def blob(self, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        (self.path / "blobs/sha256" / digest).write_bytes(content)
        return f"sha256:{digest}"

    def json(self, values: Any) -> str:
        return self.blob(json.dumps(values).encode())

    def image(self, *layers: bytes, config: Any = None) -> str:
        manifest = {
            "config": {"digest": self.json({"config": config or {}})},
            "layers": [{"mediaType": "tar", "digest": self.blob(content)} for content in layers],
        }
        return self.json(manifest)

    def index(self, *manifests: Any) -> Layout:
        (self.path / "index.json").write_text(json.dumps({"manifests": list(manifests)}))
        return Layout(self.path)


@pytest.fixture
def maker(tmp_path: Path) -> Maker:
    return Maker(tmp_path / "layout")


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    directory = tmp_path / "unpacked"
    directory.mkdir()
    return directory


def unpack(layout: Layout, image: Image, parent: Path, most_bytes: int = 10**6) -> Path:
    return layout.unpack(image, parent, Budget(most_bytes, 100), own_ids=False)


def entry(digest: str, name: str = "", **more: Any) -> dict[str, Any]:
    annotations = {"org.opencontainers.image.ref.name": name} if name else {}
    return {"mediaType": MANIFEST, "digest": digest, "annotations": annotations, **more}


def test_the_only_image_is_found_with_its_defaults(maker: Maker) -> None:
    config = {"Env": ["PATH=/bin", "EMPTY=", "odd"], "User": "app", "WorkingDir": "/srv"}
    digest = maker.image(config=config)
    image = maker.index(entry(digest)).find("")
    assert (image.digest, image.user, image.workdir) == (digest, "app", "/srv")
    assert image.env == {"PATH": "/bin", "EMPTY": "", "odd": ""}


def test_images_are_told_apart_by_name(maker: Maker) -> None:
    one, two = maker.image(config={"User": "1"}), maker.image(config={"User": "2"})
    layout = maker.index(entry(one, "a:1"), entry(two, "a:2"))
    assert layout.find("a:2").user == "2"
    for reference in ("", "a:3"):
        with pytest.raises(InvalidArgument, match="images"):
            layout.find(reference)


def test_of_several_platforms_this_machines_is_taken(maker: Maker) -> None:
    other, own = maker.image(config={"User": "other"}), maker.image(config={"User": "own"})
    index = maker.json(
        {
            "manifests": [
                entry(other, platform={"architecture": "riscv64"}),
                entry(own, platform={"architecture": OWN}),
            ]
        }
    )
    assert maker.index({"mediaType": INDEX, "digest": index}).find("").user == "own"


def test_an_image_for_other_machines_is_refused(maker: Maker) -> None:
    index = maker.json({"manifests": [entry(maker.image(), platform={"architecture": "riscv64"})]})
    with pytest.raises(Unsupported, match=OWN):
        maker.index({"mediaType": INDEX, "digest": index}).find("")


def test_an_index_that_names_itself_over_and_over_ends(maker: Maker) -> None:
    deep = maker.json({"manifests": [entry(maker.image(), platform={"architecture": OWN})]})
    for _ in range(5):
        deep = maker.json({"manifests": [{"mediaType": INDEX, "digest": deep, "platform": {"architecture": OWN}}]})
    with pytest.raises(InvalidArgument, match="lead nowhere"):
        maker.index({"mediaType": INDEX, "digest": deep}).find("")


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_layers_are_unpacked_however_they_are_compressed(
    maker: Maker, unpacked: Path, compress: Callable[[bytes], bytes]
) -> None:
    first = compress(layer(("a", "1"), ("b", "1")).getvalue())
    second = compress(layer(("b", "2"), (".wh.a", "")).getvalue())
    layout = maker.index(entry(maker.image(first, second)))
    root = unpack(layout, layout.find(""), unpacked)
    assert [(path.name, path.read_text()) for path in root.iterdir()] == [("b", "2")]


def test_an_image_is_unpacked_once(maker: Maker, unpacked: Path) -> None:
    layout = maker.index(entry(maker.image(layer(("a", "1")).getvalue())))
    root = unpack(layout, layout.find(""), unpacked)
    (root / "kept").write_text("")
    assert unpack(layout, layout.find(""), unpacked) == root
    assert (root / "kept").exists()


def test_zstd_is_named_as_what_is_missing(maker: Maker, unpacked: Path) -> None:
    layout = maker.index(entry(maker.image(b"\x28\xb5\x2f\xfd" + bytes(20))))
    with pytest.raises(Unsupported, match="zstd"):
        unpack(layout, layout.find(""), unpacked)


def test_nothing_is_left_of_an_image_that_cannot_be_unpacked(maker: Maker, unpacked: Path) -> None:
    for content, error in (
        (layer(("../x", "1")).getvalue(), InvalidArgument),
        (gzip.compress(layer(("a", "1")).getvalue())[:-20], InvalidArgument),
        (layer(("a", "x" * 5000)).getvalue(), ResourceExhausted),
    ):
        layout = maker.index(entry(maker.image(content)))
        with pytest.raises(error):
            unpack(layout, layout.find(""), unpacked, most_bytes=1000)
        assert list(unpacked.iterdir()) == []


def test_a_layer_with_other_content_than_its_name_says_is_refused(maker: Maker, unpacked: Path) -> None:
    digest = maker.image(layer(("a", "1")).getvalue())
    layout = maker.index(entry(digest))
    image = layout.find("")
    blob = maker.path / "blobs/sha256" / image.layers[0][1].removeprefix("sha256:")
    blob.write_bytes(layer(("a", "2")).getvalue())
    with pytest.raises(InvalidArgument, match="other content"):
        unpack(layout, image, unpacked)


@pytest.mark.parametrize(
    "digest", ["", "sha256:short", "sha512:" + "0" * 64, "sha256:../../../etc/passwd", "sha256:" + "0" * 64]
)
def test_odd_and_missing_digests_are_refused(maker: Maker, digest: str) -> None:
    with pytest.raises(InvalidArgument):
        maker.index(entry(digest)).find("")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"manifests": {}}', '{"manifests": [1]}', "{"])
def test_an_odd_index_is_refused(maker: Maker, text: str) -> None:
    (maker.path / "index.json").write_text(text)
    with pytest.raises(InvalidArgument):
        Layout(maker.path).find("")


def test_a_directory_that_is_no_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="image layout"):
        Layout(tmp_path).find("")
