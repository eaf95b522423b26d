"""The same random play with other Python game libraries, as a bot's author would drive them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

from tests.bench.sampling import Sample


def open_spiel_rates(name: str) -> Iterator[Sample]:
    """A game through OpenSpiel's Python API; chance is sampled in Python."""
    import pyspiel  # it is installed for benchmarks only

    game, rng = pyspiel.load_game(name), Random(1)
    while True:
        begin, decisions = time.perf_counter(), 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(outcomes, weights)[0])
            else:
                state.apply_action(rng.choice(state.legal_actions()))
                decisions += 1
        yield decisions, time.perf_counter() - begin


def rlcard_rates() -> Iterator[Sample]:
    """rlcard's gin-rummy: its game loop alone, without what agents are shown."""
    import rlcard

    game, rng = rlcard.make("gin-rummy", config={"seed": 1}).game, Random(1)
    while True:
        begin, decisions = time.perf_counter(), 0
        game.init_game()
        while not game.is_over():
            game.step(rng.choice(game.judge.get_legal_actions()))
            decisions += 1
        yield decisions, time.perf_counter() - begin
