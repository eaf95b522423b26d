"""Its process ends with exit code 7 in the middle of a match, after a word on stderr."""

import os
import sys

from botarena import Turn, run


def choose(turn: Turn) -> int:
    print("I have had enough", file=sys.stderr, flush=True)
    os._exit(7)


if __name__ == "__main__":
    run(choose)
