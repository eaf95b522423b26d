"""Its process is killed by a signal."""

import os
import signal

from botarena import Turn, run


def choose(turn: Turn) -> int:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


if __name__ == "__main__":
    run(choose)
