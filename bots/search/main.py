"""Plays any game by trying its actions out in imagined futures, the same ones for every action.

The number of futures is fixed, never the time, so a match repeats itself exactly. What the bot knows of a
game stands in `<game>.py` beside this file; of other games it imagines random play to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from runpy import run_path
from typing import Any, NamedTuple

from botarena import Bot, Turn, run

from arena.games import find_game
from arena.games.game import AnyGame

FUTURES = 8
"""Futures in which each action in doubt is tried, unless the game's file says otherwise."""
IN_DOUBT = 3
"""Actions that are tried at most, unless the game's file says otherwise; all of an unknown game."""


class Knowledge(NamedTuple):
    """What the bot knows of a game; results are by seat, and higher is better."""

    playout: Callable[[Any, Random], Sequence[float]]
    """Play a state on and say how it came out; changes the state."""
    prospects: Callable[[Any], Sequence[float]] | None
    """How a state looks as it stands."""
    futures: int = FUTURES
    """Futures in which each action in doubt is tried."""
    in_doubt: int = IN_DOUBT
    """Actions that are tried at most."""


@cache
def knowledge_of(game: str) -> Knowledge:
    path = Path(__file__).with_name(f"{game}.py")
    if path.exists():
        known = run_path(str(path))
        futures, in_doubt = known.get("FUTURES", FUTURES), known.get("IN_DOUBT", IN_DOUBT)
        return Knowledge(known["playout"], known["prospects"], futures, in_doubt)
    return Knowledge(lambda state, rng: random_playout(find_game(game), state, rng), None)


def random_playout(game: AnyGame, state: Any, rng: Random) -> Sequence[float]:
    while seats := game.to_move(state):
        game.apply(state, {seat: rng.choice(game.actions(state, seat)) for seat in seats})
    return [-rank for rank in game.outcome(state).ranks]


def lead(seat: int, results: Sequence[float]) -> float:
    """How far a seat is ahead of the others' average."""
    return results[seat] - (sum(results) - results[seat]) / (len(results) - 1)


class SearchBot(Bot):
    def __init__(self) -> None:
        self.seen: Sequence[Any] = ()

    def choose(self, turn: Turn) -> int:
        knowledge = knowledge_of(turn.game)
        self.seen = turn.history
        indexes = self.worth_trying(turn, knowledge)
        leads = dict.fromkeys(indexes, 0.0)
        for _ in range(knowledge.futures if len(indexes) > 1 else 0):
            for index, future in self.after_each(turn, indexes).items():
                leads[index] += lead(turn.seat, knowledge.playout(future, turn.random))
        return max(indexes, key=leads.__getitem__)

    def worth_trying(self, turn: Turn, knowledge: Knowledge) -> Sequence[int]:
        """Indexes of the actions that look best at once, best first."""
        indexes = range(len(turn.actions))
        if len(indexes) <= knowledge.in_doubt or knowledge.prospects is None:
            return indexes
        states = self.after_each(turn, indexes)
        leads = [lead(turn.seat, knowledge.prospects(state)) for state in states.values()]
        return sorted(indexes, key=leads.__getitem__, reverse=True)[: knowledge.in_doubt]

    def after_each(self, turn: Turn, indexes: Sequence[int]) -> dict[int, Any]:
        """For each of some actions the state after it, from one and the same imagined state."""
        game = find_game(turn.game)
        imagined = game.imagine(turn.view, self.seen, turn.random)
        moves = self.everybody_else(game, imagined, turn)
        actions = game.actions(imagined, turn.seat)
        states = {index: imagined.copy() for index in indexes}
        for index, state in states.items():
            game.apply(state, {**moves, turn.seat: actions[index]})
        return states

    def everybody_else(self, game: AnyGame, state: Any, turn: Turn) -> dict[int, Any]:
        """Where several decide at once: a guess at what the others do."""
        others = [seat for seat in game.to_move(state) if seat != turn.seat]
        return {seat: turn.random.choice(game.actions(state, seat)) for seat in others}


if __name__ == "__main__":
    run(SearchBot)
