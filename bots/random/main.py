"""Plays any game: every legal action is as likely as any other."""

from __future__ import annotations

from botarena import Bot, Turn, run


class RandomBot(Bot):
    def choose(self, turn: Turn) -> int:
        return turn.random.randrange(len(turn.actions))


if __name__ == "__main__":
    run(RandomBot)
