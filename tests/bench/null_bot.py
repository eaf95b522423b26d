"""A null bot: it answers every decision with action 0, so a measurement with it is one of arena and SDK."""

from __future__ import annotations

from botarena import Bot, Turn, run


class NullBot(Bot):
    """Takes the first action, whatever it is."""

    def choose(self, turn: Turn) -> int:
        """Answer without a look at the turn."""
        return 0


if __name__ == "__main__":
    run(NullBot, concurrency=1024)
