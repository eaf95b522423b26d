"""What two cores of this machine are worth beside one, for Python that waits for nothing.

Cores may be two threads of one, or shared with strangers. As a program it counts on one core.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

_TURNS = 200_000


def rate(processes: int, seconds: float) -> float:
    """Turns of an empty loop a second, of so many processes at once, each on a core of its own."""
    cores = sorted(os.sched_getaffinity(0))[:processes]
    counting = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.bench.python_loop", str(core), str(seconds)], stdout=subprocess.PIPE
        )
        for core in cores
    ]
    return sum(float(process.communicate()[0]) for process in counting)


def _count(seconds: float) -> float:
    done, begin = 0, time.perf_counter()
    while (passed := time.perf_counter() - begin) < seconds:
        for _ in range(_TURNS):
            pass
        done += _TURNS
    return done / passed


if __name__ == "__main__":
    os.sched_setaffinity(0, [int(sys.argv[1])])
    print(_count(float(sys.argv[2])))
