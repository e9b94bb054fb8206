from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arenero.isolation.namespaces import IdMap, Namespace, find_range, format_map, to_outside
from arenero.isolation.seccomp import NAMESPACE_FLAGS

MAPS = (IdMap(0, 1000, 1), IdMap(1, 100_000, 65_535))


@pytest.mark.parametrize(("inside", "outside"), [(0, 1000), (1, 100_000), (65_535, 165_534)])
def test_ids_are_mapped_by_their_run(inside: int, outside: int) -> None:
    assert to_outside(MAPS, inside) == outside


@pytest.mark.parametrize("inside", [-1, 65_536])
def test_an_id_without_a_run_is_an_error(inside: int) -> None:
    with pytest.raises(ValueError, match="not mapped"):
        to_outside(MAPS, inside)


def test_a_map_is_written_as_the_kernel_reads_it() -> None:
    assert format_map(MAPS) == "0 1000 1\n1 100000 65535\n"


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 10**6), st.integers(0, 2 * 10**6))
def test_a_run_maps_exactly_its_ids(inside: int, outside: int, count: int, wanted: int) -> None:
    found = IdMap(inside, outside, count).to_outside(wanted)
    assert (found is not None) == (inside <= wanted < inside + count)
    if found is not None:
        assert found - outside == wanted - inside


def test_the_filter_knows_all_kinds() -> None:
    every = Namespace(0)
    for kind in Namespace:
        every |= kind
    assert every == NAMESPACE_FLAGS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("other:1:2\nann:100000:65536\nann:900000:1\n", IdMap(1, 100_000, 65_536)),
        ("1000:200000:10\n", IdMap(1, 200_000, 10)),
        ("ann:x:65536\nann:1\n\nann:5:0\n", None),
        ("", None),
    ],
)
def test_granted_ranges_are_found_by_name_or_number(tmp_path: Path, text: str, found: IdMap | None) -> None:
    (tmp_path / "subuid").write_text(text)
    assert find_range(str(tmp_path / "subuid"), ["1000", "ann"]) == found
    assert find_range(str(tmp_path / "none"), ["ann"]) is None
