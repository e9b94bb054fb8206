"""Launches and faults travel whole."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from arenero.execd.launch import Fault, Launch, Limits

WORDS = st.binary(max_size=20).map(lambda raw: raw.replace(b"\0", b""))
IDS = st.integers(0, 2**32 - 2)


@given(
    st.lists(st.tuples(WORDS, WORDS), max_size=3).map(tuple),
    st.lists(WORDS, max_size=5).map(tuple),
    st.dictionaries(WORDS.filter(lambda name: b"=" not in name), WORDS, max_size=5),
    st.none() | st.lists(IDS, max_size=3).map(tuple),
    st.lists(st.tuples(st.integers(0, 15), st.integers(0, 2**62)), max_size=2).map(tuple),
)
def test_launch_survives_json(
    programs: object, arguments: object, env: object, groups: object, rlimits: object
) -> None:
    launch = Launch(
        programs=programs,  # type: ignore[arg-type]
        arguments=arguments,  # type: ignore[arg-type]
        env=env,  # type: ignore[arg-type]
        groups=groups,  # type: ignore[arg-type]
        rlimits=rlimits,  # type: ignore[arg-type]
        cwd=b"/\xff",
        uid=1,
        gid=2,
        nice=3,
        umask=0o77,
        terminal=True,
        searched=True,
        targets=((0, 1, 2), (9,)),
    )
    assert Launch.from_body(json.loads(json.dumps(launch.to_body()))) == launch


def test_fault_survives_json() -> None:
    fault = Fault("chdir", 2, b"/\xff", "search")
    assert Fault.from_body(json.loads(json.dumps(fault.to_body()))) == fault


def test_limits_are_true_when_there_are_any() -> None:
    assert not Limits()
    assert Limits(pids=1)
    assert Limits(**json.loads(json.dumps(Limits(0.5, 1, 2).to_body()))) == Limits(0.5, 1, 2)
