"""What a caller wants, as messages: refused here where the wire couldn't carry it, or would carry something else."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from arenero.sdk._types.arenero.api.lifecycle.v1 import ImageSource, OciLayoutSource, Resources, Source
from arenero.sdk.errors import InvalidArgument

_LARGEST: Final = 2**63 - 1
_LONGEST_S: Final = 315_576_000_000
"""What a duration on the wire holds."""


def source_of(**named: str) -> Source | None:
    """Build the source that is named; None when none is.

    Raises:
        InvalidArgument: More than one is.
    """
    given = {name: text for name, text in named.items() if text}
    if len(given) > 1:
        raise InvalidArgument(f"more than one source is named: {', '.join(given)}", field="spec.source")
    match [*given.items()]:
        case [("template", name)]:
            return Source(template=name)
        case [("image", reference)]:
            return Source(image=ImageSource(reference=reference))
        case [("rootfs_directory", path)]:
            return Source(rootfs_directory=path)
        case [("oci_layout", path)]:
            return Source(oci_layout=OciLayoutSource(path=path))
    return None


def resources_of(*, cpus: float | None, **limits: float | None) -> Resources:
    """Build the limits. On the wire 0 means the default, which is not what somebody means who writes a 0.

    Raises:
        InvalidArgument: One is 0, or no number that the wire holds.
    """
    for name, limit in {"cpus": cpus, **limits}.items():
        if limit == 0:
            raise InvalidArgument(
                "is 0, which is no limit; leave it out for the platform's default", field=f"spec.resources.{name}"
            )
    if cpus is not None and not 0 < cpus <= _LARGEST:
        raise InvalidArgument("must be a number of cores above 0", field="spec.resources.cpus")
    return Resources(
        cpus=cpus or 0.0, **{name: _whole(limit, name) for name, limit in limits.items() if limit is not None}
    )


def duration_of(seconds: float, field: str) -> timedelta:
    """Build a duration.

    Raises:
        InvalidArgument: It is infinite, no number, or longer than the wire holds.
    """
    if not abs(seconds) <= _LONGEST_S:  # also where it is no number
        raise InvalidArgument("must be a number of seconds, of ten thousand years at most", field=field)
    return timedelta(seconds=seconds)


def check_texts(message: Any, path: str = "") -> None:
    """Look through a message for text that isn't UTF-8, as what Python makes of a file name or an argument may be.

    Raises:
        InvalidArgument: There is some.
    """
    for field in dataclasses.fields(message):
        where = f"{path}.{field.name}" if path else field.name
        for value in _values(getattr(message, field.name)):
            if isinstance(value, str):
                _check_text(value, where)
            elif dataclasses.is_dataclass(value):
                check_texts(value, where)


def _whole(limit: float, name: str) -> int:
    if not isinstance(limit, int) or not 0 < limit <= _LARGEST:
        raise InvalidArgument(f"must be a whole number from 1 to {_LARGEST}", field=f"spec.resources.{name}")
    return limit


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value
        yield from value.values()
    elif isinstance(value, list):
        yield from value
    else:
        yield value


def _check_text(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{ascii(text)[:200]} is no text: it has half a character", field=where) from None
