"""The exact posterior of a few bots, by importance sampling: independent of expectation propagation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from scipy.special import ndtr

from arena.ratings.arrays import Floats
from arena.ratings.fold import BETA, SIGMA

_POINTS = np.linspace(-8, 8, 101)
"""Performances at which integrals are taken, in shares of BETA: finer steps change nothing that shows."""
_STEP = float(_POINTS[1] - _POINTS[0])
_WIDER = 1.15
"""The samples are drawn from a distribution by so much wider than the one that is tested."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """Moments of the skills.

    Attributes:
        mean: in rating points.
        covariance: of them.
        effective: how many independent samples they are worth.
    """

    mean: Floats
    covariance: Floats
    effective: float


def posterior(
    matches: Sequence[tuple[Sequence[int], Sequence[int]]], mean: Floats, covariance: Floats, samples: int
) -> Posterior:
    """The posterior of all skills after matches without a draw margin.

    Args:
        matches: bots and ranks by seat; only the first and last rank of a match may be shared, and not
            both at once.
        mean, covariance: about where it is; only the effort depends on it.
        samples: to draw.
    """
    chance = np.random.default_rng(0)
    root = np.linalg.cholesky(covariance) * _WIDER
    standard = chance.normal(size=(samples, len(mean)))
    skills = mean + standard @ root.T
    log = -0.5 * (skills**2).sum(axis=1) / SIGMA**2 + 0.5 * (standard**2).sum(axis=1)
    log += sum(np.log(_likelihood(skills[:, list(bots)] / BETA, ranks)) for bots, ranks in matches)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    centre = weights @ skills
    apart = skills - centre
    return Posterior(centre, (apart * weights[:, None]).T @ apart, float(1 / (weights**2).sum()))


def _likelihood(skills: Floats, ranks: Sequence[int]) -> Floats:
    """Probability of ranks given skills in shares of BETA, by sample: an integral over performances,
    one bot after the other from the worst upwards."""
    seats = sorted(range(len(ranks)), key=lambda seat: -ranks[seat])
    groups = [list(group) for _, group in groupby(seats, key=lambda seat: ranks[seat])]
    below = np.prod([ndtr(_POINTS - skills[:, [seat]]) for seat in groups[0]], axis=0)
    for (seat,) in groups[1:-1]:
        mass = _density(skills[:, [seat]]) * below * _STEP
        below = np.cumsum(mass, axis=1) - mass / 2
    if len(groups) == 2 and len(groups[0]) == 1:
        # One loser: all others are above where it is.
        above = np.prod([ndtr(skills[:, [seat]] - _POINTS) for seat in groups[1]], axis=0)
        return _total(_density(skills[:, groups[0]]) * above)
    (first,) = groups[-1]
    return _total(_density(skills[:, [first]]) * below)


def _total(values: Floats) -> Floats:
    total: Floats = values.sum(axis=1) * _STEP
    return total


def _density(skills: Floats) -> Floats:
    density: Floats = np.exp(-0.5 * (_POINTS - skills) ** 2) / np.sqrt(2 * np.pi)
    return density
