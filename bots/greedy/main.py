"""Plays the action that looks best right now, by a rule of thumb per game: `<game>.py` beside this file."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from runpy import run_path
from typing import Any

from botarena import Bot, Turn, run

Worth = Callable[[Any, int, Any], float]
"""worth(view, seat, action): how good an action looks, in points."""


@cache
def worth_in(game: str) -> Worth:
    """The rule of thumb of a game."""
    worth: Worth = run_path(str(Path(__file__).with_name(f"{game}.py")))["worth"]
    return worth


class GreedyBot(Bot):
    def choose(self, turn: Turn) -> int:
        worth = worth_in(turn.game)
        worths = [worth(turn.view, turn.seat, action) for action in turn.actions]
        return worths.index(max(worths))


if __name__ == "__main__":
    run(GreedyBot)
