"""Many of its children take a little memory each, too much in all; with the first that is lost it ends."""

import os
import time

from botarena import Turn, run


def choose(turn: Turn) -> int:
    for _ in range(16):
        if os.fork() == 0:
            held = b"x" * (24 << 20)
            time.sleep(60)
            del held
    os.wait()
    os._exit(1)


if __name__ == "__main__":
    run(choose)
