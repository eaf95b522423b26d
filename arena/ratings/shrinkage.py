"""Skills as they are known if bots differ as much as they seem to.

A fit supposes that skills may differ a lot, so that its intervals hold whatever they are. A statement such as
"A is better than B" is made of the pairs that look most different, and among nearly equal bots those are the
luckiest: by such a wide prior it is wrong several times as often as it says while little has been played. So
it is made from skills that are drawn together as far as the spread of all skills tells (B. Efron, C. Morris,
"Data analysis using Stein's estimator and its generalizations", 1975). Little is known of that spread
either, so all spreads count, each with its probability; beforehand all orders of magnitude between that of
the wide prior and a sixty-fourth of it are equally probable (A. Gelman et al., "Bayesian Data Analysis",
ch. 5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.ratings.arrays import Floats

_SPREADS = np.geomspace(1 / 64, 1, 15)
"""Spreads that are tried, in that of the wide prior."""
_IMPOSSIBLE = 1e-4
_UNKNOWN = 1e-9
_SINGULAR = 1e-12


@dataclass(frozen=True, slots=True)
class Drawn:
    """Skills, given how much bots differ.

    Attributes:
        weight: probability that they differ so much.
        mu: mean skill by bot.
        covariance: of the skills.
    """

    weight: float
    mu: Floats
    covariance: Floats


def drawn_together(mu: Floats, covariance: Floats, prior: float) -> list[Drawn]:
    """Skills for each spread that they may have; the weights sum to 1.

    Args:
        mu: means under the wide prior, whose mean is 0.
        covariance: likewise.
        prior: standard deviation of the wide prior.
    """
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, values.max() * _SINGULAR)  # what all have in common may be known for sure
    known = np.maximum(1 / values - prior**-2, 0)  # precision that the matches give in each direction
    shift = (vectors.T @ mu) / values
    weights = _weights(known, shift, prior * _SPREADS)
    drawn = []
    for weight, spread in zip(weights, prior * _SPREADS, strict=True):
        if weight > 0:
            variances = 1 / (known + spread**-2)
            together = (vectors * variances) @ vectors.T
            drawn.append(Drawn(float(weight), vectors @ (shift * variances), together))
    return drawn


def _weights(known: Floats, shift: Floats, spreads: Floats) -> Floats:
    """Probability of each spread: what was seen has the variance of the spread and of its own error."""
    told = known > _UNKNOWN * known.max(initial=0)
    seen, errors = shift[told] / known[told], 1 / known[told]
    variances = np.square(spreads)[:, None] + errors
    likely = -(np.log(variances) + np.square(seen) / variances).sum(axis=1) / 2
    weights = np.exp(likely - likely.max())
    weights[weights < _IMPOSSIBLE * weights.max()] = 0
    shares: Floats = weights / weights.sum()
    return shares
