"""How much of a game is luck, and how much of it duplicate deals take out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import chdtrc

from arena.ratings.arrays import Floats, Ints
from arena.ratings.fit import Fit, fit
from arena.ratings.fold import BETA, SIGMA, TieRule
from arena.ratings.results import Results, Size

_STEPS = 200
_SETTLED = 1e-3
_EQUAL = 0.05
_FEWEST = 10
_PARTS = 20
"""Parts into which blocks are cut for the error of a factor."""


@dataclass(frozen=True, slots=True)
class DuplicateFactor:
    """What the repetition of deals is worth.

    Attributes:
        factor: how many times fewer matches give the same variance of the difference of two bots' rank
            scores, because each deal is played in all rotations of the seats.
        error: its standard error (jackknife over parts of the blocks).
        blocks: number of blocks that it was measured on.
    """

    factor: float
    error: float
    blocks: int


def luck_index(results: Results, ties: TieRule, rated: Fit) -> float | None:
    """Standard deviation of one bot's luck in one match, in standard deviations of the bots' skills.

    The spread of skills is estimated by expectation maximisation: it is set to the mean square of the
    skills that it leads to, their uncertainty included, until it stays.

    Args:
        rated: a fit of the same results.

    Returns:
        None where all bots may be equal as far as the results show, or where there are not three of them.
    """
    if len(rated.bots) < 3 or _may_be_equal(rated):
        return None
    sigma = SIGMA
    for _ in range(_STEPS):
        before, sigma = sigma, _spread(rated)
        if abs(sigma - before) < _SETTLED * before:
            break
        rated = fit(results, ties, sigma=sigma, start=rated)
    return BETA / sigma


def _may_be_equal(rated: Fit) -> bool:
    """Whether so great differences have a chance of 5 % among equal bots (Wald's test)."""
    gaps = rated.mu[1:] - rated.mu[0]
    contrasts = np.hstack([-np.ones((len(gaps), 1)), np.eye(len(gaps))])
    covariance = contrasts @ rated.corrected @ contrasts.T
    return bool(chdtrc(len(gaps), gaps @ np.linalg.solve(covariance, gaps)) > _EQUAL)


def _spread(rated: Fit) -> float:
    """Standard deviation of skills around their mean, as far as a fit knows them."""
    centre = np.eye(len(rated.bots)) - 1 / len(rated.bots)
    squares = np.square(centre @ rated.mu).sum() + np.trace(centre @ rated.covariance @ centre)
    return float(np.sqrt(squares / (len(rated.bots) - 1)))


def duplicate_factor(results: Results) -> DuplicateFactor | None:
    """What playing each deal in all rotations is worth, measured.

    For each two bots of a block the difference of their rank scores is taken, match by match. If the matches
    of a block were independent, the variance of its sum would be the number of matches times that of one
    match; the factor is how many times smaller it is. Blocks are compared with those in which the same bots
    sat in the same order around the table: who sits before whom is not the deal's doing, and it is the same
    in all rotations.

    Returns:
        None where fewer than ten blocks can be compared, or where all of them came out the same.
    """
    sums = [part for size in results.sizes() if (part := _sums(size)) is not None]
    if not sums:
        return None
    independent, together = (np.concatenate(column) for column in zip(*sums, strict=True))
    blocks = len(together)
    if blocks < _FEWEST or together.sum() <= 0:
        return None
    factor = float(independent.sum() / together.sum())
    parts = np.arange(blocks) * min(_PARTS, blocks) // blocks
    without = np.array(
        [independent[parts != part].sum() / together[parts != part].sum() for part in np.unique(parts)]
    )
    error = np.sqrt((len(without) - 1) / len(without) * np.square(without - without.mean()).sum())
    return DuplicateFactor(factor, float(error), blocks)


def _sums(size: Size) -> tuple[Floats, Floats] | None:
    """By block: its sum of squares if its matches were independent, and the square of its sum.

    Both are as if the means that they are taken from were known.
    """
    rows = _whole_blocks(size)
    circles, counts = _circles(size, rows)
    rows, circles, counts = rows[counts > 1], circles[counts > 1], counts[counts > 1]
    if not len(rows):
        return None
    scores = np.stack([_scores(size, rows[:, turn]) for turn in range(size.seats)])
    independent, together = np.zeros(len(rows)), np.zeros(len(rows))
    matches = counts * size.seats
    for one, other in combinations(range(size.seats), 2):
        gaps = scores[:, :, one] - scores[:, :, other]
        gaps = gaps - _group_means(circles, gaps.mean(axis=0))
        independent += np.square(gaps).sum(axis=0) * matches / (matches - 1)
        together += np.square(gaps.sum(axis=0)) * counts / (counts - 1)
    return independent, together


def _circles(size: Size, rows: Ints) -> tuple[Ints, Ints]:
    """For each block the number of its order around the table, and how many blocks have the same."""
    seated = size.bots[rows[:, 0]]
    turns = (seated.argmin(axis=1)[:, None] + np.arange(size.seats)) % size.seats
    orders = np.take_along_axis(seated, turns, axis=1)
    _, circles, counts = np.unique(orders, axis=0, return_inverse=True, return_counts=True)
    circles = circles.ravel()
    return circles, counts[circles]


def _whole_blocks(size: Size) -> Ints:
    """The matches of each block in which the same bots sat in as many matches as the table has seats."""
    order = np.argsort(size.blocks, kind="stable")
    blocks, firsts, counts = np.unique(size.blocks[order], return_index=True, return_counts=True)
    firsts = firsts[counts == size.seats]
    rows: Ints = order[firsts[:, None] + np.arange(size.seats)] if len(blocks) else np.empty((0, 1), np.intp)
    seated = np.sort(size.bots[rows], axis=2)
    same: Ints = rows[(seated == seated[:, :1]).all(axis=(1, 2))]
    return same


def _scores(size: Size, rows: Ints) -> Floats:
    """Rank scores of matches by bot: the share of the others that it outranked, ties half."""
    ranks = np.take_along_axis(size.ranks[rows], np.argsort(size.bots[rows], axis=1), axis=1)
    below = (ranks[:, None, :] > ranks[:, :, None]).sum(axis=2)
    tied = (ranks[:, None, :] == ranks[:, :, None]).sum(axis=2) - 1
    scores: Floats = (below + tied / 2) / (size.seats - 1)
    return scores


def _group_means(groups: Ints, values: Floats) -> Floats:
    """For each value the mean of its group."""
    _, which = np.unique(groups, return_inverse=True)
    means: Floats = (np.bincount(which, values) / np.bincount(which))[which]
    return means
