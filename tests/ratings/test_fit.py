"""The fit of all matches is TrueSkill, is exact, and does not care about what means nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.fit import Fit, fit
from arena.ratings.fold import BETA, SIGMA, RatingError, Result, TieRule, TrueSkillFold
from arena.ratings.results import Results
from tests.ratings.exact import posterior
from tests.ratings.golden import GOLDEN, golden_numbers, read_golden

BOTS = ("ann", "bob", "cat", "dan", "eve")


def ranked(scores: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 + sum(other > score for other in scores) for score in scores)


@st.composite
def matches(draw: st.DrawFn) -> list[Result]:
    """Matches at tables of two to five, with ties."""
    number = draw(st.integers(1, 12))
    chance = Random(draw(st.integers(0, 2**32)))
    played = []
    for match in range(number):
        bots = tuple(chance.sample(BOTS, chance.randint(2, 5)))
        played.append(Result(bots, ranked([chance.randrange(3) for _ in bots]), match.to_bytes(2, "big")))
    return played


def results_of(played: Sequence[Result], blocks: Sequence[int] | None = None) -> Results:
    results = Results()
    for number, result in enumerate(played):
        results.add(result, number if blocks is None else blocks[number])
    return results


def block_of(result: Result) -> int:
    """Two neighbouring matches share a block."""
    return int.from_bytes(result.order, "big") // 2


def in_any_order(played: Sequence[Result]) -> Results:
    return results_of(played, [block_of(result) for result in played])


def rated(ranks: Sequence[int], ties: TieRule = TieRule.SHARED) -> Fit:
    """One match."""
    bots = BOTS[: len(ranks)]
    return fit(results_of([Result(bots, tuple(ranks), b"match")]), ties, seats=False)


def assert_same(one: Fit, other: Fit, tolerance: float = 1e-9) -> None:
    assert one.bots == other.bots
    np.testing.assert_allclose(one.mu, other.mu, rtol=0, atol=tolerance)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=0, atol=tolerance * SIGMA**2)
    np.testing.assert_allclose(one.corrected, other.corrected, rtol=0, atol=tolerance * SIGMA**2)
    for size in one.seats:
        np.testing.assert_allclose(one.seats[size], other.seats[size], rtol=0, atol=tolerance)


# what means nothing


@settings(max_examples=12)
@given(
    played=matches(),
    order=st.randoms(use_true_random=False),
    ties=st.sampled_from(TieRule),
    seats=st.booleans(),
)
def test_the_order_of_matches_means_nothing(
    played: list[Result], order: Random, ties: TieRule, seats: bool
) -> None:
    straight = fit(in_any_order(played), ties, seats=seats)
    shuffled = order.sample(played, len(played))
    assert_same(fit(in_any_order(shuffled), ties, seats=seats), straight)
    again = fit(in_any_order(sorted(shuffled, key=lambda result: result.order)), ties, seats=seats)
    assert np.array_equal(again.mu, straight.mu)
    assert np.array_equal(again.corrected, straight.corrected)


@settings(max_examples=12)
@given(played=matches(), order=st.randoms(use_true_random=False), ties=st.sampled_from(TieRule))
def test_without_seats_the_order_in_a_match_means_nothing(
    played: list[Result], order: Random, ties: TieRule
) -> None:
    def listed_otherwise(result: Result) -> Result:
        rows = order.sample(list(zip(result.bots, result.ranks, strict=True)), len(result.bots))
        return Result(tuple(bot for bot, _ in rows), tuple(rank for _, rank in rows), result.order)

    straight = fit(in_any_order(played), ties, seats=False)
    other = fit(in_any_order([listed_otherwise(result) for result in played]), ties, seats=False)
    assert_same(other, straight)


@settings(max_examples=12)
@given(played=matches(), names=st.permutations(BOTS), ties=st.sampled_from(TieRule))
def test_the_names_of_bots_mean_nothing(played: list[Result], names: list[str], ties: TieRule) -> None:
    called = dict(zip(BOTS, names, strict=True))
    renamed = [Result(tuple(called[bot] for bot in each.bots), each.ranks, each.order) for each in played]
    straight, other = fit(in_any_order(played), ties), fit(in_any_order(renamed), ties)
    there = [other.bots.index(called[bot]) for bot in straight.bots]
    np.testing.assert_allclose(other.mu[there], straight.mu, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.corrected[np.ix_(there, there)], straight.corrected, rtol=0, atol=1e-7)


def test_tied_bots_that_met_the_same_are_equal() -> None:
    for ranks in [(1, 1, 1, 4), (1, 2, 2, 2), (1, 2, 2, 4), (1, 1, 3, 3)]:
        for ties in TieRule:
            alike = rated(ranks, ties)
            for rank in set(ranks):
                tied = alike.mu[np.array(ranks) == rank]
                assert np.ptp(tied) < 1e-9


# TrueSkill


NO_MARGIN = trueskill.TrueSkill(0, SIGMA, BETA, 0, draw_probability=0)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_a_match_without_ties_is_that_of_the_package(seats: int) -> None:
    ranks = Random(seats).sample(range(1, seats + 1), seats)
    expected = NO_MARGIN.rate([(NO_MARGIN.create_rating(),) for _ in ranks], ranks)
    got = rated(ranks)
    for number, (each,) in enumerate(expected):
        assert got.mu[number] == pytest.approx(each.mu, abs=1e-5)
        assert math.sqrt(got.covariance[number, number]) == pytest.approx(each.sigma, abs=1e-5)


@pytest.mark.parametrize("ranks", [(1, 1, 1, 4), (4, 1, 1, 1), (1, 2, 2, 2), (1, 1, 1, 1, 5), (1, 2)])
def test_one_loser_and_one_winner_are_the_fold_of_factor_nodes(ranks: tuple[int, ...]) -> None:
    bots = BOTS[: len(ranks)]
    fold = TrueSkillFold(TieRule.SHARED)
    fold.add(Result(bots, ranks, b"match"))
    got, middle = rated(ranks), fold.ratings()
    for number, bot in enumerate(bots):
        assert got.mu[number] == pytest.approx(middle[bot].mu - 25, abs=1e-8)
        assert math.sqrt(got.covariance[number, number]) == pytest.approx(middle[bot].sigma, abs=1e-8)


def test_of_two_bots_all_matches_are_what_the_package_learns_one_by_one_at_first() -> None:
    one = fit(results_of([Result(("ann", "bob"), (1, 2), b"")]), TieRule.SHARED, seats=False)
    many = fit(results_of([Result(("ann", "bob"), (1, 2), b"")] * 9), TieRule.SHARED, seats=False)
    assert many.mu[0] > one.mu[0] > 0
    assert many.covariance[0, 0] < one.covariance[0, 0] < SIGMA**2


# the exact posterior

PLAYED = {
    "full order": [
        ((0, 1, 2, 3), (1, 2, 3, 4)),
        ((1, 2, 3, 4), (3, 1, 2, 4)),
        ((0, 2, 4), (2, 3, 1)),
        ((1, 4), (1, 2)),
        ((0, 3, 2), (3, 1, 2)),
    ],
    "one loser or winner": [
        ((0, 1, 3, 4), (1, 1, 1, 4)),
        ((0, 1, 2, 4), (1, 4, 1, 1)),
        ((3, 1, 2, 0), (1, 2, 2, 2)),
        ((2, 3, 4, 0), (1, 1, 1, 4)),
        ((1, 2), (2, 1)),
    ],
    "one bot always wins": [
        ((0, 1, 2), (1, 2, 3)),
        ((0, 2, 1), (1, 3, 2)),
        ((0, 3), (1, 2)),
        ((0, 1), (1, 2)),
    ],
}


@pytest.mark.parametrize("kind", PLAYED)
def test_a_few_bots_have_the_exact_posterior(kind: str) -> None:
    played = PLAYED[kind]
    results = [Result(tuple(BOTS[bot] for bot in bots), ranks, b"") for bots, ranks in played]
    got = fit(results_of(results), TieRule.SHARED, seats=False)
    exact = posterior(played, got.mu, got.covariance, samples=20_000)
    assert exact.effective > 10_000
    for one in range(len(got.bots)):
        for other in range(one):
            side = np.zeros(len(got.bots))
            side[one], side[other] = 1, -1
            sigma = math.sqrt(side @ exact.covariance @ side)
            assert math.sqrt(side @ got.covariance @ side) == pytest.approx(sigma, rel=0.02)
            assert side @ got.mu == pytest.approx(side @ exact.mean, abs=0.02 * sigma)


# what was, is


@pytest.mark.parametrize("ties", TieRule)
def test_two_hundred_matches_give_the_ratings_they_gave(ties: TieRule) -> None:
    kept = read_golden(GOLDEN)
    assert len(kept["matches"]) == 200
    expected, got = kept["ratings"][ties.value], golden_numbers(kept["matches"], ties)
    assert got.keys() == expected.keys()
    for name, numbers in expected.items():
        np.testing.assert_allclose(got[name], numbers, rtol=0, atol=1e-9, err_msg=name)


def test_a_warm_start_leads_to_the_same_ratings() -> None:
    chance = Random(3)
    played = [Result(tuple(chance.sample(BOTS, 4)), (1, 2, 3, 4), b"%d" % match) for match in range(300)]
    cold = fit(results_of(played), TieRule.SHARED)
    earlier = fit(results_of(played[:250]), TieRule.SHARED)
    warm = fit(results_of(played), TieRule.SHARED, start=earlier)
    np.testing.assert_allclose(warm.mu, cold.mu, atol=1e-4)
    np.testing.assert_allclose(warm.covariance, cold.covariance, atol=1e-4)
    strangers = fit(results_of([Result(("zoe", "yan"), (1, 2), b"")]), TieRule.SHARED)
    other = fit(results_of(played), TieRule.SHARED, start=strangers)
    np.testing.assert_allclose(other.mu, cold.mu, atol=1e-4)


# edges


def test_no_results_are_a_fit_of_nobody() -> None:
    nothing = fit(Results(), TieRule.SHARED)
    assert nothing.bots == ()
    assert nothing.mu.shape == (0,)


@pytest.mark.parametrize("ties", TieRule)
def test_a_bot_that_always_wins_has_a_finite_rating(ties: TieRule) -> None:
    played = [Result((BOTS[0], *BOTS[1:4]), (1, 2, 3, 4), b"%d" % match) for match in range(5_000)]
    got = fit(results_of(played), ties)
    assert np.isfinite(got.mu).all()
    assert got.mu[0] == got.mu.max()
    assert (np.diag(got.covariance) > 0).all()


@pytest.mark.parametrize("size", [2, 4])
def test_matches_that_all_share_say_nothing_where_shared_ranks_mean_nothing(size: int) -> None:
    played = [Result(BOTS[:size], (1,) * size, b"%d" % match) for match in range(40)]
    got = fit(results_of(played), TieRule.SHARED)
    np.testing.assert_allclose(got.mu, 0, atol=1e-12)
    np.testing.assert_allclose(got.covariance, SIGMA**2 * np.eye(size), atol=1e-9)


def test_matches_that_all_share_make_bots_equal_where_they_are_draws() -> None:
    got = fit(results_of([Result(BOTS[:4], (1, 1, 1, 1), b"")] * 40), TieRule.DRAW)
    np.testing.assert_allclose(got.mu, 0, atol=1e-6)
    assert np.isfinite(got.corrected).all()


def test_pools_that_never_met_are_numbered_by_size_then_by_name() -> None:
    played = [
        Result(("eve", "dan"), (1, 2), b"1"),
        Result(("gus", "fay"), (1, 2), b"2"),
        Result(("cat", "bob", "ann"), (1, 2, 3), b"3"),
    ]
    got = fit(results_of(played), TieRule.SHARED)
    assert dict(zip(got.bots, got.pools.tolist(), strict=True)) == {
        "ann": 0, "bob": 0, "cat": 0, "dan": 1, "eve": 1, "fay": 2, "gus": 2,
    }  # fmt: skip
    one = np.array([got.bots.index(bot) for bot in ("dan", "eve")])
    np.testing.assert_allclose(got.mu[one], got.mu[[got.bots.index("fay"), got.bots.index("gus")]], atol=1e-9)


def test_a_bot_with_one_match_is_rated_with_little_certainty() -> None:
    chance = Random(1)
    played = [Result(tuple(chance.sample(BOTS[:4], 4)), (1, 2, 3, 4), b"%d" % match) for match in range(200)]
    got = fit(results_of([*played, Result(("eve", "ann"), (1, 2), b"last")]), TieRule.SHARED)
    sigmas = np.sqrt(np.diag(got.corrected))
    assert got.bots[int(sigmas.argmax())] == "eve"
    assert got.mu[got.bots.index("eve")] > got.mu[got.bots.index("ann")]


def test_tables_of_several_sizes_are_rated_together() -> None:
    played = [Result(("ann", "bob"), (1, 2), b""), Result(("bob", "cat", "dan"), (1, 2, 3), b"")] * 30
    got = fit(results_of(played), TieRule.SHARED)
    assert sorted(got.seats) == [2, 3]
    assert got.bots[int(got.mu.argmax())] == "ann"
    assert set(got.pools.tolist()) == {0}


@pytest.mark.parametrize("sigma", [0, -1, math.nan, math.inf])
def test_a_prior_without_a_spread_is_refused(sigma: float) -> None:
    with pytest.raises(RatingError, match=r"no spread of skills.*above 0"):
        fit(Results(), TieRule.SHARED, sigma=sigma)


# columns

COLUMNS: dict[str, tuple[Any, Any, Any, str]] = {
    "a bot twice": ([[0, 0]], [[1, 2]], [0], "match 0 cannot be rated.*one seat"),
    "ranks with a hole": ([[0, 1], [0, 1]], [[1, 2], [1, 3]], [0, 1], "match 1 cannot be rated.*1, 1, 3"),
    "dense ranks": ([[0, 1, 2]], [[1, 1, 2]], [0], "match 0 cannot be rated"),
    "ranks from 0": ([[0, 1]], [[0, 1]], [0], "match 0 cannot be rated"),
    "ranks that are no whole numbers": ([[0, 1]], [[1.0, 2.0]], [0], "ranks are not all whole numbers"),
    "ranks that are no numbers": ([[0, 1]], [[1, math.nan]], [0], "ranks are not all whole numbers"),
    "a missing rank": ([[0, 1]], [[1, None]], [0], "ranks are not all whole numbers"),
    "a bot that there is not": ([[0, 3]], [[1, 2]], [0], "numbered from 0 to 2"),
    "a bot below 0": ([[-1, 1]], [[1, 2]], [0], "numbered from 0 to 2"),
    "one seat": ([[0]], [[1]], [0], "tables of one seat"),
    "no table": ([0, 1], [1, 2], [0], "are no results"),
    "too few ranks": ([[0, 1]], [[1]], [0], "are no results"),
    "too few blocks": ([[0, 1], [1, 2]], [[1, 2], [1, 2]], [0], "are no results"),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_columns_that_are_no_results_are_refused(case: str) -> None:
    seated, ranks, blocks, says = COLUMNS[case]
    results = Results()
    with pytest.raises(RatingError, match=says):
        results.add_all(BOTS[:3], seated, ranks, blocks)
    assert len(results) == 0


def test_columns_are_the_same_as_single_results() -> None:
    chance = Random(2)
    rows = [
        (chance.sample(range(5), 3), list(ranked([chance.randrange(2) for _ in range(3)]))) for _ in range(50)
    ]
    columns = Results()
    columns.add_all(BOTS, [bots for bots, _ in rows], [ranks for _, ranks in rows], list(range(50)))
    single = results_of([Result(tuple(BOTS[bot] for bot in bots), tuple(ranks), b"") for bots, ranks in rows])
    assert_same(fit(columns, TieRule.DRAW), fit(single, TieRule.DRAW), 1e-12)


def test_bots_without_a_match_are_known_by_name_alone() -> None:
    results = Results()
    results.add_all(["a", "b"], np.empty((0, 3), int), np.empty((0, 3), int), np.empty(0, int))
    rated = fit(results, TieRule.DRAW)
    assert rated.bots == ("a", "b")
    assert rated.mu.tolist() == [0, 0]
    assert np.sqrt(np.diag(rated.covariance)) == pytest.approx([SIGMA, SIGMA])
    assert sorted(rated.pools.tolist()) == [0, 1]


@pytest.mark.parametrize("ties", TieRule)
@pytest.mark.parametrize("ranks", [(1, 2), (1, 1, 1, 4), (1, 1, 3, 3), (1, 2, 3, 4)])
def test_however_often_one_wins_without_losing_the_fit_settles(ties: TieRule, ranks: tuple[int, ...]) -> None:
    size = len(ranks)
    seated = np.tile([np.roll(np.arange(size), turn) for turn in range(size)], (5000 // size, 1))
    results = Results()
    results.add_all(
        [f"bot{bot}" for bot in range(size)], seated, np.array(ranks)[seated], np.arange(len(seated))
    )
    rated = fit(results, ties)
    for one in range(size):
        for other in range(size):
            if ranks[one] < ranks[other]:
                assert rated.mu[one] > rated.mu[other] + SIGMA
            elif ranks[one] == ranks[other]:
                assert rated.mu[one] == pytest.approx(rated.mu[other], abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_rare_ties_of_bots_that_differ_much_settle(seed: int) -> None:
    """Of bots that are never close a tie says that their performances were all but the same."""
    chance = np.random.default_rng(seed)
    skills = np.array([0.0, 0.0, 3.2, 1.7]) * (1 + 0.3 * (seed % 3))
    seated = np.array([chance.permutation([version, 2, 3]) for _ in range(200) for version in (0, 1)])
    scores = np.round(skills[seated] + chance.normal(size=seated.shape), 2)
    ranks = 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    results = Results()
    results.add_all(["old", "new", "greedy", "first"], seated, ranks, np.arange(400) // 2)
    rated = fit(results, TieRule.DRAW)
    assert rated.sweeps < 40
    assert np.isfinite(rated.mu).all()
