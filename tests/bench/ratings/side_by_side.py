"""All methods on the same results."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tests.bench.ratings import figures
from tests.bench.ratings.methods import METHODS
from tests.ratings.populations import Kind, Population, play

POPULATIONS = {
    "full order, beta/sd 4": Population(),
    "one loser, beta/sd 1": Population(Kind.LOSER, luck=1),
    "score ties 28 %, beta/sd 2": Population(Kind.SCORES, luck=2),
    "duplicates, 60 % shared luck, beta/sd 4": Population(rotate=True, shared=0.6),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One sample, rated by all methods.

    Attributes:
        name: of the population.
        matches: per bot.
        seed: of the sample.
        orders: in how many orders its matches are rated; 1 leaves the column out.
    """

    name: str
    matches: int
    seed: int
    orders: int


@dataclass(frozen=True, slots=True)
class Row:
    """What a method reached on one sample; nan where it says nothing."""

    method: str
    tau: float
    excess: float
    covered: float
    spread: float
    seconds: float


def tasks(matches: Sequence[int], seeds: int, orders: int) -> Iterator[Task]:
    """The first seed of each population is rated in several orders."""
    for name in POPULATIONS:
        for number in matches:
            for seed in range(seeds):
                yield Task(name, number, seed, 1 if seed else orders)


def run(task: Task) -> list[Row]:
    """Rate a sample by all methods."""
    sample = play(POPULATIONS[task.name], task.matches, task.seed)
    chance = np.random.default_rng(task.seed)
    others = [sample.shuffled(chance) for _ in range(task.orders - 1)]
    rows = []
    for name, method in METHODS.items():
        began = time.perf_counter()
        rated = method(sample)
        seconds = time.perf_counter() - began
        spread = (
            figures.order_spread([rated.mu, *(method(other).mu for other in others)])
            if others
            else float("nan")
        )
        excess = float("nan") if rated.above is None else figures.excess_log_loss(rated.above, sample.chances)
        tau = figures.kendall(rated.mu, sample.skills)
        rows.append(Row(name, tau, excess, figures.covered(rated, sample.skills), spread, seconds))
    return rows
