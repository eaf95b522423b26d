"""Our ratings on many samples of many populations: what the goals are computed from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from arena.ratings.confidence import CONFIDENCE, probability_above, probability_better
from arena.ratings.fit import fit
from arena.ratings.fold import BETA
from tests.bench.ratings import figures
from tests.bench.ratings.figures import Rated
from tests.bench.ratings.methods import METHODS
from tests.ratings.populations import Kind, Population, play

POPULATIONS = {
    "full order, beta/sd 4": Population(),
    "one loser, beta/sd 4": Population(Kind.LOSER),
    "full order, beta/sd 1": Population(luck=1),
    "one loser, beta/sd 1": Population(Kind.LOSER, luck=1),
    "one winner, beta/sd 1": Population(Kind.WINNER, luck=1),
    "score ties 28 %, beta/sd 2": Population(Kind.SCORES, luck=2),
    "duplicates, independent luck": Population(rotate=True),
    "duplicates, 30 % shared luck": Population(rotate=True, shared=0.3),
    "duplicates, 60 % shared luck": Population(rotate=True, shared=0.6),
}
DUPLICATES = tuple(name for name in POPULATIONS if name.startswith("duplicates"))
ALL_SIZES = ("full order, beta/sd 4", "one loser, beta/sd 4")
SEEDS = 20


@dataclass(frozen=True, slots=True)
class Cell:
    """A population with a number of matches per bot."""

    name: str
    matches: int


@dataclass(frozen=True, slots=True)
class Reached:
    """What one sample of a cell gave.

    Attributes:
        tau: rank correlation with the truth.
        by_score: the same of the mean score.
        excess: log-loss, thousandths of a nat.
        covered: share of bots within their interval.
        uncorrected: the same without the correction for blocks.
        claimed: pairs of which one is said to be better with 95 %.
        stated: errors among them that are admitted.
        wrong: errors among them that were made.
        defaults: rank correlation of the package's defaults; nan where not computed.
    """

    tau: float
    by_score: float
    excess: float
    covered: float
    uncorrected: float
    claimed: int
    stated: float
    wrong: int
    defaults: float


@dataclass(frozen=True, slots=True)
class Task:
    """One sample of a cell; with the package's defaults as well if asked."""

    cell: Cell
    seed: int
    defaults: bool


def cells() -> Iterator[Cell]:
    """All of them, the largest first."""
    for matches in (3000, 1000, 300, 240, 100, 30):
        for name in POPULATIONS:
            if name in DUPLICATES:
                wanted = matches == 240
            else:
                wanted = matches != 240 and (matches != 100 or name in ALL_SIZES)
            if wanted:
                yield Cell(name, matches)


def tasks(long: bool) -> Iterator[Task]:
    """All samples, the largest first."""
    for cell in cells():
        for seed in range(SEEDS if long else _few(cell)):
            yield Task(cell, seed, seed < (10 if long else 3) and _beside_defaults(cell))


def _few(cell: Cell) -> int:
    """Seeds of the quick run: what fits."""
    large = cell.matches >= 1000
    if POPULATIONS[cell.name].kind is Kind.SCORES:
        return 3 if large else 4
    return 3 if large else 10


def _beside_defaults(cell: Cell) -> bool:
    return cell == Cell("full order, beta/sd 4", 1000)


def run(task: Task) -> Reached:
    """Play and rate one sample."""
    population = POPULATIONS[task.cell.name]
    sample = play(population, task.cell.matches, 100 + task.seed)
    rated = fit(sample.results(), population.ties)
    better = np.where(sample.skills[:, None] > sample.skills, 1, 0)
    stated = probability_better(rated)
    sure = stated >= CONFIDENCE
    defaults = METHODS["trueskill, defaults"](sample).mu if task.defaults else None
    corrected, plain = (
        Rated(rated.mu, covariance, BETA) for covariance in (rated.corrected, rated.covariance)
    )
    return Reached(
        tau=figures.kendall(rated.mu, sample.skills),
        by_score=figures.kendall(sample.mean_scores, sample.skills),
        excess=figures.excess_log_loss(probability_above(rated), sample.chances),
        covered=figures.covered(corrected, sample.skills),
        uncorrected=figures.covered(plain, sample.skills),
        claimed=int(sure.sum()),
        stated=float((1 - stated)[sure].sum()),
        wrong=int((1 - better)[sure].sum()),
        defaults=float("nan") if defaults is None else figures.kendall(defaults, sample.skills),
    )
