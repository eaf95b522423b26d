"""Plays any game: always the first legal action."""

from __future__ import annotations

from botarena import Bot, Turn, run


class FirstBot(Bot):
    def choose(self, turn: Turn) -> int:
        return 0


if __name__ == "__main__":
    run(FirstBot)
