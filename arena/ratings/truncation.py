"""How a normal distribution moves when its variable is found on one side of a bound, or between two.

With X normal of mean m and standard deviation s, and t = m/s: after learning X > 0 the mean is m + s v(t)
and the variance s² (1 - w(t)); after learning |X| < e likewise (R. Herbrich, T. Minka, T. Graepel,
"TrueSkill: A Bayesian skill rating system", 2007). Written with erfcx, the scaled complementary error
function, in which the densities cancel, so that nothing under- or overflows however unlikely the news is.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx

from arena.ratings.arrays import Floats

_ROOT_HALF = np.sqrt(0.5)
_ROOT_2_BY_PI = np.sqrt(2 / np.pi)

_LEAST = 1e-6
"""Least share of the variance that is left, whatever was learned: less would tell nothing more of skills, as
luck is far wider, and cost digits."""

_NARROW, _STEEP = 1.0, 20.0
"""Between bounds nearer to the middle than the first, in standard deviations, over which the density changes
by less than exp(2 * the second), moments are integrated: differences of tails would lose digits."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)


def above(t: Floats) -> tuple[Floats, Floats]:
    """v, and the share of the variance that is left (1 - w), after learning that the variable is above 0.

    Args:
        t: its mean in standard deviations.
    """
    v = _ROOT_2_BY_PI / erfcx(-_ROOT_HALF * t)
    return v, np.clip(1 - v * (v + t), _LEAST, 1)


def between(t: Floats, e: Floats) -> tuple[Floats, Floats]:
    """v, and the share of the variance that is left (1 - w), after learning that it is between -e and e.

    Args:
        t: its mean in standard deviations.
        e: half the width in standard deviations, above 0.
    """
    far = np.abs(t)
    narrow = (e <= _NARROW) & (far * e <= _STEEP)
    v, left = _by_tails(far, e)
    v[narrow], left[narrow] = _by_integration(far[narrow], e[narrow])
    return np.copysign(1.0, t) * v, np.clip(left, _LEAST, 1)


def _by_tails(far: Floats, e: Floats) -> tuple[Floats, Floats]:
    # The upper bound's density is taken out of everything; the lower one's is `rest` times that.
    rest = np.exp(-2 * far * e)
    # erfcx is infinite where both bounds are far off; where they are near, somebody else computes.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        inside = erfcx(_ROOT_HALF * (far - e)) - rest * erfcx(_ROOT_HALF * (far + e))
        v = -_ROOT_2_BY_PI * (1 - rest) / inside
        w = v * v + _ROOT_2_BY_PI * ((e - far) + (e + far) * rest) / inside
    return v, 1 - w


def _by_integration(far: Floats, e: Floats) -> tuple[Floats, Floats]:
    places = e[:, None] * _NODES
    # Scaled by about the greatest density, at the bound that is nearer to the mean.
    density = _WEIGHTS * np.exp(places * (far[:, None] - places / 2) - (far * e)[:, None])
    density /= density.sum(axis=1, keepdims=True)
    mean = (density * places).sum(axis=1)
    left = (density * np.square(places - mean[:, None])).sum(axis=1)
    return mean - far, left
