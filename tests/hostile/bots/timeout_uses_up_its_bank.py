"""Always answers in time, and so slowly that the time for the match runs out."""

import time

from botarena import Turn, run


def choose(turn: Turn) -> int:
    time.sleep(1)
    return 0


if __name__ == "__main__":
    run(choose)
