"""Playing until it is decided: with made-up results, through the interface that tournaments use."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.fold import BETA, TieRule
from arena.ratings.stopping import ORDER, WINNER, State
from arena.tournament.adaptive import FIRST_BLOCKS, ROUND_BLOCKS, Companies, Until, most_deals
from arena.tournament.formats import Plan, PlayedTable, Stopping, make_format
from arena.tournament.schedule import ScheduleError
from tests.bench.stopping import Population, Uniform, World, answers
from tests.tournament.simulated import all_tied, by_number, flat, noisy, played, rounds_of

SEED = bytes(32)


def until(bots: int, seats: int, deals: int = 1000, **more: Any) -> Until:
    made = make_format("until", Plan(bots, seats, deals, SEED, True, more))
    assert isinstance(made, Until)
    return made


@pytest.mark.parametrize(("bots", "seats"), [(2, 2), (4, 4), (5, 4), (7, 3), (24, 4)])
def test_it_begins_with_a_balanced_round_robin(bots: int, seats: int) -> None:
    tables = until(bots, seats).round(0, ())
    sat = Counter(bot for table in tables for bot in table.seatings[0])
    assert set(sat) == set(range(bots))
    assert len(set(sat.values())) == 1
    assert min(sat.values()) >= max(FIRST_BLOCKS, 0 if bots == seats else 2 * seats)
    assert [table.block for table in tables] == [table.deal for table in tables] == list(range(len(tables)))


@settings(max_examples=15)
@given(
    st.tuples(st.integers(2, 9), st.integers(2, 4)).filter(lambda size: size[0] >= size[1]),
    st.integers(1, 70),
    st.sampled_from(["winner", "top 1", "order"]),
    st.integers(0, 1000),
)
def test_rounds(size: tuple[int, int], deals: int, goal: str, seed: int) -> None:
    """Same results, same tables; numbered on; every seat once per bot in a block; no more than the deals."""
    bots, seats = size
    one = rounds_of(until(bots, seats, deals, until=goal), noisy, seed)
    other = rounds_of(until(bots, seats, deals, until=goal), noisy, seed)
    assert one == other
    tables = flat(one)
    assert [each.table.block for each in tables] == list(range(len(tables)))
    assert len(tables) <= deals
    for each in tables:
        assert all(len(set(seating)) == seats for seating in each.table.seatings)
        for seat in range(seats):
            assert {seating[seat] for seating in each.table.seatings} == set(each.table.seatings[0])


def test_a_stopped_run_goes_on_as_if_it_had_not_been() -> None:
    rounds = rounds_of(until(6, 3, 150, until="order"), noisy, 3)
    assert len(rounds) > 3
    for number in range(1, len(rounds)):
        again = until(6, 3, 150, until="order").round(number, flat(rounds[:number]))
        assert [each.table for each in rounds[number]] == list(again)


def test_clear_results_end_at_the_first_look() -> None:
    made = until(5, 4, until="order")
    (first,) = rounds_of(made, by_number)
    answer = made.answer(first)
    assert answer.finding.order == (0, 1, 2, 3, 4)
    assert {pair.state for pair in answer.finding.pairs} == {State.SETTLED}
    assert answer.matches == 4 * len(first)


@pytest.mark.parametrize("bots", [3, 4])
def test_deterministic_equals_are_soon_tied_where_ties_are_draws(bots: int) -> None:
    made = until(bots, 3, until="order", ties="draw")
    answer = made.answer(flat(rounds_of(made, all_tied)))
    assert {pair.state for pair in answer.finding.pairs} == {State.TIED}


def test_shared_ranks_that_say_nothing_stay_undecided() -> None:
    made = until(4, 3, 40, until="winner", ties="shared")
    tables = flat(rounds_of(made, all_tied))
    assert len(tables) == 40
    assert len(made.answer(tables).finding.open) == 3


def test_void_matches_alone_stay_undecided() -> None:
    made = until(4, 3, 40)
    tables = flat(rounds_of(made, lambda bots, random: None))
    assert len(tables) == 40
    assert len(made.answer(tables).finding.open) == 3
    assert made.outlook is not None
    assert made.outlook.matches is None


def test_a_few_void_matches_count_for_nothing() -> None:
    made = until(4, 3, 40, until="order")
    clear = flat(rounds_of(made, by_number))
    void = PlayedTable(clear[0].table, (None, *clear[0].ranks[1:]))
    assert made.answer([void, *clear[1:]]).finding.order == (0, 1, 2, 3)


def test_the_outlook() -> None:
    made = until(6, 3, until="order")
    assert isinstance(made, Stopping)
    clear = rounds_of(made, by_number)
    assert made.outlook is not None
    assert made.outlook.text == "0 of 5 pairs open"
    assert made.outlook.matches == 0
    made.round(1, [played(each.table, noisy, 3) for each in clear[0]])
    assert made.outlook.text.endswith("of 5 pairs open")
    assert made.outlook.matches
    assert made.outlook.matches > 0


def test_rounds_grow_with_what_was_played() -> None:
    lengths = [len(each) for each in rounds_of(until(4, 2, 3000), noisy, 1)]
    assert all(length >= ROUND_BLOCKS for length in lengths[:-1])
    assert len(rounds_of(until(3, 3, 3000, ties="shared"), all_tied)) < 40


# Who sits together


def draws(pairs: list[tuple[int, int]], bots: int, seats: int, blocks: int) -> list[tuple[int, ...]]:
    companies, random = Companies(pairs, bots, seats, blocks), Random(1)
    return [companies.draw(random) for _ in range(blocks)]


@pytest.mark.parametrize(("bots", "seats"), [(5, 4), (6, 2), (9, 3)])
def test_one_open_pair_meets_as_often_as_a_company_may(bots: int, seats: int) -> None:
    tables = draws([(0, 1)], bots, seats, 20)
    meetings = sum({0, 1} <= set(table) for table in tables)
    assert meetings == (10 if seats == 2 else 20)
    assert max(Counter(frozenset(table) for table in tables).values()) <= 10


def test_open_pairs_share_the_round() -> None:
    pairs = list(combinations(range(4), 2))
    tables = draws(pairs, 12, 2, 60)
    assert Counter(frozenset(table) for table in tables) == {frozenset(pair): 10 for pair in pairs}


def test_seats_go_to_those_who_share_open_pairs() -> None:
    tables = draws([(0, 1), (0, 2), (0, 3)], 12, 4, 10)
    assert sum(set(table) == {0, 1, 2, 3} for table in tables) == 5  # half of the round, and no more
    assert all(0 in table for table in tables)


# Statistics


def test_simulated_populations() -> None:
    """Far less than an even schedule takes with the same rule; wrong beyond the tolerance in 5 % at most."""
    population = Population("small", 2, bots=16)
    runs, wrong, adaptive = 5, 0, []
    for goal in ("winner", "top 4"):
        for there, answer in answers(population, goal, runs):
            wrong += there.is_wrong(answer)
            adaptive.append(answer.matches)
    uniform = [answer.matches for _, answer in answers(population, "winner", 2, Uniform)]
    assert wrong <= 1
    assert sum(adaptive[:2]) <= 0.6 * sum(uniform)


@pytest.mark.parametrize("ties", [None, TieRule.SHARED])
def test_looking_often_does_not_deceive(ties: TieRule | None) -> None:
    """Two bots that differ by little more than the tolerance: the hardest case."""
    tolerance, runs, wrong = BETA / 3, 40, 0
    for seed in range(runs):
        there = World(Population("pair", 1, ties, 3, 3), [0, 1.05 * tolerance, -BETA], seed)
        made = until(3, 3, 3000, tolerance=tolerance)
        answer = there.run(made)
        assert not answer.finding.open
        wrong += there.is_wrong(answer)
    assert wrong <= runs * 0.05 + 2


# What makes no tournament


@pytest.mark.parametrize(
    ("bots", "given", "why"),
    [
        (5, {"until": "best"}, "winner"),
        (5, {"until": "top 9"}, "1 to 4"),
        (5, {"confidence": 1.0}, r"0\.95"),
        (5, {"confidence": 0.5}, r"0\.95"),
        (5, {"tolerance": 0.0}, "equal bots play for ever"),
        (5, {"rounds": 3}, "rounds"),
        (2, {}, "2 bots cannot fill 3 seats"),
    ],
)
def test_no_tournament(bots: int, given: dict[str, Any], why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        until(bots, 3, **given)


def test_settings_make_it_again() -> None:
    made = until(5, 4, 77, until="top 3", confidence=0.9, tolerance=2.0, ties="draw")
    again = make_format("until", Plan(5, 4, 77, SEED, True, made.settings))
    assert (
        again.settings
        == made.settings
        == {
            "deals": 77,
            "until": "top 3",
            "confidence": 0.9,
            "tolerance": 2.0,
            "ties": "draw",
        }
    )
    assert until(5, 4).criterion.goal == WINNER
    assert until(5, 4, until="order").criterion.goal == ORDER


@pytest.mark.parametrize(
    ("bots", "seats", "rotate"), [(5, 4, True), (24, 4, True), (2, 2, True), (6, 3, False)]
)
def test_the_most_deals(bots: int, seats: int, rotate: bool) -> None:
    seatings = seats if rotate else 1
    per_bot = most_deals(bots, seats, rotate) * seatings * seats / bots
    assert per_bot == pytest.approx(8000, abs=seats * seatings / bots + 1)
    assert math.isfinite(per_bot)
