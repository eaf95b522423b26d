"""Knock-outs: who goes on, who goes home, and what ties do."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from arena.tournament.formats import Plan
from arena.tournament.knockout import EXTRA_DEALS, DoubleKnockout, Knockout
from tests.tournament.simulated import all_tied, by_number, flat, noisy, played, rounds_of, sets_of

SEED = b"seed"


@pytest.mark.parametrize(
    ("bots", "seats", "tables"),
    [
        (8, 2, [4, 2, 1]),
        (5, 2, [1, 2, 1]),
        (6, 2, [2, 2, 1]),
        (7, 2, [3, 2, 1]),
        (16, 4, [4, 2, 1]),
        (10, 4, [1, 2, 1]),
        (9, 3, [3, 1]),
        (5, 3, [1, 1]),
        (25, 5, [5, 2, 1]),
        (5, 4, [1, 1]),
    ],
)
def test_a_round_brings_the_field_down_to_the_next_full_one(bots: int, seats: int, tables: list[int]) -> None:
    assert [len(each) for each in rounds_of(Knockout(Plan(bots, seats, 1, SEED)), by_number)] == tables


@pytest.mark.parametrize(
    ("bots", "seats", "sizes"),
    [
        (8, 2, [1, 1, 2, 4]),
        (6, 2, [1, 1, 2, 2]),
        (16, 4, [1, 1, 1, 1, 4, 8]),
        (10, 4, [1, 1, 1, 1, 4, 2]),
        (9, 3, [1, 1, 1, 6]),
    ],
)
def test_places_are_the_rounds_in_which_bots_went_home(bots: int, seats: int, sizes: list[int]) -> None:
    made = Knockout(Plan(bots, seats, 1, SEED))
    rounds = rounds_of(made, by_number)
    assert [len(group) for group in made.places(flat(rounds))] == sizes
    left = set().union(*sets_of(rounds[0])) - set().union(*sets_of(rounds[1]))
    assert set(made.places(flat(rounds))[-1]) == left


def test_the_better_half_of_every_table_goes_on() -> None:
    rounds = rounds_of(Knockout(Plan(16, 4, 1, SEED)), by_number)
    for before, after in pairwise(rounds):
        best = {bot for each in sets_of(before) for bot in sorted(each)[:2]}
        assert set().union(*sets_of(after)) == best


def test_byes_go_to_the_best_seeded_and_they_meet_last() -> None:
    plan = Plan(6, 2, 1, SEED)
    field = Knockout(plan).course()
    drawn = field.places()[0]
    first = rounds_of(Knockout(plan), by_number)[0]
    assert sets_of(first) == [{drawn[2], drawn[5]}, {drawn[3], drawn[4]}]


@pytest.mark.parametrize("deals", [1, 3])
def test_tied_tables_play_on_up_to_a_bound_and_then_the_better_seeded_is_ahead(deals: int) -> None:
    plan = Plan(4, 2, deals, SEED)
    made = Knockout(plan)
    rounds = rounds_of(made, all_tied)
    blocks = [len(each) for each in rounds]
    assert blocks == [2 * deals, *[2] * EXTRA_DEALS, deals, *[1] * EXTRA_DEALS]
    assert sum(blocks) * 2 == made.matches
    drawn = made.course().places()[0]
    assert made.places(flat(rounds))[:2] == [[drawn[0]], [drawn[1]]]


def test_only_tied_tables_play_on_and_only_until_they_are_decided() -> None:
    ties = 2

    def results(bots: tuple[int, ...], random: Random) -> tuple[int, ...]:
        nonlocal ties
        if 0 in bots and ties:
            ties -= 1
            return (1, 1)
        return by_number(bots, random)

    rounds = rounds_of(Knockout(Plan(8, 2, 1, SEED)), results)
    assert [len(each) for each in rounds] == [4, 1, 2, 1]
    assert 0 in sets_of(rounds[1])[0]


@pytest.mark.parametrize(
    ("bots", "seats"), [(4, 2), (7, 2), (16, 2), (5, 4), (6, 4), (12, 4), (7, 3), (11, 5)]
)
def test_nobody_goes_home_before_a_second_loss(bots: int, seats: int) -> None:
    made = DoubleKnockout(Plan(bots, seats, 1, SEED))
    for seed in range(3):
        rounds = rounds_of(made, noisy, seed)
        seen = Counter(bot for each in sets_of(flat(rounds)) for bot in each)
        places = made.places(flat(rounds))
        assert all(seen[bot] >= 2 for group in places[seats:] for bot in group)


@pytest.mark.parametrize("bots", [4, 5, 8, 11, 16])
def test_at_tables_of_two_all_but_the_winner_lose_twice(bots: int) -> None:
    rounds = rounds_of(DoubleKnockout(Plan(bots, 2, 1, SEED)), by_number)
    lost = Counter(max(each) for each in sets_of(flat(rounds)))
    assert lost == Counter(dict.fromkeys(range(1, bots), 2))


def the_last_wins(bots: tuple[int, ...], random: Random) -> tuple[int, ...]:
    return tuple(len(bots) + 1 - rank for rank in by_number(bots, random))


@pytest.mark.parametrize("seats", [2, 4])
def test_the_grand_final_is_played_again_if_the_lower_bracket_wins_it(seats: int) -> None:
    made = DoubleKnockout(Plan(8, seats, 1, SEED))
    rounds = rounds_of(made, by_number)
    before, final = flat(rounds[:-1]), rounds[-1][0].table
    # Whoever came through the lower bracket wins now, and then, when all have lost once, does not.
    upset = [*before, played(final, the_last_wins, 0)]
    (again,) = made.round(0, upset)
    assert set(again.seatings[0]) == set(final.seatings[0])
    ended = [*upset, played(again, by_number, 0)]
    assert made.round(0, ended) == []
    assert made.places(ended)[0] == [0]
    assert made.places([*upset, played(again, the_last_wins, 0)])[0] == [max(final.seatings[0])]


def test_the_best_of_the_upper_bracket_wins_a_tied_grand_final() -> None:
    made = DoubleKnockout(Plan(4, 2, 1, SEED))
    rounds = rounds_of(made, all_tied)
    drawn = made.course().places()[0]
    assert made.places(flat(rounds))[0] == [drawn[0]]
    assert sum(len(each) for each in rounds) * 2 == made.matches - (1 + EXTRA_DEALS) * 2


def test_seats_that_the_lower_bracket_cannot_fill_are_taken_by_guests_who_lose_nothing() -> None:
    # One of five loses at once and two of the other four: three cannot fill a table, and two are finalists.
    rounds = rounds_of(DoubleKnockout(Plan(5, 4, 1, SEED)), by_number)
    first, second, third, final = (sets_of(each) for each in rounds)
    lower = (first[0] | second[0]) - (set(sorted(second[0])[:2]))
    (guest,) = third[0] - lower
    assert guest in second[0]
    assert final[0] == set(range(5)) - {max(lower)}
    assert guest in final[0]
