"""Its code raises an exception on its third decision."""

from botarena import Bot, Turn, run


class Raises(Bot):
    def __init__(self) -> None:
        self.decisions = 0

    def choose(self, turn: Turn) -> int:
        self.decisions += 1
        return [0, 0][self.decisions - 1]


if __name__ == "__main__":
    run(Raises)
