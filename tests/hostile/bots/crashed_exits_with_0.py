"""Its process ends in good order, far too early."""

import os

from botarena import Bot, Turn, run


class Leaves(Bot):
    def __init__(self) -> None:
        self.decisions = 0

    def choose(self, turn: Turn) -> int:
        self.decisions += 1
        if self.decisions == 4:
            os._exit(0)
        return 0


if __name__ == "__main__":
    run(Leaves)
