"""Leaves children behind that left its process group, and plays in good order."""

import os
import time

from botarena import run


def orphan() -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    os.wait()


if __name__ == "__main__":
    for _ in range(3):
        orphan()
    run(lambda turn: 0)
