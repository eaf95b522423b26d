"""How results differ from what a fit expects, pair by pair at each table.

A surprise is the outcome between two bots of a match (1 above, 0 below, a half for a shared rank) minus its
expectation under the fit. The surprises of one bot against the others of a table are what it did better
than its rating, in shares of opponents outranked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from arena.ratings.arrays import Floats, Ints
from arena.ratings.fit import Fit
from arena.ratings.fold import BETA
from arena.ratings.kinds import renumbered
from arena.ratings.results import Results, Size

_CHUNK = 4_000
"""Matches that are computed on at once."""

_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(16)
_WEIGHTS = _WEIGHTS / np.sqrt(np.pi)


@dataclass(frozen=True, slots=True)
class Tables:
    """Surprises of all tables of one size. A table is the same bots in the same block.

    Luck is shared within a block, so tables, not matches, are counted as independent.

    Attributes:
        bots: numbers in `Fit.bots` by table, ascending.
        matches: of each table.
        sums: by table, the surprises of the row's bot against the column's, over its matches.
        outcomes: the same of the outcomes themselves.
    """

    bots: Ints
    matches: Floats
    sums: Floats
    outcomes: Floats


def tables_of(results: Results, fit: Fit) -> Iterator[Tables]:
    """The tables by size, the smallest first.

    Args:
        fit: of these results.
    """
    index = {bot: number for number, bot in enumerate(fit.bots)}
    number = np.array([index[bot] for bot in results.bots], np.intp)
    for size in results.sizes():
        yield _tables(renumbered(size, number), fit)


def _tables(size: Size, fit: Fit) -> Tables:
    order = np.argsort(size.bots, axis=1)
    seated = np.take_along_axis(size.bots, order, axis=1)
    rows, tables, matches = np.unique(
        np.column_stack([size.blocks, seated]), axis=0, return_inverse=True, return_counts=True
    )
    tables = tables.ravel()
    sums, outcomes = np.zeros((2, len(rows), size.seats, size.seats))
    for first in range(0, len(seated), _CHUNK):
        here = slice(first, first + _CHUNK)
        outcome, expected = _compared(size, fit, order[here], here)
        np.add.at(sums, tables[here], outcome - expected)
        np.add.at(outcomes, tables[here], outcome)
    return Tables(rows[:, 1:].astype(np.intp), matches.astype(float), sums, outcomes)


def _compared(size: Size, fit: Fit, order: Ints, here: slice) -> tuple[Floats, Floats]:
    """Outcome and its expectation by match and two of its bots, in the order of their numbers."""
    advantages = fit.seats.get(size.seats, np.zeros(size.seats))
    strengths = (fit.mu[size.bots[here]] + advantages) / BETA
    strengths = np.take_along_axis(strengths, order, axis=1)
    ranks = np.take_along_axis(size.ranks[here], order, axis=1)
    outcome = (np.sign(ranks[:, None, :] - ranks[:, :, None]) + 1) / 2
    return outcome, _expected(strengths, ranks, fit.margins[size.seats] / BETA)


def _expected(strengths: Floats, ranks: Ints, margin: float) -> Floats:
    """Expected outcome between each two, in shares of BETA.

    Where ranks are shared because scores were equal, whether they are is part of the outcome. Where they
    are shared because the game names a loser or a winner, how many share them is taken as given.
    """
    gaps = (strengths[:, :, None] - strengths[:, None, :]) / np.sqrt(2)
    if margin:
        wide = margin / np.sqrt(2)
        drawn: Floats = (ndtr(gaps + wide) + ndtr(gaps - wide)) / 2
        return drawn
    tied = ((ranks[:, :, None] == ranks[:, None, :]).mean(axis=(1, 2)) * ranks.shape[1] - 1) / (
        ranks.shape[1] - 1
    )
    expected: Floats = 0.5 + (ndtr(gaps) - 0.5) * (1 - tied)[:, None, None]
    tops = (ranks == 1).sum(axis=1)
    halved = (ranks <= (tops + 1)[:, None]).all(axis=1) & (tops < ranks.shape[1])
    for top in np.unique(tops[halved]):
        here = np.flatnonzero(halved & (tops == top))
        above = _among_first(strengths[here], int(top))
        expected[here] = 0.5 + (above[:, :, None] - above[:, None, :]) / 2
    return expected


def _among_first(strengths: Floats, first: int) -> Floats:
    """Probability by match and bot that it is among the first so many, in shares of BETA.

    An integral over its own performance; given that, the others are above it or not independently.
    """
    matches, seats = strengths.shape
    result = np.empty((matches, seats))
    for one in range(seats):
        performance = strengths[:, [one]] + np.sqrt(2) * _NODES
        above = np.zeros((seats, matches, len(_NODES)))
        above[0] = 1
        for other in range(seats):
            if other != one:
                chance = ndtr(strengths[:, [other]] - performance)
                above[1:] = above[1:] * (1 - chance) + above[:-1] * chance
                above[0] *= 1 - chance
        result[:, one] = above[:first].sum(axis=0) @ _WEIGHTS
    return result
