"""Skills as they are known if bots differ as much as they seem to.

A fit supposes that skills may differ a lot, so that its intervals hold whatever they are. A statement such as
"A is better than B" is made of the pairs that look most different, and among nearly equal bots those are the
luckiest: by such a wide prior it is wrong twice as often as it says while little has been played. So it is
made from skills that are drawn together as far as the spread of all skills tells (empirical Bayes; B. Efron,
C. Morris, "Data analysis using Stein's estimator and its generalizations", 1975).
"""

from __future__ import annotations

import numpy as np

from arena.ratings.arrays import Floats

_SUPPOSED = 1 / 4
"""Spread of skills, in that of the wide prior, for which one imagined bot vouches: two bots show none."""
_STEPS = 500
_SETTLED = 1e-6
_SINGULAR = 1e-12


def drawn_together(mu: Floats, covariance: Floats, prior: float) -> tuple[Floats, Floats]:
    """Mean and covariance of skills under a prior as wide as they are spread.

    The prior's spread is set to the mean square of the skills that it leads to, their uncertainty included,
    until it stays (expectation maximisation); it never gets wider than it was.

    Args:
        mu: means under the wide prior, whose mean is 0.
        covariance: likewise.
        prior: standard deviation of the wide prior.
    """
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, values.max() * _SINGULAR)  # what all have in common may be known for sure
    known = np.maximum(1 / values - prior**-2, 0)
    shift = (vectors.T @ mu) / values
    spread = prior
    for _ in range(_STEPS):
        variances = 1 / (known + spread**-2)
        squares = float((np.square(shift * variances) + variances).sum())
        before, spread = spread, min(prior, np.sqrt((squares + (prior * _SUPPOSED) ** 2) / (len(mu) + 1)))
        if abs(spread - before) < _SETTLED * before:
            break
    return vectors @ (shift * variances), (vectors * variances) @ vectors.T
