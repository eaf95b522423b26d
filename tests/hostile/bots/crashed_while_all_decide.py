"""Fails at its second decision, which it has at the same time as all others at its table."""

from botarena import Bot, Turn, run


class Fails(Bot):
    def __init__(self) -> None:
        self.decisions = 0

    def choose(self, turn: Turn) -> int:
        self.decisions += 1
        if self.decisions == 2:
            raise RuntimeError("now")
        return 0


if __name__ == "__main__":
    run(Fails)
