"""Claims are no bolder than they say, whatever the spread of skills."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from arena.ratings.arrays import Floats
from arena.ratings.shrinkage import Drawn, drawn_together

PRIOR, NOISE, BOTS = 8.0, 1.0, 24


def known(skills: Floats, chance: np.random.Generator) -> tuple[Floats, Floats]:
    """What a fit with a wide prior knows of skills that were seen with noise."""
    share = PRIOR**2 / (PRIOR**2 + NOISE**2)
    seen = skills + NOISE * chance.normal(size=len(skills))
    return share * seen, share * NOISE**2 * np.eye(len(skills))


def claims(drawn: list[Drawn], skills: Floats) -> tuple[float, float]:
    """Of all claims of 95 %: how many were wrong, and how many should be."""
    better = np.zeros((BOTS, BOTS))
    for each in drawn:
        own = np.diag(each.covariance)
        variances = own[:, None] + own - 2 * each.covariance + np.eye(BOTS)
        better += each.weight * ndtr((each.mu[:, None] - each.mu) / np.sqrt(variances))
    claimed = better >= 0.95
    return float((claimed & (skills[:, None] < skills)).sum()), float((1 - better)[claimed].sum())


@pytest.mark.parametrize("spread", [0.25, 0.5, 1.0, 3.0])
def test_claims_are_wrong_no_more_often_than_they_say(spread: float) -> None:
    chance = np.random.default_rng(3)
    together, wide = [], []
    for _ in range(200):
        skills = spread * chance.normal(size=BOTS)
        mu, covariance = known(skills, chance)
        together.append(claims(drawn_together(mu, covariance, PRIOR), skills))
        wide.append(claims([Drawn(1.0, mu, covariance)], skills))
    (wrong, stated), (bold, _) = np.sum(together, axis=0), np.sum(wide, axis=0)
    # A wrong claim or two of nearly equal bots in all 200 tournaments is luck.
    assert wrong < 1.1 * stated + 0.05 * 200
    if spread <= 1:
        assert bold > 5 * wrong


def test_skills_that_differ_much_are_left_as_they_are() -> None:
    mu, covariance = np.array([-20.0, 0.0, 20.0]), np.eye(3)
    drawn = drawn_together(mu, covariance, PRIOR)
    assert sum(each.weight for each in drawn) == pytest.approx(1)
    assert sum(each.weight * each.mu for each in drawn) == pytest.approx(mu, abs=0.5)


def test_equal_skills_come_together_and_stay_in_order() -> None:
    drawn = drawn_together(np.array([-0.2, 0.0, 0.2]), np.eye(3), PRIOR)
    assert abs(sum(each.weight * each.mu[0] for each in drawn)) < 0.1
    for each in drawn:
        assert np.abs(each.mu).max() < 0.2001
        assert each.mu.tolist() == sorted(each.mu.tolist())


def test_what_all_have_in_common_may_be_known_for_sure() -> None:
    centred = np.eye(3) - 1 / 3
    for each in drawn_together(np.array([-1.0, 0.0, 1.0]), centred, PRIOR):
        assert np.isfinite(each.covariance).all()
        assert each.mu.sum() == pytest.approx(0, abs=1e-6)


def test_of_a_single_bot_nothing_follows() -> None:
    (*_, last) = drawn_together(np.zeros(1), np.full((1, 1), PRIOR**2), PRIOR)
    assert last.mu.tolist() == [0]
