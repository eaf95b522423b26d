"""Stops its own process with a signal that it cannot be deaf to."""

import os
import signal

from botarena import Turn, run


def choose(turn: Turn) -> int:
    os.kill(os.getpid(), signal.SIGSTOP)
    return 0


if __name__ == "__main__":
    run(choose)
