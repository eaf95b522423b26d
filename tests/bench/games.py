"""Random play inside one process: the rules alone, the rules with what bots are shown, copies of states."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

from arena.games.chance import Chance, deal_seed
from arena.games.game import AnyGame
from tests.bench.sampling import Sample

SEATS = 4
"""A number of seats that every game allows."""
COPIES = 200


def rules_rates(game: AnyGame) -> Iterator[Sample]:
    """The rules alone, deals included: decisions of each match and the seconds that it took."""
    rng = Random(1)
    to_move, actions, apply, choice = game.to_move, game.actions, game.apply, rng.choice
    for number in count():
        begin, decisions = time.perf_counter(), 0
        state, _ = _dealt(game, number)
        while seats := to_move(state):
            apply(state, {seat: choice(actions(state, seat)) for seat in seats})
            decisions += len(seats)
        yield decisions, time.perf_counter() - begin


def turns_rates(game: AnyGame) -> Iterator[Sample]:
    """The same with each turn as bytes: view, actions, events since the seat's last turn."""
    rng = Random(1)
    for number in count():
        begin = time.perf_counter()
        yield _shown_match(game, number, rng), time.perf_counter() - begin


def _shown_match(game: AnyGame, number: int, rng: Random) -> int:
    state, happened = _dealt(game, number)
    pieces: list[tuple[tuple[int, ...] | None, bytes]] = []
    seen, decisions = [0] * SEATS, 0
    while seats := game.to_move(state):
        pieces.extend((game.audience(event), game.event_bytes(event)) for event in happened)
        moves = {}
        for seat in seats:
            legal = game.actions(state, seat)
            new = [piece for who, piece in pieces[seen[seat] :] if who is None or seat in who]
            seen[seat] = len(pieces)
            game.turn_bytes(state, seat, legal, new)
            moves[seat] = rng.choice(legal)
        happened = game.apply(state, moves)
        decisions += len(seats)
    return decisions


def copy_us(game: AnyGame) -> float:
    """Microseconds to copy a state, mean over the positions of a match."""
    state, _ = _dealt(game, 0)
    rng, spent, copied = Random(1), 0.0, 0
    while seats := game.to_move(state):
        begin = time.perf_counter()
        for _ in range(COPIES):
            state.copy()
        spent += time.perf_counter() - begin
        copied += COPIES
        game.apply(state, {seat: rng.choice(game.actions(state, seat)) for seat in seats})
    return spent / copied * 1e6


def _dealt(game: AnyGame, number: int) -> tuple[Any, Any]:
    options = game.options({})
    chance = Chance(deal_seed(bytes(32), game.name, number))
    return game.start(SEATS, options, game.deal(SEATS, options, chance), chance)
