"""The same random play with other Python game libraries, as a bot's author would drive them.

Left out: kaggle-environments. It needs JAX, Transformers, LiteLLM and about a hundred other packages, and
another version of OpenSpiel.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.bench.sampling import Sample

CHESS_SLICE = 0.1
"""Seconds of chess in a sample: games differ in length, so concurrent ones are counted by moves in a time."""

Peer = tuple[str, Callable[[], Iterator[Sample]]]
"""Name of a figure without its unit, and what makes its samples."""


def available(engine: Path | None) -> Iterator[Peer]:
    """All peers that are installed; the reason on stderr for those that are not.

    Args:
        engine: the UCI engine that plays chess; None leaves chess out.
    """
    if _installed("rlcard"):
        yield "rlcard.gin_rummy", rlcard_rates
    if _installed("pyspiel"):
        for name in ("crazy_eights", "gin_rummy"):
            yield f"open_spiel.{name}", partial(open_spiel_rates, name)
        yield "open_spiel_rl.gin_rummy", partial(open_spiel_rl_rates, "gin_rummy")
    if _installed("pettingzoo.classic.gin_rummy_v4"):
        yield "pettingzoo.gin_rummy", pettingzoo_rates
    if engine is None:
        print("peer python_chess is left out: it has no engine", file=sys.stderr)
    elif _installed("chess.engine"):
        for games in (1, 8):
            yield f"python_chess.games_{games}", partial(chess_rates, engine, games)


def _installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError as error:
        print(f"peer {module.partition('.')[0]} is left out: {error}", file=sys.stderr)
        return False
    return True


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


def open_spiel_rl_rates(name: str) -> Iterator[Sample]:
    """The same game through OpenSpiel's environment for agents: each step shows them their observations."""
    from open_spiel.python import rl_environment

    environment, rng = rl_environment.Environment(name), Random(1)
    environment.seed(1)
    while True:
        begin, decisions = time.perf_counter(), 0
        step = environment.reset()
        while not step.last():
            seat = step.observations["current_player"]
            step = environment.step([rng.choice(step.observations["legal_actions"][seat])])
            decisions += 1
        yield decisions, time.perf_counter() - begin


def pettingzoo_rates() -> Iterator[Sample]:
    """PettingZoo's gin-rummy, which is rlcard's: the documented loop over agents, observations included."""
    from pettingzoo.classic import gin_rummy_v4

    environment: Any = gin_rummy_v4.env()
    for agent in environment.possible_agents:
        environment.action_space(agent).seed(1)
    seed = 0
    while True:
        begin, decisions = time.perf_counter(), 0
        environment.reset(seed=(seed := seed + 1))
        for agent in environment.agent_iter():
            observation, _, termination, truncation, _ = environment.last()
            if termination or truncation:
                environment.step(None)
                continue
            environment.step(environment.action_space(agent).sample(observation["action_mask"]))
            decisions += 1
        yield decisions, time.perf_counter() - begin


def chess_rates(engine: Path, games: int) -> Iterator[Sample]:
    """Chess through python-chess's asyncio engine API: moves of games between two processes of an engine.

    Args:
        engine: a UCI engine whose only argument is a seed.
        games: how many are played at once on the one event loop, each followed by another.
    """
    with asyncio.Runner() as runner:
        tables = runner.run(_ChessTables.open(engine, games))
        try:
            while True:
                yield runner.run(tables.play(CHESS_SLICE))
        finally:
            runner.run(tables.close())


class _ChessTables:
    """Games of chess that go on from sample to sample."""

    def __init__(self, pairs: list[tuple[Any, Any]], processes: AsyncExitStack) -> None:
        import chess

        self._pairs = pairs
        self._processes = processes
        self._boards = [chess.Board() for _ in pairs]

    @classmethod
    async def open(cls, engine: Path, games: int) -> _ChessTables:
        """Start the engines."""
        import chess.engine

        async with AsyncExitStack() as processes:
            engines = []
            for seed in range(2 * games):
                transport, protocol = await chess.engine.popen_uci([str(engine), str(seed)])
                processes.callback(transport.close)
                processes.push_async_callback(protocol.quit)
                engines.append(protocol)
            started = processes.pop_all()
        return cls(list(zip(engines[::2], engines[1::2], strict=True)), started)

    async def play(self, seconds: float) -> Sample:
        """Play on at all tables for a while: moves made, and the seconds that they took."""
        begin = time.perf_counter()
        moves = await asyncio.gather(
            *[self._play(table, begin + seconds) for table in range(len(self._pairs))]
        )
        return sum(moves), time.perf_counter() - begin

    async def _play(self, table: int, end: float) -> int:
        import chess.engine

        limit = chess.engine.Limit(time=1)
        board, pair, moves = self._boards[table], self._pairs[table], 0
        while time.perf_counter() < end:
            if board.is_game_over():
                board.reset()
            result = await pair[not board.turn].play(board, limit)
            board.push(result.move)
            moves += 1
        return moves

    async def close(self) -> None:
        """End the engines."""
        await self._processes.aclose()
