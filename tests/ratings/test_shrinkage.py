"""Claims are no bolder than they say, whatever the spread of skills."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from arena.ratings.arrays import Floats
from arena.ratings.shrinkage import drawn_together

PRIOR, NOISE, BOTS = 8.0, 1.0, 24


def known(skills: Floats, chance: np.random.Generator) -> tuple[Floats, Floats]:
    """What a fit with a wide prior knows of skills that were seen with noise."""
    share = PRIOR**2 / (PRIOR**2 + NOISE**2)
    seen = skills + NOISE * chance.normal(size=len(skills))
    return share * seen, share * NOISE**2 * np.eye(len(skills))


def claims(mu: Floats, covariance: Floats, skills: Floats) -> tuple[float, float]:
    """Of all claims of 95 %: how many were wrong, and how many should be."""
    variances = np.diag(covariance)
    better = ndtr(
        (mu[:, None] - mu) / np.sqrt(variances[:, None] + variances - 2 * covariance + np.eye(len(mu)))
    )
    claimed = better >= 0.95
    return float((claimed & (skills[:, None] < skills)).sum()), float((1 - better)[claimed].sum())


@pytest.mark.parametrize("spread", [0.5, 1.0, 3.0])
def test_claims_are_wrong_no_more_often_than_they_say(spread: float) -> None:
    chance = np.random.default_rng(3)
    drawn, wide = [], []
    for _ in range(300):
        skills = spread * chance.normal(size=BOTS)
        mu, covariance = known(skills, chance)
        drawn.append(claims(*drawn_together(mu, covariance, PRIOR), skills))
        wide.append(claims(mu, covariance, skills))
    wrong, stated = np.sum(drawn, axis=0)
    assert 0.4 * stated < wrong < 1.1 * stated
    if spread == 0.5:  # by the wide prior alone most would be too bold
        assert np.sum(wide, axis=0)[0] > 2 * np.sum(wide, axis=0)[1]


def test_skills_that_differ_much_are_left_as_they_are() -> None:
    mu, covariance = np.array([-20.0, 0.0, 20.0]), np.eye(3)
    drawn, around = drawn_together(mu, covariance, PRIOR)
    assert drawn == pytest.approx(mu)
    assert around == pytest.approx(covariance)


def test_equal_skills_come_together_and_stay_in_order() -> None:
    mu = np.array([-0.2, 0.0, 0.2])
    drawn, _ = drawn_together(mu, np.eye(3), PRIOR)
    assert np.abs(drawn).max() < 0.2
    assert drawn.tolist() == sorted(drawn.tolist())


def test_what_all_have_in_common_may_be_known_for_sure() -> None:
    centred = np.eye(3) - 1 / 3
    drawn, covariance = drawn_together(np.array([-1.0, 0.0, 1.0]), centred, PRIOR)
    assert np.isfinite(drawn).all()
    assert np.isfinite(covariance).all()
    assert drawn.sum() == pytest.approx(0, abs=1e-6)
