"""v and the variance that is left are those of integration, however far a bound and thin a margin."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.ratings.truncation import above, between

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(300)
GAPS = (0.0, 0.3, 1.0, 3.0, 10.0, 38.7, 100.0)


def moments(t: float, low: float, high: float) -> tuple[float, float]:
    """v, and the variance left, of a normal variable of mean t and standard deviation 1 within bounds.

    The density is scaled by that at the nearest point, so that nothing underflows.
    """
    nearest = min(max(t, low), high)
    # From the nearest point the density falls by at least exp(-|gap| x) and exp(-x²/2).
    reach = 45 / max(3.0, abs(nearest - t))
    start, end = max(low, nearest - reach), min(high, nearest + reach)
    from_nearest = start - nearest + (end - start) * (1 + _NODES) / 2
    weights = _WEIGHTS * np.exp(-from_nearest * (from_nearest / 2 + nearest - t))
    mean = weights @ from_nearest / weights.sum()
    apart = from_nearest - mean
    return float(nearest + mean - t), float(weights @ apart**2 / weights.sum())


@pytest.mark.parametrize("t", [sign * gap for gap in GAPS for sign in (1, -1)])
def test_above_a_bound(t: float) -> None:
    v, left = above(np.array([t]))
    expected_v, expected_left = moments(t, 0.0, math.inf)
    assert v[0] == pytest.approx(expected_v, rel=1e-8, abs=1e-12)
    assert left[0] == pytest.approx(expected_left, rel=1e-6)


@pytest.mark.parametrize("e", [1e-9, 1e-6, 1.1e-5, 1e-4, 1e-3, 0.1, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("t", [sign * gap for gap in GAPS for sign in (1, -1)])
def test_between_two_bounds(t: float, e: float) -> None:
    v, left = between(np.array([t]), np.array([e]))
    expected_v, expected_left = moments(t, -e, e)
    assert v[0] == pytest.approx(expected_v, rel=1e-8, abs=1e-12)
    assert left[0] == pytest.approx(max(expected_left, 1e-6), rel=1e-6)


def test_news_from_afar_is_finite_and_leaves_some_variance() -> None:
    t = np.linspace(-1e4, 1e4, 4_001)
    for v, left in (above(t), *(between(t, np.full_like(t, e)) for e in (1e-9, 1e-3, 1.0, 100.0))):
        assert np.isfinite(v).all()
        assert ((left > 0) & (left <= 1)).all()


def test_draws_are_symmetric() -> None:
    t, e = np.linspace(0, 60, 301), np.full(301, 0.4)
    there, here = between(t, e), between(-t, e)
    np.testing.assert_array_equal(there[0], -here[0])
    np.testing.assert_array_equal(there[1], here[1])
