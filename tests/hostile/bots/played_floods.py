"""Floods stdout and stderr while it plays in good order."""

import sys

from botarena import Turn, run


def choose(turn: Turn) -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.write("flood \x1b[31m\x00" * 20_000)
    print(flush=True)
    return 0


if __name__ == "__main__":
    run(choose)
