"""The survey of this host, by its findings and from a process of its own."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arenero.isolation import probe, seccomp, syscalls
from arenero.isolation.probe import NAMESPACES, Finding, Survey
from tests.contract.isolation.running import trial

NAMES = {
    *("root", "user-namespace", *NAMESPACES, "overlay", "idmapped-mounts", "proc", "disk-image"),
    *("cgroups", "cgroup-kill", "seccomp", "landlock", "pidfd", "newuidmap", "inotify"),
}


def surveys(directory: str, *, contained: bool = False) -> Any:
    if contained:
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.install(seccomp.compile_default())
    return {
        finding.name: [finding.ok, finding.message, finding.fix] for finding in probe.survey(Path(directory)).findings
    }


def surveys_as_in_a_container(directory: str) -> Any:
    return surveys(directory, contained=True)


def test_every_mechanism_is_tried_and_nothing_is_left(tmp_path: Path) -> None:
    found = trial(surveys, str(tmp_path))
    assert set(found) == NAMES
    assert os.listdir(tmp_path) == []
    assert found["root"][0] == (os.geteuid() == 0)
    assert found["seccomp"] == [True, "", ""]


def test_a_host_that_refuses_namespaces_is_told_with_a_way_out(tmp_path: Path) -> None:
    found = trial(surveys_as_in_a_container, str(tmp_path))
    for name in ("user-namespace", "mount-namespace", "network-namespace", "overlay", "proc"):
        ok, message, fix = found[name]
        assert not ok, name
        assert "Operation not permitted" in message
        assert "seccomp=unconfined" in fix
    assert found["seccomp"][0]
    assert os.listdir(tmp_path) == []


def test_it_can_be_asked_of_another_process(tmp_path: Path) -> None:
    done = subprocess.run(probe.command(tmp_path), capture_output=True, check=True)
    survey = probe.parse(done.stdout)
    assert {finding.name for finding in survey.findings} == NAMES


@pytest.mark.parametrize("printed", [b"", b"{", b"[{}]", b"[1]"])
def test_what_is_no_survey_is_refused(printed: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        probe.parse(printed)


def test_findings_are_looked_up_by_name() -> None:
    survey = Survey((Finding("a", True), Finding("b", False, "no", "mend")))
    assert survey.works("a")
    assert not survey.works("a", "b")
    assert [fault.fix for fault in survey.faults("a", "b")] == ["mend"]
    assert survey.get("b").message == "no"
    with pytest.raises(KeyError):
        survey.get("c")


def test_it_is_json(tmp_path: Path) -> None:
    assert json.loads(json.dumps(trial(surveys, str(tmp_path))))


@pytest.mark.parametrize(("most", "is_ok"), [("128", False), ("1023", False), ("1024\n", True), ("8192", True)])
def test_few_inotify_instances_are_told_with_what_helps(tmp_path: Path, most: str, is_ok: bool) -> None:
    (tmp_path / "max_user_instances").write_text(most)
    found = probe.inotify(tmp_path)
    assert (found.ok, most.strip() in found.message, "sysctl -w" in found.fix) == (is_ok, True, not is_ok)


def test_kernel_without_inotify_is_told(tmp_path: Path) -> None:
    assert not probe.inotify(tmp_path).ok
