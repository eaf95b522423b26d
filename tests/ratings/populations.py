"""Simulated populations of bots whose true skills are known.

In a match each bot performs as its skill, plus its seat's advantage, plus normal luck of standard
deviation BETA. How spread skills are is told by the luck, BETA over the standard deviation of skill: at 4
a bot one standard deviation better wins 57 % of two-seat matches, at 1 it wins 76 %.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from arena.ratings.arrays import Floats, Ints
from arena.ratings.fold import BETA, TieRule
from arena.ratings.results import Results


class Kind(enum.Enum):
    """What a match tells of its performances."""

    ORDER = "full order"
    LOSER = "one loser"
    WINNER = "one winner"
    SCORES = "score ties"
    """Performances that neighbour within the margin have equal scores."""


@dataclass(frozen=True, slots=True)
class Population:
    """How results come about.

    Attributes:
        kind: what a match tells.
        luck: BETA over the standard deviation of skill.
        bots: how many, a multiple of `seats`.
        seats: at one table.
        rotate: whether each table plays a block of as many matches as seats, one from each seat.
        shared: share of luck's variance that belongs to the seat of a deal, whoever sits there.
        margin: of equal scores, in shares of BETA.
        advantages: of each seat, in shares of BETA; none if empty.
    """

    kind: Kind = Kind.ORDER
    luck: float = 4.0
    bots: int = 32
    seats: int = 4
    rotate: bool = False
    shared: float = 0.0
    margin: float = 0.3
    advantages: Sequence[float] = ()

    @property
    def ties(self) -> TieRule:
        """How its shared ranks are to be read."""
        return TieRule.DRAW if self.kind is Kind.SCORES else TieRule.SHARED

    @property
    def names(self) -> list[str]:
        """Of the bots, by number."""
        return [f"bot{number:03}" for number in range(self.bots)]


@dataclass(frozen=True, slots=True)
class Sample:
    """Results of a population.

    Attributes:
        population: whose they are.
        skills: true ones by bot, in rating points.
        bots: number of the bot by match and seat.
        ranks: by match and seat.
        blocks: by match.
    """

    population: Population
    skills: Floats
    bots: Ints
    ranks: Ints
    blocks: Ints

    def results(self) -> Results:
        """As the arena keeps them."""
        results = Results()
        results.add_all(self.population.names, self.bots, self.ranks, self.blocks)
        return results

    def shuffled(self, chance: np.random.Generator) -> Sample:
        """The same matches in another order."""
        order = chance.permutation(len(self.bots))
        return Sample(self.population, self.skills, self.bots[order], self.ranks[order], self.blocks[order])

    @property
    def chances(self) -> Floats:
        """True probability, by row and column, that the row's bot performs better than the column's."""
        return chances(self.skills, BETA)

    @property
    def mean_scores(self) -> Floats:
        """By bot, the mean share of opponents outranked, ties half."""
        lower = (self.ranks[:, :, None] < self.ranks[:, None, :]).sum(axis=2)
        tied = (self.ranks[:, :, None] == self.ranks[:, None, :]).sum(axis=2) - 1
        shares = ((lower + tied / 2) / (self.population.seats - 1)).ravel()
        return np.bincount(self.bots.ravel(), shares) / np.bincount(self.bots.ravel())


def chances(skills: Floats, beta: float) -> Floats:
    """Probability, by row and column, that the row's performance is above the column's."""
    probabilities: Floats = ndtr((skills[:, None] - skills) / (np.sqrt(2) * beta))
    return probabilities


def play(
    population: Population, matches: int, seed: int, changed: Callable[[Ints], Floats] | None = None
) -> Sample:
    """Simulate.

    Args:
        matches: per bot.
        seed: the same one gives the same results.
        changed: what performances are changed by, in rating points, given the bots by match and seat.
    """
    chance = np.random.default_rng([seed, matches])
    skills = chance.normal(0, BETA / population.luck, population.bots)
    tables, blocks = _tables(population, matches, chance)
    performances = skills[tables] + BETA * _luck(population, blocks, chance)
    if population.advantages:
        performances += BETA * np.asarray(population.advantages)
    if changed is not None:
        performances += changed(tables)
    return Sample(population, skills, tables, ranks_of(population, performances), blocks)


def ranks_of(population: Population, performances: Floats) -> Ints:
    """Competition ranks by match and seat."""
    if population.kind is Kind.LOSER:
        last = performances.argmin(axis=1)[:, None] == np.arange(population.seats)
        return np.where(last, population.seats, 1)
    if population.kind is Kind.WINNER:
        first = performances.argmax(axis=1)[:, None] == np.arange(population.seats)
        return np.where(first, 1, 2)
    scores = performances
    if population.kind is Kind.SCORES:
        order = np.argsort(performances, axis=1)
        steps = np.diff(np.take_along_axis(performances, order, axis=1), axis=1) > population.margin * BETA
        levels = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)
        scores = np.empty_like(performances)
        np.put_along_axis(scores, order, levels, axis=1)
    ranks: Ints = 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    return ranks


def _tables(population: Population, matches: int, chance: np.random.Generator) -> tuple[Ints, Ints]:
    """Bots by match and seat, and the blocks: random tables, each bot at one of every round."""
    seats = population.seats
    rounds = matches // seats if population.rotate else matches
    everyone = np.tile(np.arange(population.bots), (rounds, 1))
    base = chance.permuted(everyone, axis=1).reshape(-1, seats)
    if not population.rotate:
        return base, np.arange(len(base))
    turns = [np.roll(base, turn, axis=1) for turn in range(seats)]
    return np.stack(turns, axis=1).reshape(-1, seats), np.repeat(np.arange(len(base)), seats)


def _luck(population: Population, blocks: Ints, chance: np.random.Generator) -> Floats:
    own = chance.normal(size=(len(blocks), population.seats))
    of_deal = chance.normal(size=(int(blocks.max()) + 1, population.seats))[blocks]
    luck: Floats = np.sqrt(1 - population.shared) * own + np.sqrt(population.shared) * of_deal
    return luck
