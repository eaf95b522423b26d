"""The same random play with other Python game libraries, as a bot's author would drive them."""

from __future__ import annotations

import time
from random import Random


def open_spiel_rate(name: str, seconds: float) -> float:
    """Decisions per second of a game through OpenSpiel's Python API; chance is sampled in Python."""
    import pyspiel  # it is installed for benchmarks only

    game, rng, decisions = pyspiel.load_game(name), Random(1), 0
    begin = time.perf_counter()
    while (passed := time.perf_counter() - begin) < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(outcomes, weights)[0])
            else:
                state.apply_action(rng.choice(state.legal_actions()))
                decisions += 1
    return decisions / passed


def rlcard_rate(seconds: float) -> float:
    """Decisions per second of rlcard's gin-rummy: its game loop alone, without what agents are shown."""
    import rlcard

    game, rng, decisions = rlcard.make("gin-rummy", config={"seed": 1}).game, Random(1), 0
    begin = time.perf_counter()
    while (passed := time.perf_counter() - begin) < seconds:
        game.init_game()
        while not game.is_over():
            game.step(rng.choice(game.judge.get_legal_actions()))
            decisions += 1
    return decisions / passed
