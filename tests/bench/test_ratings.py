"""The figures of `make bench-ratings` on cases whose figures are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.ratings.fold import BETA
from tests.bench.ratings import figures
from tests.bench.ratings.figures import Rated
from tests.ratings.populations import chances

SKILLS = np.array([3.0, 1.0, -1.0, -2.0, 0.5])


@pytest.mark.parametrize(("other", "tau"), [(SKILLS, 1.0), (-SKILLS, -1.0), (np.zeros(5), 0.0)])
def test_rank_correlation(other: np.ndarray[tuple[int], np.dtype[np.float64]], tau: float) -> None:
    assert figures.kendall(SKILLS, other) == tau
    swapped = np.array([3.0, 1.0, -2.0, -1.0, 0.5])
    assert figures.kendall(SKILLS, swapped) == pytest.approx(0.8)


def test_log_loss_is_beyond_that_of_the_truth() -> None:
    truth = chances(SKILLS, BETA)
    assert figures.excess_log_loss(truth, truth) == pytest.approx(0, abs=1e-12)
    certain = np.where(SKILLS[:, None] > SKILLS, 1.0, 0.0)
    assert figures.excess_log_loss(certain, truth) > figures.excess_log_loss(np.full((5, 5), 0.5), truth) > 0


def test_coverage_is_of_centred_skills_in_the_methods_own_points() -> None:
    narrow, beta = np.eye(5) * 1e-6, BETA / 2
    assert figures.covered(Rated(SKILLS / 2 + 77, narrow, beta), SKILLS) == 1
    assert figures.covered(Rated(SKILLS, narrow, beta), SKILLS) < 1
    assert math.isnan(figures.covered(Rated(SKILLS), SKILLS))


def test_a_method_that_the_order_does_not_move_has_no_spread() -> None:
    assert figures.order_spread([SKILLS, SKILLS + 5]) == pytest.approx(0, abs=1e-12)
    assert figures.order_spread([SKILLS, -SKILLS]) > 1
