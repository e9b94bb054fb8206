"""Page tokens."""

import base64

import pytest

from arenero.errors import InvalidArgument
from arenero.lifecycle.index import Position, SandboxFilter
from arenero.lifecycle.paging import decode_token, encode_token, page_size
from arenero.model.ids import new_sandbox_id
from arenero.model.states import SandboxState

WANTED = SandboxFilter(metadata={"a": "b", "c": "d"})
PLACE = Position(1_700_000_000_000_000, new_sandbox_id())


def test_a_token_comes_back_for_the_same_filter() -> None:
    token = encode_token(PLACE, WANTED)
    assert decode_token(token, SandboxFilter(metadata={"c": "d", "a": "b"})) == PLACE


def test_no_position_is_no_token() -> None:
    assert encode_token(None, WANTED) == ""
    assert decode_token("", WANTED) is None


@pytest.mark.parametrize(
    "other",
    [
        SandboxFilter(),
        SandboxFilter(metadata={"a": "b"}),
        SandboxFilter(metadata={"a": "b", "c": "d"}, name="x"),
        SandboxFilter(metadata={"a": "b", "c": "d"}, states=frozenset({SandboxState.FAILED})),
    ],
)
def test_a_token_of_another_list_is_refused(other: SandboxFilter) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        decode_token(encode_token(PLACE, WANTED), other)
    assert (refusal.value.field, refusal.value.reason) == ("page.page_token", "BAD_PAGE_TOKEN")


@pytest.mark.parametrize(
    "text",
    ["", "x", "1.2.3", f"-1.{PLACE.id}.x", f"1e9.{PLACE.id}.x", f"{10**30}.{PLACE.id}.x", "1.sbx_../../etc.x", "é.é.é"],
)
def test_a_forged_token_is_refused(text: str) -> None:
    token = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=") or "!"
    with pytest.raises(InvalidArgument):
        decode_token(token, WANTED)


@pytest.mark.parametrize("token", ["====", "\0", "a" * 10_000, "§", "a b"])
def test_garbage_is_refused(token: str) -> None:
    with pytest.raises(InvalidArgument):
        decode_token(token, WANTED)


def test_sizes_have_a_default_and_a_bound() -> None:
    assert (page_size(0), page_size(1), page_size(1000)) == (50, 1, 1000)
    with pytest.raises(InvalidArgument) as refusal:
        page_size(1001)
    assert refusal.value.field == "page.page_size"
