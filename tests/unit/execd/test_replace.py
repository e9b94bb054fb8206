"""Changing text in files."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arenero.errors import ArenError, InvalidArgument
from arenero.execd import replace as replace_module
from arenero.execd.file_config import FileConfig
from arenero.execd.replace import NOT_APPLIED, Replaced, Replacement, replace
from tests.unit.execd.filekit import names_in, no_leaked_descriptors, result, scope_of


def run(directory: Path, *changes: Replacement, all_or_nothing: bool = False, config: FileConfig | None = None):
    scope = scope_of(directory, config=config) if config else scope_of(directory)
    with no_leaked_descriptors():
        return result(replace(scope, changes, all_or_nothing=all_or_nothing))


def reasons(results: list[Replaced]) -> list[str]:
    return [each.reason for each in results]


letters = st.text("ab", max_size=6).map(str.encode)
changes = st.lists(
    st.tuples(st.sampled_from([b"f", b"g"]), letters.filter(bool), letters, st.integers(0, 3)), min_size=1, max_size=5
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.fixed_dictionaries({b"f": letters, b"g": letters}), asked=changes, all_or_nothing=st.booleans())
def test_changes_apply_in_order_or_not_at_all(tmp_path: Path, before: dict[bytes, bytes], asked, all_or_nothing: bool):
    for name, content in before.items():
        (tmp_path / name.decode()).write_bytes(content)
    expected = dict(before)
    outcome: list[int | None] = []
    for path, old, new, wanted in asked:
        count = expected[path].count(old)
        if wanted and count != wanted:
            outcome.append(None)
        else:
            expected[path] = expected[path].replace(old, new)
            outcome.append(count)
    if all_or_nothing and None in outcome:
        expected = before
        outcome = [None] * len(outcome)
    results = run(tmp_path, *(Replacement(*change) for change in asked), all_or_nothing=all_or_nothing)
    assert [None if each.reason else each.count for each in results] == outcome
    assert {name: (tmp_path / name.decode()).read_bytes() for name in before} == expected
    assert names_in(tmp_path) == ["f", "g"]


def test_bytes_are_bytes(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"\xff\0old\r\n\0")
    (result_,) = run(tmp_path, Replacement(b"f", b"old\r\n", b"\xfe\n"))
    assert (result_.path, result_.count) == (b"f", 1)
    assert (tmp_path / "f").read_bytes() == b"\xff\0\xfe\n\0"


def test_each_failure_is_told_with_its_reason(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"aaa")
    (tmp_path / "d").mkdir()
    (tmp_path / "out").symlink_to("/etc/passwd")
    results = run(
        tmp_path,
        Replacement(b"f", b"a", b"b", expected_count=2),
        Replacement(b"no", b"a", b"b"),
        Replacement(b"d", b"a", b"b"),
        Replacement(b"out", b"root", b"r00t"),
        Replacement(b"f", b"zzz", b"b"),
    )
    assert reasons(results) == ["COUNT_MISMATCH", "FILE_NOT_FOUND", "IS_A_DIRECTORY", "ESCAPES_ROOT", ""]
    assert "3 times" in results[0].message
    assert (tmp_path / "f").read_bytes() == b"aaa"


def test_one_failure_holds_all_back_when_asked(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"a")
    results = run(tmp_path, Replacement(b"f", b"a", b"b"), Replacement(b"no", b"a", b"b"), all_or_nothing=True)
    assert reasons(results) == [NOT_APPLIED, "FILE_NOT_FOUND"]
    assert (tmp_path / "f").read_bytes() == b"a"


def test_file_without_a_change_is_not_written(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"a")
    before = (tmp_path / "f").stat()
    run(tmp_path, Replacement(b"f", b"z", b"b"), Replacement(b"f", b"a", b"a"))
    assert (tmp_path / "f").stat() == before


def test_mode_stays(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"a")
    (tmp_path / "f").chmod(0o751)
    run(tmp_path, Replacement(b"f", b"a", b"b"))
    assert (tmp_path / "f").stat().st_mode & 0o7777 == 0o751


def test_write_that_fails_puts_the_others_back(tmp_path: Path, monkeypatch):
    """The second of two files can't be put in place any more: the first is as before."""
    for name in ("f", "g"):
        (tmp_path / name).write_bytes(b"a")
    finish = replace_module._finish

    def failing(scope, file, upload):
        if file.path == b"g":
            os.unlink(tmp_path / "g")
            (tmp_path / "g").mkdir()
        yield from finish(scope, file, upload)

    monkeypatch.setattr(replace_module, "_finish", failing)
    results = run(tmp_path, Replacement(b"f", b"a", b"b"), Replacement(b"g", b"a", b"b"), all_or_nothing=True)
    assert reasons(results) == [NOT_APPLIED, "CHANGED_MEANWHILE"]
    assert (tmp_path / "f").read_bytes() == b"a"


def test_change_by_somebody_else_is_not_overwritten(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"a")
    steps = replace(scope_of(tmp_path), [Replacement(b"f", b"a", b"b")])
    next(steps)
    (tmp_path / "f").write_bytes(b"a longer text of somebody else")
    (outcome,) = result(steps)
    assert outcome.reason == "CHANGED_MEANWHILE"
    assert (tmp_path / "f").read_bytes() == b"a longer text of somebody else"


@pytest.mark.parametrize(
    ("content", "change"),
    [(b"x" * 101, Replacement(b"f", b"x", b"y")), (b"x" * 50, Replacement(b"f", b"x", b"yyy"))],
)
def test_file_too_large_before_or_after_is_refused(tmp_path: Path, content: bytes, change: Replacement):
    (tmp_path / "f").write_bytes(content)
    (outcome,) = run(tmp_path, change, config=FileConfig(replace_most_bytes=100))
    assert outcome.reason == "FILE_TOO_LARGE"
    assert (tmp_path / "f").read_bytes() == content


def test_looking_for_nothing_is_refused(tmp_path: Path):
    with pytest.raises(InvalidArgument) as error:
        run(tmp_path, Replacement(b"f", b"a", b"b"), Replacement(b"f", b"", b"b"))
    assert (error.value.reason, error.value.field) == ("EMPTY_OLD_TEXT", "replacements[1].old")


def test_caller_who_leaves_leaves_all_or_nothing(tmp_path: Path):
    for name in ("f", "g"):
        (tmp_path / name).write_bytes(b"a")
    changes_ = [Replacement(name, b"a", b"b") for name in (b"f", b"g")]
    for stop_after in range(12):
        steps = replace(scope_of(tmp_path), changes_, all_or_nothing=True)
        try:
            for _ in range(stop_after):
                next(steps)
        except StopIteration:
            break
        steps.close()
        seen = {(tmp_path / name).read_bytes() for name in ("f", "g")}
        assert len(seen) == 1
    assert names_in(tmp_path) == ["f", "g"]


def test_errors_are_ours(tmp_path: Path):
    with pytest.raises(ArenError):
        run(tmp_path, *[Replacement(b"f", b"a", b"b")] * 10_001)
