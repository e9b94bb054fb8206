"""Errors say what the caller may do next, and survive being copied."""

import copy
import pickle

import pytest

from arenero.errors import (
    ArenError,
    Conflict,
    InvalidArgument,
    NotFound,
    OutcomeUnknown,
    ResourceExhausted,
    Unavailable,
)
from arenero.model.fields import FieldError

KINDS = ArenError.__subclasses__()


def test_only_what_surely_was_not_done_may_be_tried_again() -> None:
    assert {kind for kind in KINDS if kind.retryable} == {Unavailable, ResourceExhausted}
    assert not OutcomeUnknown.retryable


@pytest.mark.parametrize("kind", KINDS)
def test_every_class_has_its_own_reason(kind: type[ArenError]) -> None:
    assert kind("x").reason == kind.default_reason
    assert [other for other in KINDS if other.default_reason == kind.default_reason] == [kind]
    assert kind("x", reason="OTHER").reason == "OTHER"


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_error_survives_being_copied(copier: object) -> None:
    error = Conflict("m", reason="R", field="f", fix="x", retry_after_s=2.0, metadata={"a": "b"})
    twin = copier(error)  # type: ignore[operator]
    assert type(twin) is Conflict
    for name in ("message", "reason", "field", "fix", "retry_after_s"):
        assert getattr(twin, name) == getattr(error, name)
    assert dict(twin.metadata) == {"a": "b"}


def test_text_names_the_field() -> None:
    assert str(InvalidArgument("is empty", field="spec.name")) == "spec.name: is empty"
    assert str(NotFound("there is no such sandbox")) == "there is no such sandbox"


def test_many_faults_are_one_error_that_names_them_all() -> None:
    error = InvalidArgument.from_fields([FieldError("a", "first"), FieldError("b", "second"), FieldError("c", "third")])
    assert (error.field, error.message) == ("a", "first")
    assert dict(error.metadata) == {"b": "second", "c": "third"}
    with pytest.raises(ValueError, match="no field errors"):
        InvalidArgument.from_fields([])


def test_metadata_can_not_be_changed() -> None:
    with pytest.raises(TypeError):
        NotFound("x", metadata={"a": "b"}).metadata["a"] = "c"  # type: ignore[index]
