import ctypes
from pathlib import Path

from arenero.isolation import cmdline
from arenero.isolation.cmdline import CommandLine


def test_it_is_found_where_this_process_has_it() -> None:
    place = cmdline.find()
    shown = Path("/proc/self/cmdline").read_bytes()
    assert ctypes.string_at(place.start, place.end - place.start) == shown


def test_a_name_with_parentheses_and_spaces_does_not_confuse_it(tmp_path: Path) -> None:
    fields = ["S", *(str(number) for number in range(4, 53))]
    (tmp_path / "stat").write_text(f"42 (a) b) {' '.join(fields)}\n")
    assert cmdline.find(str(tmp_path / "stat")) == CommandLine(48, 49)


def test_an_old_kernel_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("42 (a) S 1 2 3\n")
    place = cmdline.find(str(tmp_path / "stat"))
    assert place == CommandLine(0, 0)
    place.overwrite("changes nothing")


def test_text_is_cut_and_the_rest_is_zeroed() -> None:
    buffer = ctypes.create_string_buffer(b"python -m something", 20)
    place = CommandLine(ctypes.addressof(buffer), ctypes.addressof(buffer) + 10)
    place.overwrite("init")
    assert buffer.raw == b"init".ljust(10, b"\0") + b"something\0"
    place.overwrite("much longer than ten")
    assert buffer.raw == b"much long\0" + b"something\0"
