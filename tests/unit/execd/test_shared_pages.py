"""How many pages a child copies is measured in a process of its own: `settle` is for good."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import gc, os, random, sys
from arenero.execd import shared_pages

# Leave holes of every size all over, as imports do.
made = [bytes(random.randrange(2, 4000)) for _ in range(60_000)]
random.shuffle(made)
kept = made[::2]
del made
if sys.argv[1] == "settled":
    shared_pages.settle()
    assert not gc.isenabled()
    assert gc.get_freeze_count()

def copied():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Private_Dirty:"))

read, write = os.pipe()
child = os.fork()
if child == 0:
    new = [bytes(size) for size in range(2, 4000, 3) for _ in range(2)]
    os.write(write, b"%d" % copied())
    os._exit(0)
os.waitpid(child, 0)
print(os.read(read, 20).decode())
"""


def copied_kib(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, how], capture_output=True, text=True, check=True, timeout=60)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_child_of_a_settled_process_copies_fewer_pages_for_the_same_objects() -> None:
    assert copied_kib("settled") < 0.9 * copied_kib("as it is")
