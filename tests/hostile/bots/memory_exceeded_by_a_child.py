"""Its child takes memory until there is no more; it goes down with it."""

import os

from botarena import Turn, run


def choose(turn: Turn) -> int:
    child = os.fork()
    if child == 0:
        held = []
        while True:
            held.append(bytearray(b"x" * (8 << 20)))
    os.waitpid(child, 0)
    os._exit(1)


if __name__ == "__main__":
    run(choose)
