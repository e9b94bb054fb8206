"""Finding entries by name and lines by content."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arenero.errors import FailedPrecondition, InvalidArgument
from arenero.execd import search as search_module
from arenero.execd.entries import Kind
from arenero.execd.regex import line_expression
from arenero.execd.search import LONGEST_TEXT_BYTES, Match, SearchEnd, SearchSpec, lines_with, search
from tests.unit.execd.filekit import given as items
from tests.unit.execd.filekit import no_leaked_descriptors, scope_of


def found(directory: Path, **spec: object) -> tuple[list[Match], SearchEnd]:
    with no_leaked_descriptors():
        results = items(search(scope_of(directory), SearchSpec(b".", **spec)))  # type: ignore[arg-type]
    end = results.pop()
    assert isinstance(end, SearchEnd)
    return [match for match in results if isinstance(match, Match)], end


def names(directory: Path, **spec: object) -> list[bytes]:
    return [match.entry.path for match in found(directory, **spec)[0]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path, content in {
        "a.py": "import os\nprint('needle')\n",
        "src/b.py": "needle\nNEEDLE\n\nneedle",
        "src/deep/c.txt": "no\n",
        "node_modules/x/d.py": "needle\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    (tmp_path / "link.py").symlink_to("a.py")
    return tmp_path


def test_by_name(tree: Path):
    assert names(tree, glob="*.py") == [b"a.py", b"link.py", b"node_modules/x/d.py", b"src/b.py"]
    assert names(tree, glob="src/**/*.txt") == [b"src/deep/c.txt"]
    assert names(tree, glob="*.py", exclude=("node_modules", "link*")) == [b"a.py", b"src/b.py"]
    assert names(tree, kinds=frozenset({Kind.DIRECTORY}), depth=1) == [b"node_modules", b"src"]
    assert names(tree, kinds=frozenset({Kind.SYMLINK})) == [b"link.py"]
    assert len(names(tree)) == 9


def test_by_content(tree: Path):
    matches, end = found(tree, content="needle", glob="*.py", exclude=("node_modules/**",))
    assert [(match.entry.path, match.line, match.text) for match in matches] == [
        (b"a.py", 2, b"print('needle')"),
        (b"src/b.py", 1, b"needle"),
        (b"src/b.py", 4, b"needle"),
    ]
    assert end == SearchEnd(truncated=False, unreadable=0)
    assert len(found(tree, content="needle", glob="b.py", ignore_case=True)[0]) == 3


def test_limit_says_when_there_was_more(tree: Path):
    for limit, truncated in ((2, True), (4, False)):
        matches, end = found(tree, glob="*.py", limit=limit)
        assert (len(matches), end.truncated) == (limit, truncated)
    matches, end = found(tree, content="needle", limit=2)
    assert (len(matches), end.truncated) == (2, True)


def test_links_out_of_the_tree_are_not_read(tmp_path: Path):
    """Case 38."""
    (tmp_path / "x").symlink_to("/etc/passwd")
    (tmp_path / "up").symlink_to("/")
    assert found(tmp_path, content="root") == ([], SearchEnd(truncated=False, unreadable=0))


def test_fifo_and_devices_do_not_hang(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    assert found(tmp_path, content="x")[0] == []


text = st.lists(st.text("ab\xff", max_size=5), max_size=12).map("\n".join).map(lambda t: t.encode("latin-1"))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=text, block=st.integers(1, 8), pattern=st.sampled_from(["a", "^a", "b$", "^$", "a?", "ab"]))
def test_lines_are_those_that_match_by_themselves(tmp_path: Path, content: bytes, block: int, pattern: str):
    """Blocks of a few bytes, so that every line begins and ends everywhere."""
    (tmp_path / "f").write_bytes(content)
    expression = line_expression(pattern, ignore_case=False, field="content")
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    longest = max(map(len, lines), default=0)
    fd = os.open(tmp_path / "f", os.O_RDONLY)
    before, search_module.BLOCK_BYTES = search_module.BLOCK_BYTES, max(block, longest + 1)  # type: ignore[misc]
    try:
        got = items(lines_with(fd, len(content), expression))
    finally:
        search_module.BLOCK_BYTES = before  # type: ignore[misc]
        os.close(fd)
    expected = [(at, line) for at, line in enumerate(lines, start=1) if expression.find(line) is not None]
    assert got == expected


def test_long_line_is_searched_in_parts_and_shown_cut(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"x" * 3_000_000 + b"needle" + b"y" * 3_000_000 + b"\nneedle\n")
    matches, _ = found(tmp_path, content="needle")
    assert [match.line for match in matches] == [1, 2]
    assert len(matches[0].text) == LONGEST_TEXT_BYTES


def test_text_without_end_and_evil_expression_take_linear_time(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"a" * 8_000_000)
    began = time.process_time()
    assert found(tmp_path, content="(a+)+!")[0] == []
    assert time.process_time() - began < 10


def test_file_that_grows_is_searched_to_its_former_end(tmp_path: Path):
    path = tmp_path / "f"
    path.write_bytes((b"x" * 99 + b"\n") * 30_000)
    matches = 0
    for result in search(scope_of(tmp_path), SearchSpec(b".", content="x", limit=10**9)):
        if isinstance(result, Match):
            matches += 1
        elif result is None:
            with path.open("ab") as file:
                file.write(b"x\n" * 1000)
    assert matches == 30_000


@pytest.mark.parametrize(
    ("spec", "kind", "field"),
    [
        ({"content": "("}, InvalidArgument, "content"),
        ({"glob": "x" * 5000}, InvalidArgument, "glob"),
        ({"exclude": ("",)}, InvalidArgument, "exclude"),
        ({"depth": 513}, InvalidArgument, "depth"),
    ],
)
def test_impossible_search_is_refused(tmp_path: Path, spec: dict[str, object], kind: type[InvalidArgument], field: str):
    with pytest.raises(kind) as error:
        found(tmp_path, **spec)
    assert error.value.field == field


def test_only_directories_are_searched(tmp_path: Path):
    (tmp_path / "f").touch()
    with pytest.raises(FailedPrecondition):
        list(search(scope_of(tmp_path), SearchSpec(b"f")))
