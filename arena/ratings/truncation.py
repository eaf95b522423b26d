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

_THIN = 1e-5
"""Half width, in standard deviations, below which the density between two bounds is taken for even."""

_MOST = 1 - 1e-10
"""Largest w: whatever was learned, some variance is left."""


def above(t: Floats) -> tuple[Floats, Floats]:
    """v and w after learning that the variable is above 0.

    Args:
        t: its mean in standard deviations.
    """
    v = _ROOT_2_BY_PI / erfcx(-_ROOT_HALF * t)
    return v, np.clip(v * (v + t), 0, _MOST)


def between(t: Floats, e: Floats) -> tuple[Floats, Floats]:
    """v and w after learning that the variable is between -e and e.

    Args:
        t: its mean in standard deviations.
        e: half the width in standard deviations, above 0.
    """
    far, near = np.abs(t), np.maximum(e, _THIN)
    # The upper bound's density is taken out of everything; the lower one's is `rest` times that.
    rest = np.exp(-2 * far * near)
    with np.errstate(over="ignore", invalid="ignore"):  # erfcx is infinite where both bounds are far off
        inside = erfcx(_ROOT_HALF * (far - near)) - rest * erfcx(_ROOT_HALF * (far + near))
        v = -_ROOT_2_BY_PI * (1 - rest) / inside
        w = v * v + _ROOT_2_BY_PI * ((near - far) + (near + far) * rest) / inside
    thin = e < _THIN
    v = np.where(thin, -far, v)
    w = np.where(thin, 1 - e * e / 3, w)
    return np.copysign(1.0, t) * v, np.clip(w, 0, _MOST)
