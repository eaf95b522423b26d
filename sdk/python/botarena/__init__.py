"""The Python SDK of Bot Arena: a bot is a class with `choose(turn)`.

from botarena import Bot, Turn, run

class RandomBot(Bot):
    def choose(self, turn: Turn) -> int:
        return turn.random.randrange(len(turn.actions))

if __name__ == "__main__":
    run(RandomBot)
"""

from botarena.loading import unsearched

with unsearched():
    from botarena.bot import Bot, Choice, Match, Result, Say, Turn
    from botarena.runner import run

__all__ = ["Bot", "Choice", "Match", "Result", "Say", "Turn", "__version__", "run"]

__version__ = "0.1.0"
