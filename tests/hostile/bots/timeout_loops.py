"""Loops for ever on its first decision, deaf to SIGTERM."""

import signal

from botarena import Turn, run


def choose(turn: Turn) -> int:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        turn.random.random()


if __name__ == "__main__":
    run(choose)
