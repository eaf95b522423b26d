"""Sleeps through its second decision of every match."""

import time

from botarena import Bot, Turn, run


class Sleeper(Bot):
    def __init__(self) -> None:
        self.decisions = 0

    def choose(self, turn: Turn) -> int:
        self.decisions += 1
        if self.decisions == 2:
            time.sleep(60)
        return 0


if __name__ == "__main__":
    run(Sleeper)
