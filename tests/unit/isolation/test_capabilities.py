from pathlib import Path

import pytest

from arenero.isolation import capabilities


def test_names_and_masks_go_back_and_forth() -> None:
    names = frozenset({"CHOWN", "SYS_ADMIN", "CHECKPOINT_RESTORE"})
    assert capabilities.names_of(capabilities.mask_of(names)) == names


@pytest.mark.parametrize(("name", "number"), [("CHOWN", 0), ("SETUID", 7), ("SYS_ADMIN", 21), ("BPF", 39)])
def test_numbers_are_the_kernels(name: str, number: int) -> None:
    assert capabilities.mask_of(frozenset({name})) == 1 << number


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        capabilities.mask_of(frozenset({"EVERYTHING"}))


def test_bits_without_a_name_are_left_out() -> None:
    assert capabilities.names_of(1 << 60 | 1) == {"CHOWN"}


def test_reading_agrees_with_proc() -> None:
    lines = Path("/proc/thread-self/status").read_text().splitlines()
    shown = {line[:6]: int(line[7:], 16) for line in lines if line.startswith("Cap")}
    assert capabilities.read() == (shown["CapEff"], shown["CapPrm"], shown["CapInh"])
