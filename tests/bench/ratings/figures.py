"""How good ratings are, where the true skills are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.ratings.arrays import Floats
from arena.ratings.confidence import centred_sigmas
from arena.ratings.fold import BETA

_SURE = 1.959963984540054
"""Standard deviations on either side that hold 95 %."""


@dataclass(frozen=True, slots=True)
class Rated:
    """What a method says.

    Attributes:
        mu: by bot, in the method's own points.
        covariance: of `mu`, if the method states how sure it is.
        beta: standard deviation of a match's luck in those points.
        above: by row and column, the probability that the row's bot performs better, if the method says.
    """

    mu: Floats
    covariance: Floats | None = None
    beta: float = BETA
    above: Floats | None = None


def kendall(one: Floats, other: Floats) -> float:
    """Kendall's rank correlation; pairs that are equal on a side count 0."""
    upper = np.triu_indices(len(one), 1)
    signs = np.sign(one[:, None] - one)[upper] * np.sign(other[:, None] - other)[upper]
    return float(signs.mean())


def excess_log_loss(above: Floats, truth: Floats) -> float:
    """Mean log-loss over all pairs beyond that of the true probabilities, in thousandths of a nat."""
    upper = np.triu_indices(len(truth), 1)
    p, q = truth[upper], np.clip(above[upper], 1e-12, 1 - 1e-12)
    return float(1000 * (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))).mean())


def covered(rated: Rated, skills: Floats) -> float:
    """Share of bots whose true centred skill the stated 95 % interval holds."""
    if rated.covariance is None:
        return float("nan")
    truth = (skills - skills.mean()) * rated.beta / BETA
    gaps = np.abs(rated.mu - rated.mu.mean() - truth)
    return float((gaps < _SURE * centred_sigmas(rated.covariance)).mean())


def order_spread(rated: Sequence[Floats]) -> float:
    """By how much the order of the same matches moves a bot: standard deviation over orders (root mean square
    over bots), in standard deviations of the ratings over bots."""
    centred = np.array([mu - mu.mean() for mu in rated])
    return float(np.sqrt(centred.var(axis=0, ddof=1).mean()) / centred.std(axis=1).mean())
