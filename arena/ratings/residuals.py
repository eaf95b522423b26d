"""The pairs of bots whose results their ratings do not tell.

One number a bot cannot say that ann beats bob, bob beats cat and cat beats ann.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.ratings.arrays import Floats
from arena.ratings.fit import Fit
from arena.ratings.pair_sums import Sums, mean_square, pairs_of
from arena.ratings.results import Results
from arena.ratings.surprises import tables_of

_LEAST_TABLES = 10
"""Of fewer nothing is said."""


@dataclass(frozen=True, slots=True)
class Residual:
    """How two bots did against each other, and what their ratings expected.

    Attributes:
        bot: who did better than expected.
        against: the other one.
        observed: share of their matches in which it was above, a shared rank counting half.
        expected: the same by the ratings.
        error: standard deviation of the difference.
        z: the difference in errors. Of honest bots the worst of N(N-1)/2 pairs is some 2 to 3.
        matches: of the two.
    """

    bot: str
    against: str
    observed: float
    expected: float
    error: float
    z: float
    matches: int


def residuals(results: Results, fit: Fit, number: int = 10) -> list[Residual]:
    """The pairs whose results the ratings tell least, the worst first.

    Args:
        fit: of these results.
        number: of pairs, at most.
    """
    count = len(fit.bots)
    sums, observed = Sums.none(count * count), np.zeros(count * count)
    for tables in tables_of(results, fit):
        seats = tables.bots.shape[1]
        pairs, apart = pairs_of(tables, count).ravel(), ~np.eye(seats, dtype=bool)
        matches, values = np.repeat(tables.matches, seats * (seats - 1)), tables.sums[:, apart].ravel()
        sums.add(pairs, matches, values, mean_square(pairs, matches, values, count * count))
        observed += np.bincount(pairs, tables.outcomes[:, apart].ravel(), count * count)
    return _worst(sums, observed, fit.bots, number)


def _worst(sums: Sums, observed: Floats, bots: tuple[str, ...], number: int) -> list[Residual]:
    mean, variance = sums.mean()
    pairs = np.flatnonzero((sums.tables >= _LEAST_TABLES) & (mean > 0))
    gap, matches = mean[pairs], sums.matches[pairs]
    share = observed[pairs] / matches
    expected = share - gap
    # Of few matches that ended alike the variance is what the expectation says, and never nothing.
    least = np.maximum(expected * (1 - expected), 1 / matches) / matches
    error = np.sqrt(np.maximum(variance[pairs], least))
    return [
        Residual(
            bot=bots[pairs[place] // len(bots)],
            against=bots[pairs[place] % len(bots)],
            observed=float(share[place]),
            expected=float(expected[place]),
            error=float(error[place]),
            z=float(gap[place] / error[place]),
            matches=int(matches[place]),
        )
        for place in np.argsort(-gap / error, kind="stable")[:number]
    ]
