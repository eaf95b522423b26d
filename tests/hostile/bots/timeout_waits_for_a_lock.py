"""Waits for a lock that it holds itself."""

import threading

from botarena import Turn, run

LOCK = threading.Lock()


def choose(turn: Turn) -> int:
    LOCK.acquire()
    return 0


if __name__ == "__main__":
    LOCK.acquire()
    run(choose)
