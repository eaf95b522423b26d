"""Many of its children take a little memory each, too much in all; with the first that is lost it ends."""

import os
import time

from botarena import Turn, run


def choose(turn: Turn) -> int:
    for _ in range(40):
        if os.fork() == 0:
            held = bytearray(b"x" * (24 << 20))
            time.sleep(60 + len(held) * 0)
    os.wait()
    os._exit(1)


if __name__ == "__main__":
    run(choose)
