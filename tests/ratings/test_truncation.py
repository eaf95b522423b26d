"""v and w are those of numerical integration, however far the bound, however thin the margin."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.ratings.truncation import above, between

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(300)
GAPS = (0.0, 0.3, 1.0, 3.0, 10.0, 38.7, 100.0)


def moments(t: float, low: float, high: float) -> tuple[float, float]:
    """v and w of a normal variable of mean t and standard deviation 1 within bounds, by integration.

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
    return float(nearest + mean - t), float(1 - weights @ apart**2 / weights.sum())


@pytest.mark.parametrize("t", [sign * gap for gap in GAPS for sign in (1, -1)])
def test_above_a_bound(t: float) -> None:
    v, w = above(np.array([t]))
    expected_v, expected_w = moments(t, 0.0, math.inf)
    assert v[0] == pytest.approx(expected_v, rel=1e-8, abs=1e-12)
    assert w[0] == pytest.approx(expected_w, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("e", [1e-9, 1e-6, 1.1e-5, 1e-4, 1e-3, 0.1, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("t", [sign * gap for gap in GAPS for sign in (1, -1)])
def test_between_two_bounds(t: float, e: float) -> None:
    v, w = between(np.array([t]), np.array([e]))
    expected_v, expected_w = moments(t, -e, e)
    # Of a thin margin all that counts is that the variable lies in it: v to within its width.
    assert v[0] == pytest.approx(expected_v, rel=1e-6, abs=max(1e-9, 2 * e if e < 1e-4 else 0))
    assert w[0] == pytest.approx(expected_w, abs=2e-5)
    assert 0 <= w[0] < 1


def test_news_from_afar_is_finite_and_leaves_some_variance() -> None:
    t = np.linspace(-1e4, 1e4, 4_001)
    for v, w in (above(t), *(between(t, np.full_like(t, e)) for e in (1e-9, 1e-3, 1.0, 100.0))):
        assert np.isfinite(v).all()
        assert ((w >= 0) & (w < 1)).all()


def test_draws_are_symmetric() -> None:
    t, e = np.linspace(0, 60, 301), np.full(301, 0.4)
    there, here = between(t, e), between(-t, e)
    np.testing.assert_array_equal(there[0], -here[0])
    np.testing.assert_array_equal(there[1], here[1])
