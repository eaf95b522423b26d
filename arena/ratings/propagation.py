"""Expectation propagation over the comparisons of many matches of a kind at once.

The last index of every array is the match.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.ratings.arrays import Floats, Ints
from arena.ratings.kinds import Kind
from arena.ratings.truncation import above, between


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of all players of one table size.

    Attributes:
        mean: by player.
        covariance: of the players.
    """

    mean: Floats
    covariance: Floats


class Sums:
    """What matches say of their players, added up in the natural parameters of a normal distribution."""

    def __init__(self, players: int) -> None:
        self._players = players
        self._half = np.zeros(players * players)
        self.shift = np.zeros(players)

    def add(self, kind: Kind, chunk: slice) -> None:
        """Add the matches of a chunk."""
        players, counts = kind.players[:, chunk], kind.counts[chunk]
        precision, shift = evidence(kind, chunk)
        shift = by_place(kind, shift) * counts
        grid = by_place(kind, by_place(kind, precision).swapaxes(0, 1))
        for one in range(len(players)):
            np.add.at(self.shift, players[one], shift[one])
            for other in range(one + 1):
                np.add.at(
                    self._half, players[one] * self._players + players[other], grid[one, other] * counts
                )

    def symmetric(self) -> Floats:
        """The precision of all players; it was added up for each pair one way only."""
        half = self._half.reshape(self._players, self._players)
        return half + half.T - np.diag(np.diag(half))


def by_place(kind: Kind, values: Floats) -> Floats:
    """Values by comparison, as values by place: what adds to the better one is taken from the worse."""
    result = np.zeros((len(kind.players), *values.shape[1:]))
    for number, (better, worse) in enumerate(zip(kind.better, kind.worse, strict=True)):
        result[better] += values[number]
        result[worse] -= values[number]
    return result


def _remaining_luck(luck: Floats, precision: Floats) -> Floats:
    """Covariance of the luck of comparisons when their sites are known: (luck⁻¹ + sites)⁻¹.

    Rank-one updates (Sherman and Morrison), one comparison at a time: the luck of more comparisons than
    places minus one has no inverse.
    """
    left = np.repeat(luck[:, :, None], precision.shape[1], axis=2)
    for number, site in enumerate(precision):
        column = left[number].copy()
        kept = 1 / (1 + site * column[number])
        left -= column[:, None] * (column * (site * kept))
        # The difference is this; computed as one, it loses the digits that a precise site needs.
        left[number] = left[:, number] = column * kept
    return left


def evidence(kind: Kind, chunk: slice) -> tuple[Floats, Floats]:
    """What a match says of the differences of skill, the luck integrated out: precision and shift."""
    precision, shift = kind.precision[:, chunk], kind.shift[:, chunk]
    weighted = _remaining_luck(kind.luck, precision) * precision
    grid = -precision[:, None] * weighted
    diagonal = np.arange(len(precision))
    grid[diagonal, diagonal] += precision
    # `weighted` is luck @ diag(precision), the luck is symmetric: this is shift - precision * (luck @ shift).
    return grid, shift - (weighted * shift[:, None]).sum(axis=0)


def improve(kind: Kind, chunk: slice, belief: Belief, margin: float, step: float) -> None:
    """One pass of expectation propagation over the comparisons of each match of a chunk.

    Args:
        margin: by how much performances must differ not to be equal.
        step: how far each site goes from what it was to the better one, in 0..1.
    """
    mean, variance = _performances(kind, chunk, belief)
    precisions, shifts = kind.precision[:, chunk], kind.shift[:, chunk]
    for number, drawn in enumerate(kind.drawn):
        old, column = mean[number].copy(), variance[number].copy()
        spread = column[number].copy()
        precision, shift = _site(old, spread, precisions[number], shifts[number], margin, bool(drawn))
        more, moved = step * (precision - precisions[number]), step * (shift - shifts[number])
        precisions[number] += more
        shifts[number] += moved
        scale = 1 / (1 + more * spread)
        rest = slice(number + 1, None)
        mean[rest] += column[rest] * ((moved - more * old) * scale)
        variance[rest, rest] -= column[rest, None] * (column[rest] * (more * scale))


def _performances(kind: Kind, chunk: slice, belief: Belief) -> tuple[Floats, Floats]:
    """Mean and covariance of the differences of performance that a match compares, given everything."""
    players = kind.players[:, chunk]
    skills = belief.mean[players]
    skill = skills[kind.better] - skills[kind.worse]
    spread = _spread(kind, players, belief.covariance)
    precision, shift = kind.precision[:, chunk], kind.shift[:, chunk]
    luck = _remaining_luck(kind.luck, precision)
    # Given the skills, the differences are normal: mean through @ skill + luck @ shift, covariance luck.
    through = -luck * precision
    diagonal = np.arange(len(precision))
    through[diagonal, diagonal] += 1
    mean = times(through, skill[:, None])[:, 0] + times(luck, shift[:, None])[:, 0]
    return mean, luck + times(times(through, spread), through.swapaxes(0, 1))


def _spread(kind: Kind, players: Ints, covariance: Floats) -> Floats:
    """Covariance of the differences of skill that a match compares."""
    flat, number = covariance.ravel(), len(covariance)
    grid = np.empty((len(players), *players.shape))
    for one in range(len(players)):
        first = players[one] * number
        for other in range(one + 1):
            grid[one, other] = flat[first + players[other]]
            grid[other, one] = grid[one, other]
    rows = grid[kind.better] - grid[kind.worse]
    differences: Floats = rows[:, kind.better] - rows[:, kind.worse]
    return differences


def times(one: Floats, other: Floats) -> Floats:
    """Product of two small matrices for every match; the last index is the match."""
    result: Floats = one[:, 0, None] * other[0]
    for number in range(1, len(other)):
        result += one[:, number, None] * other[number]
    return result


def _site(
    mean: Floats, variance: Floats, precision: Floats, shift: Floats, margin: float, drawn: bool
) -> tuple[Floats, Floats]:
    """The better site of a comparison.

    Args:
        mean, variance: of the difference of performance, given everything.
        precision, shift: the site as it was.
        margin: by how much performances must differ not to be equal.
        drawn: whether the comparison says that they are.

    Returns:
        Precision and shift.
    """
    without = variance / (1 - precision * variance)
    centre = without * (mean / variance - shift)
    sigma = np.sqrt(without)
    if drawn:
        v, left = between(centre / sigma, margin / sigma)
    else:
        v, left = above((centre - margin) / sigma)
    return (1 - left) / (left * without), ((1 - left) * centre + sigma * v) / (left * without)
