import json
import os
from pathlib import Path

import bcrypt
import pytest

from arenero.bus import accounts
from arenero.bus.access import AccessFiles, NatsHandle
from arenero.bus.accounts import GRANTS, Subscriber
from arenero.errors import FailedPrecondition, Unavailable
from arenero.model.ids import TenantId, new_key_id


@pytest.fixture
def files(tmp_path: Path) -> AccessFiles:
    files = AccessFiles(tmp_path / "access")
    files.install()
    return files


def subscriber(tenant: str = "acme") -> Subscriber:
    return Subscriber(new_key_id(), TenantId(tenant), accounts.hash_password("secret"))


def test_each_service_gets_a_password_that_the_configuration_takes(files: AccessFiles) -> None:
    users = json.loads(files.config.read_text())["accounts"]["PLATFORM"]["users"]
    assert {user["user"] for user in users} == set(GRANTS)
    for user in users:
        assert bcrypt.checkpw(files.password(user["user"]).read_bytes(), user["password"].encode())


def test_nobody_else_can_read_them(files: AccessFiles) -> None:
    for folder, _, names in os.walk(files.directory):
        assert Path(folder).stat().st_mode & 0o777 == 0o700
        assert {Path(folder, name).stat().st_mode & 0o777 for name in names} == {0o600}


def test_configuration_has_no_password_in_the_clear(files: AccessFiles) -> None:
    content = "".join(path.read_text() for path in files.directory.glob("*.*"))
    assert not any(files.password(service).read_text() in content for service in GRANTS)


def test_second_install_keeps_passwords_and_subscribers(files: AccessFiles) -> None:
    one = subscriber()
    files.write_subscribers([one])
    before = files.password("gateway").read_text()
    files.install()
    assert files.password("gateway").read_text() == before
    assert files.subscribers() == [one]
    assert one.account in json.loads(files.config.read_text())["accounts"]


def test_subscriber_that_is_left_out_is_gone(files: AccessFiles) -> None:
    one, other = subscriber(), subscriber("beta")
    files.write_subscribers([one, other])
    files.write_subscribers([other])
    assert files.subscribers() == [other]
    assert one.key_id not in files.config.read_text()


def test_each_version_has_a_probe_password_of_its_own(files: AccessFiles) -> None:
    first = files.write_subscribers([])
    second = files.write_subscribers([])
    [probe] = json.loads(files.config.read_text())["accounts"]["PROBE"]["users"]
    assert bcrypt.checkpw(second.encode(), probe["password"].encode())
    assert not bcrypt.checkpw(first.encode(), probe["password"].encode())


def test_subscribers_are_refused_where_nothing_was_installed(tmp_path: Path) -> None:
    (tmp_path / "access").mkdir()
    with pytest.raises(FailedPrecondition, match=r"services\.json"):
        AccessFiles(tmp_path / "access").write_subscribers([])


@pytest.mark.parametrize("content", ["", "nonsense", str(os.getpid()), str(2**22 + 1)])
def test_reload_signals_nothing_but_nats_server(tmp_path: Path, content: str) -> None:
    (tmp_path / "pid").write_text(content)
    with pytest.raises(Unavailable, match="not running"):
        NatsHandle("nats://127.0.0.1:1", tmp_path / "pid").reload()
