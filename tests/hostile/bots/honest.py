"""Plays by all that it is shown, and notes how its matches end."""

import json

from botarena import Bot, Result, Turn, run

from tests.hostile.choice import choose


class Honest(Bot):
    def choose(self, turn: Turn) -> int:
        return choose(turn)

    def end(self, result: Result) -> None:
        print("END " + json.dumps([result.ranks, result.scores, result.fault]))


if __name__ == "__main__":
    run(Honest)
