"""`NetworkPolicy` between the API and the model."""

from __future__ import annotations

from typing import Final

from arenero.api.common.v1 import policy_pb2 as pb
from arenero.lifecycle.codec.scalars import EnumCodec
from arenero.model.fields import FieldError
from arenero.model.policy import NetworkAction, NetworkPolicy, NetworkRule

ACTIONS: Final = EnumCodec(
    {NetworkAction.ALLOW: pb.NETWORK_ACTION_ALLOW, NetworkAction.DENY: pb.NETWORK_ACTION_DENY},
    NetworkAction.DENY,
)


def encode_policy(policy: NetworkPolicy) -> pb.NetworkPolicy:
    """Return a policy in the API's form."""
    rules = [
        pb.NetworkRule(action=ACTIONS.encode(r.action), target=r.target, ports=r.ports, inspect=r.inspect)
        for r in policy.rules
    ]
    return pb.NetworkPolicy(default_action=ACTIONS.encode(policy.default_action), rules=rules)


def decode_policy(message: pb.NetworkPolicy, path: str, faults: list[FieldError]) -> NetworkPolicy:
    """Return a policy from the API's form and note what can't be read. A rule must say what it does."""
    rules = []
    for index, rule in enumerate(message.rules):
        at = f"{path}.rules[{index}].action"
        if rule.action == pb.NETWORK_ACTION_UNSPECIFIED:
            faults.append(FieldError(at, "is not set; say allow or deny"))
        action = ACTIONS.decode(rule.action, at, faults)
        rules.append(NetworkRule(action, rule.target, tuple(rule.ports), rule.inspect))
    default = ACTIONS.decode(message.default_action, f"{path}.default_action", faults)
    return NetworkPolicy(default, tuple(rules))
