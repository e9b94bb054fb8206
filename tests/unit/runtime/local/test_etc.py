"""The synthetic /etc, made from a host's /etc that holds secrets."""

import os
from pathlib import Path

import pytest

from arenero.runtime.local import etc


@pytest.fixture
def host(tmp_path: Path) -> Path:
    host = tmp_path / "host"
    for name in ("ssl/certs", "ssl/private", "alternatives", "ld.so.conf.d", "fonts/conf.d", "java-17-openjdk"):
        (host / name).mkdir(parents=True)
    files = {
        "passwd": "ann:x:1000:1000::/home/ann:/bin/zsh\n",
        "shadow": "root:$6$secret",
        "hosts": "10.0.0.1 intranet\n",
        "resolv.conf": "nameserver 10.0.0.1\n",
        "ssl/private/key.pem": "secret",
        "ssl/certs/ca-certificates.crt": "certificates",
        "ssl/openssl.cnf": "secret",
        "ld.so.cache": "cache",
        "ld.so.conf.d/x.conf": "/usr/lib/x",
        "fonts/fonts.conf": "fonts",
        "fonts/local.conf": "secret",
        "services": "http 80/tcp",
        "java-17-openjdk/java.security": "policy",
    }
    for name, content in files.items():
        (host / name).write_text(content)
        (host / name).chmod(0o600 if content.startswith("secret") or "$" in content else 0o644)
    (host / "ssl/certs/abcd.0").symlink_to("/usr/share/ca-certificates/a.crt")
    (host / "ssl/certs/local.pem").symlink_to("../private/key.pem")
    (host / "alternatives/editor").symlink_to("/usr/bin/vim")
    (host / "alternatives/mine").symlink_to("/home/ann/tool")
    (host / "localtime").symlink_to("/usr/share/zoneinfo/Etc/UTC")
    (host / "os-release").symlink_to("../usr/lib/os-release")
    return host


COPIES = ("fonts", "java-*-openjdk", "services", "shadow")


def made(host: Path, tmp_path: Path) -> Path:
    target = tmp_path / "etc"
    target.mkdir()
    etc.write_etc(target, COPIES, host)
    return target


def everything(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): os.readlink(path) if path.is_symlink() else path.read_text()
        for path in directory.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def test_nothing_secret_is_copied(host: Path, tmp_path: Path) -> None:
    content = everything(made(host, tmp_path))
    assert not [name for name, text in content.items() if "secret" in text or "ann" in text or "10.0.0.1" in text]
    assert "shadow" not in content
    assert os.listdir(tmp_path / "etc/ssl/private") == []


def test_what_programs_need_is_there(host: Path, tmp_path: Path) -> None:
    content = everything(made(host, tmp_path))
    assert content["ssl/certs/ca-certificates.crt"] == "certificates"
    assert content["ld.so.cache"] == "cache"
    assert content["ld.so.conf.d/x.conf"] == "/usr/lib/x"
    assert content["fonts/fonts.conf"] == "fonts"
    assert content["java-17-openjdk/java.security"] == "policy"
    assert content["services"] == "http 80/tcp"
    assert "sandbox:x:1000:1000:" in content["passwd"]
    assert content["mtab"] == "/proc/self/mounts"


def test_links_are_copied_when_they_stay_in_what_a_sandbox_sees(host: Path, tmp_path: Path) -> None:
    content = everything(made(host, tmp_path))
    assert content["ssl/certs/abcd.0"] == "/usr/share/ca-certificates/a.crt"
    assert content["alternatives/editor"] == "/usr/bin/vim"
    assert content["localtime"] == "/usr/share/zoneinfo/Etc/UTC"
    assert "ssl/certs/local.pem" not in content
    assert "alternatives/mine" not in content


def test_inputs_change_with_what_is_copied_and_with_nothing_else(host: Path) -> None:
    before = list(etc.inputs_of(COPIES, host))
    (host / "hosts").write_text("another")
    assert list(etc.inputs_of(COPIES, host)) == before
    (host / "services").write_text("another list")
    assert list(etc.inputs_of(COPIES, host)) != before
