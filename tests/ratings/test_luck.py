"""How much is luck, and what duplicate deals are worth, on matches whose luck is known."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings.arrays import Floats
from arena.ratings.fit import fit
from arena.ratings.fold import TieRule
from arena.ratings.luck import duplicate_factor, luck_index
from arena.ratings.results import Results


def rotated(deals: int, skills: Floats, shared: float, seed: int, orders: int = 1) -> Results:
    """Matches in which a share of the luck belongs to deal and seat, each deal in all rotations.

    Args:
        shared: share of the variance of the luck, whose standard deviation is 1.
        orders: how many orders around the table take turns.
    """
    chance, size = np.random.default_rng(seed), len(skills)
    base = np.array([np.roll(chance.permutation(size), 0) for _ in range(orders)])[np.arange(deals) % orders]
    seated = np.stack([np.roll(base, turn, axis=1) for turn in range(size)], axis=1)
    luck = np.sqrt(shared) * chance.normal(size=(deals, 1, size))
    own = np.sqrt(1 - shared) * chance.normal(size=(deals, size, size))
    performance = (skills[seated] + luck + own).reshape(-1, size)
    ranks = 1 + (performance[:, None, :] > performance[:, :, None]).sum(axis=2)
    results = Results()
    bots = [f"bot{number}" for number in range(size)]
    results.add_all(bots, seated.reshape(-1, size), ranks, np.repeat(np.arange(deals), size))
    return results


@pytest.mark.parametrize("orders", [1, 6])
def test_repeating_a_deal_of_which_nothing_stays_is_worth_nothing(orders: int) -> None:
    measured = duplicate_factor(rotated(2000, np.array([0.3, 0.1, -0.1, -0.3]), 0.0, 1, orders))
    assert measured is not None
    assert abs(measured.factor - 1) < 3 * measured.error
    assert measured.error < 0.06
    assert measured.blocks == 2000


def test_the_more_of_the_luck_is_the_deals_the_more_its_repetition_is_worth() -> None:
    factors = []
    for shared in (0.3, 0.6, 0.9):
        measured = duplicate_factor(rotated(1000, np.array([0.1, 0.0, 0.0, -0.1]), shared, 2))
        assert measured is not None
        factors.append(measured.factor)
    # Of performances of which a share of s stays differences keep 1 - s of their variance, ranks nearly so.
    assert factors[0] == pytest.approx(1 / 0.7, rel=0.15)
    assert factors == sorted(factors)
    assert factors[2] > 4


@pytest.mark.parametrize("deals", [1, 9])
def test_of_few_deals_nothing_is_said(deals: int) -> None:
    assert duplicate_factor(rotated(deals, np.zeros(4), 0.5, 3)) is None


def test_matches_without_rotations_say_nothing_of_duplicates() -> None:
    results = Results()
    results.add_all(["a", "b"], [[0, 1]] * 50, [[1, 2]] * 50, np.arange(50))
    assert duplicate_factor(results) is None


def test_bots_that_always_split_a_deal_have_no_factor() -> None:
    results = Results()
    results.add_all(["a", "b"], [[0, 1], [1, 0]] * 50, [[1, 2]] * 100, np.repeat(np.arange(50), 2))
    assert duplicate_factor(results) is None


@pytest.mark.parametrize("spread", [0.25, 0.5, 1.0])
def test_the_luck_index_is_luck_by_the_spread_of_skills(spread: float) -> None:
    skills = np.random.default_rng(5).normal(size=16)
    skills *= spread / skills.std(ddof=1)
    results, chance = Results(), np.random.default_rng(6)
    seated = np.stack([chance.permutation(16)[:4] for _ in range(8000)])
    performance = skills[seated] + chance.normal(size=seated.shape)
    ranks = 1 + (performance[:, None, :] > performance[:, :, None]).sum(axis=2)
    results.add_all([f"bot{number}" for number in range(16)], seated, ranks, np.arange(8000))
    rated = fit(results, TieRule.SHARED)
    assert luck_index(results, TieRule.SHARED, rated) == pytest.approx(1 / spread, rel=0.1)


def test_equal_bots_and_two_bots_have_no_luck_index() -> None:
    results = Results()
    results.add_all(["a", "b", "c"], [[0, 1, 2]] * 3, [[1, 2, 3], [2, 3, 1], [3, 1, 2]], range(3))
    assert luck_index(results, TieRule.SHARED, fit(results, TieRule.SHARED)) is None
    two = Results()
    two.add_all(["a", "b"], [[0, 1]], [[1, 2]], [0])
    assert luck_index(two, TieRule.SHARED, fit(two, TieRule.SHARED)) is None
