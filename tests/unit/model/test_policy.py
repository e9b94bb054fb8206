"""What a network policy may say."""

import pytest

from arenero.model.policy import NetworkAction, NetworkPolicy, NetworkRule, check_policy, check_ports, check_target


@pytest.mark.parametrize(
    "target",
    [
        "example.org",
        "example.org.",
        "*.example.org",
        "a_b.example",
        "xn--bcher-kva.example",
        "localhost",
        "10.0.0.0/8",
        "192.0.2.1",
        "2001:db8::/32",
        "::1",
        "x" * 63 + ".org",
    ],
)
def test_target_is_taken(target: str) -> None:
    assert not list(check_target("t", target))


@pytest.mark.parametrize(
    "target",
    [
        "",
        " ",
        "exa mple.org",
        "example.org\0",
        "example.org\n",
        "bücher.example",
        "*",
        "*.",
        "a.*.org",
        "*.*.org",
        "**.org",
        ".org",
        "a..org",
        "-a.org",
        "a-.org",
        "x" * 64 + ".org",
        ".".join(["x" * 60] * 5),
        "http://example.org",
        "example.org:443",
        "example.org/path",
        "10.0.0.1/8",
        "10.0.0.0/33",
        "1.2.3",
        "256.1.1.1",
        "0x7f.0x1",
        "127.1",
        "2130706433",
        "fe80::1%eth0",
        "[::1]",
    ],
)
def test_target_is_refused(target: str) -> None:
    faults = list(check_target("t", target))
    assert [fault.field for fault in faults] == ["t"]


def test_host_bits_get_a_suggestion() -> None:
    [fault] = check_target("t", "10.0.0.1/8")
    assert "10.0.0.0/8" in fault.message


@pytest.mark.parametrize(
    ("ports", "faulty"),
    [((), []), ((1, 65_535), []), ((0,), [0]), ((65_536,), [0]), ((80, 443, 80), [2]), ((-1,), [0])],
)
def test_ports(ports: tuple[int, ...], faulty: list[int]) -> None:
    assert [fault.field for fault in check_ports("p", ports)] == [f"p[{index}]" for index in faulty]


def test_faults_of_a_policy_have_their_place() -> None:
    rules = (NetworkRule(NetworkAction.ALLOW, "ok.example"), NetworkRule(NetworkAction.ALLOW, "a\0b", ports=(0,)))
    faults = check_policy("spec.network", NetworkPolicy(rules=rules))
    assert [fault.field for fault in faults] == ["spec.network.rules[1].target", "spec.network.rules[1].ports[0]"]


def test_number_of_rules_is_bounded() -> None:
    rules = (NetworkRule(NetworkAction.ALLOW, ""),) * 4097
    assert [fault.field for fault in check_policy("n", NetworkPolicy(rules=rules))] == ["n.rules"]


def test_policy_denies_unless_told_otherwise() -> None:
    assert NetworkPolicy().default_action is NetworkAction.DENY
