"""The allocator's settings, in a process of its own since they hold for all of it."""

import subprocess
import sys

CHURN = """
import resource, sys
from arenero.host import heap
if sys.argv[1] == "tuned":
    heap.tune()
    heap.tune()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(200):
    bytearray(1024 * 1024)
faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
heap.trim()
print(faults)
"""


def faults_of(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", CHURN, how], capture_output=True, text=True, check=True, timeout=60)
    return int(done.stdout)


def test_large_blocks_are_kept_for_the_next_use():
    """Two hundred blocks of a megabyte take the pages of a few, not of all two hundred: 256 pages each."""
    assert faults_of("tuned") < 5 * 256
