"""Partners are found, honest bots are let alone, and what cannot be told is not told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest

from arena.games import GAMES
from arena.games.chance import Chance
from arena.games.koffer import rules as koffer
from arena.ratings.arrays import Floats, Ints
from arena.ratings.fit import fit
from arena.ratings.fold import BETA, Result, TieRule
from arena.ratings.partners import Partnership, Partnerships, partners
from arena.ratings.residuals import Residual, residuals
from arena.ratings.results import Results
from tests.ratings.populations import Kind, Population, Sample, play

HONEST = {
    "full order": Population(bots=12),
    "duplicates": Population(bots=8, rotate=True, shared=0.6),
    "one loser, great differences": Population(Kind.LOSER, luck=1, bots=8),
    "one winner": Population(Kind.WINNER, luck=1, bots=8),
    "great differences": Population(luck=0.5, bots=8),
    "seats matter": Population(bots=8, advantages=(0.5, 0, 0, -0.5)),
}
PAIR = (2, 5)


def judged(sample: Sample) -> Partnerships:
    results = sample.results()
    return partners(results, fit(results, sample.population.ties))


def flagged(sample: Sample) -> list[Partnership]:
    return [pair for pair in judged(sample).pairs if pair.flagged]


def lifted(gift: float) -> Callable[[Ints], Floats]:
    """Where both sit, the second of the pair gives performance to the first, in shares of BETA."""
    one, other = PAIR

    def change(bots: Ints) -> Floats:
        both = (bots == one).any(axis=1) & (bots == other).any(axis=1)
        moved: Floats = gift * BETA * both[:, None] * ((bots == one) * 1.0 - (bots == other))
        return moved

    return change


# honest populations


@pytest.mark.parametrize("name", HONEST)
def test_honest_bots_are_not_flagged(name: str) -> None:
    """Among twenty honest tournaments one may have a flag: each has one with a probability of 5 % at most."""
    population = HONEST[name]
    found = [judged(play(population, 160, seed)) for seed in range(20)]
    assert sum(any(pair.flagged for pair in each.pairs) for each in found) <= 2
    surprises = np.array([pair.effect / pair.error for each in found for pair in each.pairs])
    assert len(surprises) >= 20 * 40
    assert abs(surprises.mean()) < 0.1
    assert 0.9 < surprises.std() < 1.1


def test_equal_scores_are_no_partnership() -> None:
    for seed in range(3):
        assert not flagged(play(Population(Kind.SCORES, luck=2, bots=8), 160, seed))


# planted ones

PLANTED = {
    "full order": (Population(bots=12), 400),
    "duplicates": (Population(bots=8, rotate=True, shared=0.3), 400),
    "one loser": (Population(Kind.LOSER, luck=2, bots=8), 400),
    "score ties": (Population(Kind.SCORES, luck=2, bots=8), 400),
    "three seats": (Population(bots=9, seats=3), 300),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_bot_that_plays_for_another_is_found_and_nobody_else(name: str) -> None:
    population, matches = PLANTED[name]
    for seed in range(3):
        pairs = flagged(play(population, matches, seed, changed=lifted(1.0)))
        assert pairs, f"seed {seed}"
        names = {population.names[bot] for bot in PAIR}
        assert [{pair.bot, pair.with_} for pair in pairs] == [names], f"seed {seed}"
        (pair,) = pairs
        assert (pair.effect > 0) == (pair.bot == population.names[PAIR[0]])
        assert 0.05 < abs(pair.effect) < 0.5


def test_two_pairs_are_found() -> None:
    first, then = lifted(1.0), (0, 7)

    def change(bots: Ints) -> Floats:
        other = np.select([bots == then[0], bots == then[1]], [PAIR[0], PAIR[1]], default=99)
        moved: Floats = first(bots) + first(other)
        return moved

    population = Population(bots=12)
    found = flagged(play(population, 900, 1, changed=change))
    numbers = {frozenset(population.names.index(bot) for bot in (pair.bot, pair.with_)) for pair in found}
    assert numbers == {frozenset(PAIR), frozenset(then)}


def test_an_effect_is_measured_within_its_error() -> None:
    """Against third bots of equal skill one's gift of a BETA is worth Phi(1/sqrt 2) - 1/2, 26 % of them."""
    population = Population(luck=1e6, bots=9, seats=3)
    (pair,) = flagged(play(population, 3_000, 0, changed=lifted(1.0)))
    assert abs(pair.effect) == pytest.approx(0.26, abs=max(0.02, 3 * pair.error))
    assert pair.error < 0.05


# what cannot be told


def test_bots_that_never_part_cannot_be_told() -> None:
    found = judged(play(Population(bots=4), 200, 0))
    assert found.pairs == []
    assert found.reason is not None
    assert "all bots sit at every table" in found.reason


def test_tables_of_two_have_no_third() -> None:
    found = judged(play(Population(bots=6, seats=2), 60, 0))
    assert found.pairs == []
    assert "tables of two" in (found.reason or "")


def test_of_few_tables_nothing_is_said() -> None:
    found = judged(play(Population(bots=32), 30, 0))
    assert found.pairs == []
    assert "10 tables" in (found.reason or "")
    assert partners(Results(), fit(Results(), TieRule.DRAW)).pairs == []


def test_bots_that_always_end_alike_are_judged_without_a_division_by_zero() -> None:
    results = Results()
    for number in range(40):
        for bots in combinations(("ann", "bob", "cat", "dan", "eve"), 4):
            results.add(Result(bots, (1, 2, 3, 4), b""), number)
    found = partners(results, fit(results, TieRule.SHARED))
    assert found.pairs
    assert all(np.isfinite([pair.effect, pair.error, pair.p, pair.p_corrected]).all() for pair in found.pairs)
    assert not any(pair.flagged for pair in found.pairs)


# pairs that ratings do not tell


def rock_paper_scissors() -> Results:
    """Three bots each of which beats the next 80 times of 100, and two that are as good as anyone."""
    chance, results = Random(3), Results()
    names = ("rock", "scissors", "paper", "ann", "bob")
    for number in range(1_500):
        one, other = chance.sample(range(5), 2)
        better = 0.5
        if one < 3 and other < 3:
            better = 0.8 if (other - one) % 3 == 1 else 0.2
        results.add(
            Result((names[one], names[other]), (1, 2) if chance.random() < better else (2, 1), b""), number
        )
    return results


def test_bots_that_beat_each_other_in_a_circle_are_found() -> None:
    results = rock_paper_scissors()
    worst = residuals(results, fit(results, TieRule.SHARED))
    circle = {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}
    assert {(each.bot, each.against) for each in worst[:3]} == circle
    assert all(each.z > 5 and each.observed == pytest.approx(0.8, abs=0.1) for each in worst[:3])
    assert all(each.expected == pytest.approx(0.5, abs=0.1) for each in worst[:3])
    assert worst[3].z < 3


@pytest.mark.parametrize("name", HONEST)
def test_of_honest_bots_no_pair_is_a_surprise(name: str) -> None:
    worst: list[Residual] = []
    for seed in range(3):
        sample = play(HONEST[name], 160, seed)
        results = sample.results()
        worst += residuals(results, fit(results, sample.population.ties))
    assert worst
    assert max(each.z for each in worst) < 4
    assert all(abs(each.observed - each.expected - each.z * each.error) < 1e-9 for each in worst)


# bots that play by the rules of a game


def gain(state: koffer.State, seat: int, take: koffer.Take) -> float:
    """Points that a seat gets at once."""
    place = take.position - 1
    return (koffer.VALUE[state.row[place]] if take.face_up else -1) - place + state.row_chips[place]


def greedy(state: koffer.State, seat: int) -> koffer.Take:
    return max(koffer.actions(state, seat), key=lambda take: gain(state, seat, take))


def for_partner(state: koffer.State, seat: int, partner: int) -> koffer.Take:
    """Leaves as little as it can to third bots, and as much to its partner."""

    def left(take: koffer.Take) -> float:
        after = state.copy()
        koffer.apply(after, {seat: take})
        if after.over or after.turn == seat:
            return 0.0
        best = max(gain(after, after.turn, each) for each in koffer.actions(after, after.turn))
        return best if after.turn == partner else -best

    return max(koffer.actions(state, seat), key=left)


def ranks_at(names: tuple[str, ...], seed: bytes, helper: str | None) -> tuple[int, ...]:
    """A match of greedy bots; the helper, who knows who sits there, plays for `boss` if it does."""
    options = GAMES["koffer"].options({"specials": "2,3,4"})
    chance = Chance(seed)
    state, _ = koffer.start(len(names), options, koffer.deal(len(names), options, chance))
    while not state.over:
        seat = state.turn
        if names[seat] == helper and "boss" in names:
            take = for_partner(state, seat, names.index("boss"))
        else:
            take = greedy(state, seat)
        koffer.apply(state, {seat: take})
    return koffer.outcome(state).ranks


def tournament(helper: str | None) -> Iterator[tuple[int, Result]]:
    """Each table of three of six in every order, with the same deals."""
    bots = ("ann", "bob", "boss", "cat", "dan", "help")
    block = 0
    for turn in range(5):
        for table in combinations(bots, 3):
            seed = hashlib.sha256(f"{turn} {table}".encode()).digest()
            for names in permutations(table):
                yield block, Result(names, ranks_at(names, seed, helper), b"")
            block += 1


@pytest.mark.parametrize("helper", [None, "help"])
def test_a_bot_that_helps_its_partner_by_the_rules_is_found(helper: str | None) -> None:
    results = Results()
    for block, result in tournament(helper):
        results.add(result, block)
    found = partners(results, fit(results, TieRule.DRAW))
    names = [{pair.bot, pair.with_} for pair in found.pairs if pair.flagged]
    assert names == ([{"boss", "help"}] if helper else [])
