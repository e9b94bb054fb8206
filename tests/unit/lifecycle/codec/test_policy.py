"""Network policies between the API and the model."""

from hypothesis import given

from arenero.api.common.v1 import policy_pb2 as pb
from arenero.lifecycle.codec.policy import decode_policy, encode_policy
from arenero.model.fields import FieldError
from arenero.model.policy import NetworkAction, NetworkPolicy
from tests.unit.lifecycle.samples import policies


@given(policies)
def test_a_policy_comes_back(policy: NetworkPolicy) -> None:
    faults: list[FieldError] = []
    assert decode_policy(encode_policy(policy), "network", faults) == policy
    assert not faults


def test_the_rest_is_denied_unless_said_otherwise() -> None:
    assert decode_policy(pb.NetworkPolicy(), "network", []).default_action is NetworkAction.DENY


def test_a_rule_must_say_what_it_does() -> None:
    faults: list[FieldError] = []
    decode_policy(pb.NetworkPolicy(rules=[pb.NetworkRule(target="example.org")]), "spec.network", faults)
    assert [fault.field for fault in faults] == ["spec.network.rules[0].action"]


def test_an_unknown_action_is_a_fault() -> None:
    faults: list[FieldError] = []
    decode_policy(pb.NetworkPolicy(default_action=7), "spec.network", faults)  # type: ignore[arg-type]
    assert [fault.field for fault in faults] == ["spec.network.default_action"]
