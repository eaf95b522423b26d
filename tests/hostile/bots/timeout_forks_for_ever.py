"""Forks as fast as it can, as do all its children, each in a session of its own."""

import contextlib
import os
import time

from botarena import Turn, run


def choose(turn: Turn) -> int:
    while True:
        with contextlib.suppress(OSError):
            if os.fork() == 0:
                os.setsid()
        time.sleep(0.001)  # the machine is shared with others


if __name__ == "__main__":
    run(choose)
