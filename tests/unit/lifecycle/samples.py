"""Random records, specs and facts, for properties that hold for all of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from arenero.lifecycle import facts
from arenero.model.ids import (
    SandboxId,
    TenantId,
    new_sandbox_id,
    new_snapshot_id,
    new_vault_id,
)
from arenero.model.policy import NetworkAction, NetworkPolicy, NetworkRule
from arenero.model.record import (
    Endpoint,
    ExitFacts,
    Failure,
    Handle,
    Isolation,
    ResolvedSource,
    SagaProgress,
    SandboxRecord,
)
from arenero.model.spec import (
    IdleAction,
    IdlePolicy,
    ImageSource,
    IsolationLevel,
    Lifetime,
    OciLayoutSource,
    Resources,
    RootfsSource,
    SandboxSpec,
    SnapshotSource,
    TemplateSource,
    TimeoutAction,
)
from arenero.model.states import SandboxState
from arenero.model.volumes import Bucket, HostPath, NamedVolume, VolumeMount

patiently = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
"""For examples that are large: how long making one takes says nothing about the code."""

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)

words = st.text("ab é\u20ac\U0001f40d\n", max_size=6)
names = st.text("abz09", min_size=1, max_size=6)
instants = st.integers(0, 10**15).map(lambda us: EPOCH + timedelta(microseconds=us))
seconds = st.integers(0, 10**9).map(lambda ms: ms / 1000)
maps = st.dictionaries(names, words, max_size=2)
sizes = st.none() | st.integers(1, 2**62)

sources = st.one_of(
    st.builds(TemplateSource, names),
    st.builds(ImageSource, names),
    st.builds(RootfsSource, words.map(lambda w: f"/{w}")),
    st.builds(OciLayoutSource, words.map(lambda w: f"/{w}"), names | st.just("")),
    st.builds(lambda: SnapshotSource(new_snapshot_id())),
)
rules = st.builds(
    NetworkRule,
    st.sampled_from(NetworkAction),
    names,
    st.lists(st.integers(1, 65_535), max_size=3).map(tuple),
    st.booleans(),
)
policies = st.builds(NetworkPolicy, st.sampled_from(NetworkAction), st.lists(rules, max_size=3).map(tuple))
backends = st.one_of(st.builds(HostPath, words), st.builds(NamedVolume, names), st.builds(Bucket, names, words, words))
volumes = st.builds(VolumeMount, names, words, backends, st.booleans(), words)
specs = st.builds(
    SandboxSpec,
    name=names | st.just(""),
    runtime=names,
    isolation_level=st.sampled_from(IsolationLevel),
    oci_runtime=names | st.just(""),
    source=st.none() | sources,
    resources=st.builds(
        Resources,
        cpus=st.none() | st.floats(0.01, 1024),
        memory_bytes=sizes,
        pids=sizes,
        disk_bytes=sizes,
        open_files=sizes,
        gpus=st.integers(0, 64),
    ),
    lifetime=st.builds(Lifetime, st.none() | seconds, st.sampled_from(TimeoutAction)),
    network=st.none() | policies,
    env=maps,
    metadata=maps,
    user=words,
    workdir=words,
    entrypoint=st.lists(words, max_size=3).map(tuple),
    volumes=st.lists(volumes, max_size=2).map(tuple),
    ports=st.lists(st.integers(1, 65_535), max_size=3).map(tuple),
    idle=st.none() | st.builds(IdlePolicy, seconds, st.sampled_from(IdleAction), st.booleans()),
    vault_id=st.none() | st.builds(new_vault_id),
    extensions=maps,
)
failures = st.builds(Failure, names.map(str.upper), words, st.just("") | names, st.just("") | names)
handles = st.builds(
    Handle,
    names,
    st.integers(1, 9),
    st.dictionaries(names, words | st.integers() | st.lists(st.integers(), max_size=2), max_size=3),
)
exits = st.builds(ExitFacts, st.none() | st.integers(0, 255), st.none() | st.integers(1, 64), st.booleans())
progresses = st.builds(
    SagaProgress,
    names,
    st.lists(names, max_size=3).map(tuple),
    names,
    st.integers(1, 9),
    st.booleans(),
    st.integers(0, 9),
)


@st.composite
def records(draw: Any) -> SandboxRecord:
    """Return any record, whether its parts make sense together or not."""
    return SandboxRecord(
        id=new_sandbox_id(),
        tenant=TenantId(draw(names)),
        spec=draw(specs),
        state=draw(st.sampled_from(SandboxState)),
        created_at=draw(instants),
        updated_at=draw(instants),
        revision=draw(st.integers(1, 2**62)),
        generation=draw(st.integers(1, 1000)),
        started_at=draw(st.none() | instants),
        expires_at=draw(st.none() | instants),
        ended_at=draw(st.none() | instants),
        failure=draw(st.none() | failures),
        isolation=draw(
            st.none()
            | st.builds(
                Isolation, names, st.lists(names, max_size=2).map(tuple), st.lists(words, max_size=2).map(tuple)
            )
        ),
        source=draw(st.none() | st.builds(ResolvedSource, words, words, words)),
        progress=draw(st.none() | progresses),
        endpoint=draw(st.none() | st.builds(Endpoint, names)),
        exit=draw(st.none() | exits),
        pool_id=draw(words),
        origin_id=draw(words),
        handle=draw(st.none() | handles),
        request_digest=draw(words),
        owner=draw(words),
        start_timeout_s=draw(st.none() | seconds),
    )


all_facts = st.one_of(
    st.builds(facts.Requested, words),
    st.builds(facts.Progressed, names, names, seconds, st.booleans()),
    st.builds(facts.Started, seconds),
    st.builds(facts.Failed, names, words, words),
    st.builds(facts.Renewed, st.none() | instants, instants),
    st.builds(facts.MetadataUpdated, st.lists(words, max_size=2).map(tuple), st.lists(words, max_size=2).map(tuple)),
    st.builds(facts.PolicyUpdated, st.integers(0, 4096)),
    st.builds(facts.Pausing, st.sampled_from(["freeze", "checkpoint", "release"])),
    st.builds(facts.Paused, seconds),
    st.builds(facts.Resuming),
    st.builds(facts.Resumed, seconds),
    st.builds(facts.Stopping, names),
    st.builds(facts.Terminated, names, st.none() | seconds),
    st.builds(facts.Claimed, words, words),
    st.builds(facts.Forked, st.lists(words, max_size=2).map(tuple)),
    st.builds(facts.Recovered, words),
)


def a_record(**changes: Any) -> SandboxRecord:
    """Return an ordinary record that runs."""
    fields = {
        "id": SandboxId("sbx_" + "a" * 20),
        "tenant": TenantId("acme"),
        "spec": SandboxSpec(runtime="fake"),
        "state": SandboxState.RUNNING,
        "created_at": EPOCH,
        "updated_at": EPOCH,
        "revision": 7,
        "generation": 1,
        **changes,
    }
    return SandboxRecord(**fields)
