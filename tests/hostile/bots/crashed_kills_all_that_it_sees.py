"""Kills every process that it can, itself last; only in a sandbox of its own."""

import contextlib
import os
import signal
from pathlib import Path

from botarena import Turn, run

MOST = 12


def choose(turn: Turn) -> int:
    seen = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    assert len(seen) <= MOST, "these are not processes of a sandbox of mine: I had better not"
    for one in [*sorted(set(seen) - {os.getpid()}, reverse=True), os.getpid()]:
        with contextlib.suppress(OSError):
            os.kill(one, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    run(choose)
