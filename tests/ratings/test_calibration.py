"""What a fit states is true as often as it states: simulations whose true skills are known, seeds fixed.

`make bench-ratings` measures the same with more seeds and beside other methods.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from arena.ratings.arrays import Floats
from arena.ratings.confidence import centred_sigmas, judge, probability_better
from arena.ratings.fit import Fit, fit
from arena.ratings.fold import BETA, Result, TieRule
from arena.ratings.results import Results
from tests.ratings.populations import Kind, Population, Sample, play

SEEDS = range(5)


def rate(sample: Sample, *, seats: bool = True) -> Fit:
    return fit(sample.results(), sample.population.ties, seats=seats)


def held(sample: Sample, mu: Floats, covariance: Floats) -> float:
    """Share of bots whose true centred skill the 95 % interval holds."""
    truth = sample.skills - sample.skills.mean()
    return float((np.abs(mu - mu.mean() - truth) < 1.96 * centred_sigmas(covariance)).mean())


def kendall(one: Floats, other: Floats) -> float:
    upper = np.triu_indices(len(one), 1)
    return float((np.sign(one[:, None] - one)[upper] * np.sign(other[:, None] - other)[upper]).mean())


POPULATIONS = {
    "full order": Population(),
    "one loser": Population(Kind.LOSER, luck=1),
    "one winner": Population(Kind.WINNER, luck=1),
    "score ties": Population(Kind.SCORES, luck=2, bots=16),
    "two seats": Population(seats=2),
}


@pytest.mark.parametrize("matches", [60, 300])
@pytest.mark.parametrize("name", POPULATIONS)
def test_intervals_hold_what_they_say(name: str, matches: int) -> None:
    samples = [play(POPULATIONS[name], matches, seed) for seed in SEEDS]
    rates = []
    for sample in samples:
        rated = rate(sample)
        rates.append(held(sample, rated.mu, rated.corrected))
    # 160 intervals (80 of score ties): three of their standard deviations, 1.7 % (2.4 %).
    assert 0.88 <= np.mean(rates) <= 1.0
    assert len(set(rates)) > 1


@pytest.mark.parametrize(
    ("kind", "matches", "goal"),
    [(Kind.ORDER, 100, 0.62), (Kind.ORDER, 1000, 0.84), (Kind.LOSER, 100, 0.54), (Kind.LOSER, 1000, 0.80)],
)
def test_bots_stand_in_their_order(kind: Kind, matches: int, goal: float) -> None:
    """Five seeds: the goals of twenty less what so few may miss them by."""
    found = []
    for seed in SEEDS:
        sample = play(Population(kind), matches, seed)
        found.append(kendall(rate(sample).mu, sample.skills))
        assert found[-1] > kendall(sample.mean_scores, sample.skills) - 0.06
    assert np.mean(found) >= goal


@pytest.mark.parametrize("name", ["full order", "one loser"])
def test_of_bots_said_to_be_better_few_are_not(name: str) -> None:
    population = POPULATIONS[name]
    misses, claims = [], 0
    for seed in SEEDS:
        sample = play(population, 300, seed)
        stated = probability_better(rate(sample))
        sure = stated >= 0.95
        wrong = sample.skills[:, None] < sample.skills
        claims += int(sure.sum())
        misses.append(wrong[sure].sum() - (1 - stated)[sure].sum())
    assert claims > 1_000
    error = np.std(misses, ddof=1) * np.sqrt(len(misses))
    assert sum(misses) <= max(2 * error, 0.005 * claims)


# blocks


def test_duplicates_are_corrected() -> None:
    """Where the seats of a deal have most of the luck, each match adds more than the model believes."""
    plain, corrected = [], []
    for seed in SEEDS:
        sample = play(Population(rotate=True, shared=0.8), 240, seed)
        rated = rate(sample)
        plain.append(held(sample, rated.mu, rated.covariance))
        corrected.append(held(sample, rated.mu, rated.corrected))
        narrower = centred_sigmas(rated.corrected) / centred_sigmas(rated.covariance)
        assert np.median(narrower) < 0.9
    assert np.mean(plain) > 0.97
    assert 0.9 <= np.mean(corrected) <= 0.98


def test_a_match_that_is_told_many_times_in_a_block_is_no_more_certain() -> None:
    sample = play(Population(bots=8), 150, 3)
    copies = 9
    many = Sample(
        sample.population,
        sample.skills,
        np.repeat(sample.bots, copies, axis=0),
        np.repeat(sample.ranks, copies, axis=0),
        np.repeat(sample.blocks, copies),
    )
    once, often = rate(sample, seats=False), rate(many, seats=False)
    believed = centred_sigmas(often.covariance) / centred_sigmas(once.covariance)
    corrected = centred_sigmas(often.corrected) / centred_sigmas(once.corrected)
    np.testing.assert_allclose(believed, 1 / 3, atol=0.05)
    np.testing.assert_allclose(corrected, 1, atol=0.12)


# seats


@pytest.mark.parametrize("rotate", [False, True])
def test_advantages_of_seats_are_found_within_their_errors(rotate: bool) -> None:
    given = np.array([1.0, 0.3, -0.3, -1.0])
    surprises, squares = [], []
    for seed in SEEDS:
        sample = play(Population(luck=1, bots=16, advantages=given.tolist(), rotate=rotate), 200, seed)
        rated = rate(sample)
        surprises.append((rated.seats[4] - BETA * given) / rated.seat_sigmas[4])
        assert np.abs(rated.seats[4] / BETA - given).max() < 0.15
        truth = sample.skills - sample.skills.mean()
        squares.append(
            [np.square(mu - mu.mean() - truth).mean() for mu in (rated.mu, rate(sample, seats=False).mu)]
        )
    assert np.sqrt(np.mean(np.square(surprises))) < 1.6
    modelled, ignored = np.mean(squares, axis=0)
    assert ignored > 1.15 * modelled


def test_seats_that_are_alike_have_no_advantage() -> None:
    rated = rate(play(Population(bots=16), 300, 1))
    assert np.abs(rated.seats[4] / rated.seat_sigmas[4]).max() < 3
    assert abs(rated.seats[4].sum()) < 1e-9


# margins


@pytest.mark.parametrize("margin", [0.2, 0.6, 1.5])
def test_margins_of_draws_are_found(margin: float) -> None:
    sample = play(Population(Kind.SCORES, luck=2, bots=16, seats=2, margin=margin), 400, 2)
    assert rate(sample).margins[2] / BETA == pytest.approx(margin, rel=0.1)


# what is said of bots


def test_ranges_of_places_hold_the_true_places() -> None:
    inside = []
    for seed in SEEDS:
        sample = play(Population(luck=2), 200, seed)
        places = np.argsort(np.argsort(-sample.skills)) + 1
        for each in judge(rate(sample)):
            place = places[sample.population.names.index(each.bot)]
            inside.append(each.low <= place <= each.high)
    assert 0.91 <= np.mean(inside) < 1.0


def three_strengths() -> Fit:
    """`ann` far above `bob` and `bea`, who are alike; `cat` far below."""
    chance, results = np.random.default_rng(8), Results()
    skills = {"ann": 2.5, "bob": 0.0, "bea": 0.0, "cat": -2.5}
    for number in range(600):
        one, other = chance.choice(sorted(skills), 2, replace=False).tolist()
        above = skills[one] - skills[other] + chance.normal(0, np.sqrt(2)) > 0
        results.add(Result((one, other), (1, 2) if above else (2, 1), b""), number)
    return fit(results, TieRule.SHARED)


def test_groups_begin_where_a_bot_is_surely_below_the_first_of_the_group() -> None:
    groups = {each.bot: each.group for each in judge(three_strengths())}
    assert groups["ann"] == 1
    assert groups["bob"] == groups["bea"] == 2
    assert groups["cat"] == 3


def test_a_group_goes_on_past_neighbours_that_cannot_be_told_apart_until_its_first_can() -> None:
    """Twenty bots a small step apart: nobody is surely below the one before, but ten steps are certain."""
    sample = play(Population(bots=20, luck=3), 150, 4)
    rated = rate(sample)
    better = probability_better(rated)
    rows = judge(rated)
    number = {bot: rated.bots.index(bot) for bot in rated.bots}
    first = rows[0]
    for before, each in pairwise(rows):
        sure = better[number[first.bot], number[each.bot]] >= 0.95
        assert (each.group == before.group + 1) == sure
        first = each if sure else first
    neighbours = [better[number[one.bot], number[other.bot]] for one, other in pairwise(rows)]
    assert max(neighbours) < 0.95
    assert rows[-1].group > 1


def test_the_probability_of_being_better_is_that_of_not_being_worse() -> None:
    better = probability_better(rate(play(Population(bots=12), 60, 0)))
    np.testing.assert_allclose(better + better.T, 1, atol=1e-12)
    np.testing.assert_array_equal(np.diag(better), 0.5)


def test_an_anchor_is_zero_in_its_pool_and_changes_no_difference() -> None:
    rated = three_strengths()
    plain = {each.bot: each for each in judge(rated)}
    anchored = {each.bot: each for each in judge(rated, anchor="cat")}
    assert anchored["cat"].mu == 0
    assert anchored["ann"].mu == pytest.approx(plain["ann"].mu - plain["cat"].mu)
    assert sum(each.mu for each in plain.values()) == pytest.approx(0, abs=1e-9)
    assert [each.bot for each in judge(rated, anchor="nobody")] == list(plain)


def test_a_bot_is_provisional_until_it_has_played_enough() -> None:
    few, enough = (judge(rate(play(Population(bots=16), matches, 0))) for matches in (8, 60))
    assert all(each.provisional for each in few)
    assert not any(each.provisional for each in enough)


def test_pools_are_judged_apart() -> None:
    results = Results()
    for number in range(60):
        for bots in (("ann", "bob", "cat"), ("eve", "dan")):
            turn = number % len(bots)
            ranks = tuple(range(1, len(bots) + 1))
            results.add(Result(bots[turn:] + bots[:turn], ranks[turn:] + ranks[:turn], b""), number)
    rated = fit(results, TieRule.SHARED)
    rows = {each.bot: each for each in judge(rated)}
    assert [each.pool for each in rows.values()] == [1, 1, 1, 2, 2]
    assert (rows["ann"].low, rows["ann"].high, rows["eve"].low, rows["eve"].high) == (1, 1, 1, 1)
    assert rows["ann"].group == rows["eve"].group == 1
    better = probability_better(rated)
    assert better[rated.bots.index("ann"), rated.bots.index("dan")] == 0.5
    assert rows["ann"].share > 0.9 > 0.1 > rows["cat"].share


def test_nobody_is_judged_where_nobody_played() -> None:
    assert judge(fit(Results(), TieRule.DRAW)) == []
