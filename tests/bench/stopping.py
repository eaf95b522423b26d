"""How much playing until it is decided saves, and how often it is wrong: `python -m tests.bench.stopping`.

Bots of known skill play through the format that tournaments use; only the matches are drawn, not played.
A run is wrong if a bot was preferred to another that is better by more than the tolerance.

    BENCH_RUNS=30       runs of each cell; from 100 on also what takes minutes: a game of more luck
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.special import ndtri

from arena.ratings.fold import BETA, TieRule
from arena.ratings.stopping import State
from arena.tournament.adaptive import Answer, Until, most_deals
from arena.tournament.formats import Plan, PlayedTable
from arena.tournament.schedule import Table

RUNS = int(os.environ.get("BENCH_RUNS", "30"))
TOLERANCE = 0.2
"""In standard deviations of skill."""


@dataclass(frozen=True, slots=True)
class Population:
    """Bots as they are drawn.

    Attributes:
        name: for people.
        luck: beta by standard deviation of skill.
        ties: whether matches name one loser, or the full order.
        bots: how many.
        seats: at a table.
        shared: share of the variance of luck that a deal gives to a seat, whoever sits there.
    """

    name: str
    luck: float
    ties: TieRule | None = None
    bots: int = 24
    seats: int = 4
    shared: float = 0.0

    @property
    def tolerance(self) -> float:
        """Rating points."""
        return TOLERANCE * BETA / self.luck

    @property
    def spread(self) -> float:
        """Standard deviation of a rating times the root of matches per bot, in betas, at four seats."""
        return 1.28 if self.ties is None else 1.65


POPULATIONS = (
    Population("full order, beta/sd 2", 2),
    Population("one loser, beta/sd 2", 2, TieRule.SHARED),
    *([Population("full order, beta/sd 4", 4)] if RUNS >= 100 else []),
)
GOALS = ("winner", "top 4")


class Uniform(Until):
    """Stops by the same rule, but lets everybody meet everybody equally often."""

    def _tables(self, finding: object, first: int, blocks: int) -> Iterator[Table]:
        return map(self._balanced.table, range(first, first + blocks))


class World:
    """Bots of known skill, and the matches that they would play."""

    def __init__(self, population: Population, skills: Sequence[float], seed: int) -> None:
        self.skills = np.asarray(skills)
        self._population = population
        self._chance = np.random.default_rng(seed)

    def play(self, table: Table) -> PlayedTable:
        """A table, played."""
        own, dealt = 1 - self._population.shared, self._population.shared
        seated = np.array(table.seatings)
        luck = self._chance.normal(0, np.sqrt(own) * BETA, seated.shape)
        luck += self._chance.normal(0, np.sqrt(dealt) * BETA, seated.shape[1])
        order = np.argsort(np.argsort(-(self.skills[seated] + luck), axis=1), axis=1) + 1
        if self._population.ties is TieRule.SHARED:
            order = np.where(order == seated.shape[1], order, 1)
        return PlayedTable(table, tuple(map(tuple, order.tolist())))

    def run(self, schedule: Until) -> Answer:
        """A tournament to its end."""
        played: list[PlayedTable] = []
        number = 0
        while tables := schedule.round(number, played):
            played += map(self.play, tables)
            number += 1
        return schedule.answer(played)

    def is_wrong(self, answer: Answer) -> bool:
        """Whether some bot is preferred to one that is better by more than the tolerance."""
        preferred = [pair for pair in answer.finding.pairs if pair.state is not State.OPEN]
        gaps = [self.skills[pair.worse] - self.skills[pair.better] for pair in preferred]
        return max(gaps, default=0.0) > answer.criterion.tolerance


def world(population: Population, seed: int) -> World:
    """A population with skills drawn by a seed."""
    skills = np.random.default_rng(seed).normal(0, BETA / population.luck, population.bots)
    return World(population, skills.tolist(), seed + 10**6)


def plan(population: Population, goal: str, seed: int) -> Plan:
    """What a format for a population is made from."""
    ties = (population.ties or TieRule.SHARED).value
    settings = {"until": goal, "tolerance": population.tolerance, "ties": ties}
    most = 4 * most_deals(population.bots, population.seats)
    return Plan(population.bots, population.seats, most, seed.to_bytes(32, "big"), True, settings)


def answers(
    population: Population, goal: str, runs: int, make: Callable[[Plan], Until] = Until
) -> Iterator[tuple[World, Answer]]:
    """What comes out for so many populations."""
    for seed in range(runs):
        there = world(population, seed)
        yield there, there.run(make(plan(population, goal, seed)))


def fixed_matches(population: Population) -> int:
    """Matches of a fixed schedule that tells any two bots apart with 95 % that differ by the tolerance."""
    sigma = population.tolerance / float(ndtri(0.95))
    per_bot = 2 * (population.spread * BETA / sigma) ** 2
    return ceil(population.bots * per_bot / population.seats)


def main() -> None:
    """Print a line for each population and goal."""
    print(f"{RUNS} runs; matches until decided: mean (median)")
    print("| population | goal | adaptive | uniform | ratio | fixed | ratio | wrong |")
    print("|---|---|---|---|---|---|---|---|")
    for population in POPULATIONS:
        for goal in GOALS:
            print(_line(population, goal), flush=True)


def _line(population: Population, goal: str) -> str:
    found = list(answers(population, goal, RUNS))
    adaptive = [answer.matches for _, answer in found]
    uniform = [answer.matches for _, answer in answers(population, goal, max(4, RUNS // 5), Uniform)]
    fixed = fixed_matches(population)
    wrong = sum(there.is_wrong(answer) for there, answer in found)
    mean = statistics.mean(adaptive)
    cells = (
        population.name,
        goal,
        _text(adaptive),
        _text(uniform),
        f"{statistics.mean(adaptive[: len(uniform)]) / statistics.mean(uniform):.2f}",
        f"{fixed:,}",
        f"{mean / fixed:.2f}",
        f"{wrong} of {len(found)}",
    )
    return f"| {' | '.join(cells)} |"


def _text(matches: Sequence[int]) -> str:
    return f"{statistics.mean(matches):,.0f} ({statistics.median(matches):,.0f})"


if __name__ == "__main__":
    main()
