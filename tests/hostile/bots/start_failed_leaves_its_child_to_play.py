"""Forks twice and leaves its group; the first process ends at once, and the grandchild wants to play."""

import os

if __name__ == "__main__":
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)

    from botarena import run

    run(lambda turn: 0)
