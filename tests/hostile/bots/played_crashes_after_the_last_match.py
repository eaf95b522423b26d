"""Its process dies once all its matches are over."""

import os

from botarena import Bot, Match, Result, Turn, run


class Dies(Bot):
    started = ended = 0

    def start(self, match: Match) -> None:
        Dies.started += 1

    def choose(self, turn: Turn) -> int:
        return 0

    def end(self, result: Result) -> None:
        Dies.ended += 1
        if Dies.started == Dies.ended == 3:
            os._exit(3)


if __name__ == "__main__":
    run(Dies)
