"""What a copy leaves out."""

import pytest

from arenero.cli.left_out import LeftOut


def test_nothing_left_out_is_nothing_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert LeftOut().tell() == 0
    assert capsys.readouterr() == ("", "")


def test_parts_of_one_copy_fail_together(capsys: pytest.CaptureFixture[str]) -> None:
    whole, part = LeftOut(["a: it is a socket"]), LeftOut()
    part.fail("b: it can't be read")
    whole.extend(part)
    assert whole.tell() == 1
    whole.extend(LeftOut())
    assert whole.has_failed
    assert capsys.readouterr().err == "arenero: left out a: it is a socket\narenero: left out b: it can't be read\n"
