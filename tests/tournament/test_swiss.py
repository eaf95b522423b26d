"""Swiss: who meets whom, who rests, and who is ahead of whom."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.tournament.formats import Plan, PlayedTable
from arena.tournament.pairing import seat_tables
from arena.tournament.schedule import Table, stream
from arena.tournament.swiss import Swiss
from tests.tournament.simulated import all_tied, by_number, flat, noisy, rounds_of, sets_of


def swiss(bots: int, seats: int, rounds: int, deals: int = 1, seed: bytes = b"seed") -> Swiss:
    return Swiss(Plan(bots, seats, deals, seed, settings={"rounds": rounds}))


@pytest.mark.parametrize(
    ("bots", "rounds"), [(3, 4), (4, 4), (5, 5), (8, 5), (9, 6), (16, 6), (17, 7), (32, 7)]
)
def test_by_default_there_are_two_rounds_more_than_halve_the_bots_down_to_one(bots: int, rounds: int) -> None:
    assert Swiss(Plan(bots, 2, 1, b"")).rounds == rounds


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(0, 9), st.data())
def test_nobody_meets_twice_at_tables_of_two_in_half_as_many_rounds_as_bots(
    half: int, seed: int, data: st.DataObject
) -> None:
    bots = 2 * half + 2
    rounds = rounds_of(swiss(bots, 2, data.draw(st.integers(1, bots // 2)), seed=bytes([seed])), noisy, seed)
    met = Counter(frozenset(each) for each in sets_of(flat(rounds)))
    assert set(met.values()) == {1}


@pytest.mark.parametrize(("bots", "seats", "rounds"), [(16, 4, 2), (25, 5, 3), (64, 4, 8), (27, 3, 6)])
def test_nobody_meets_twice_at_larger_tables_while_there_are_new_ones_enough(
    bots: int, seats: int, rounds: int
) -> None:
    done = flat(rounds_of(swiss(bots, seats, rounds), noisy))
    met = Counter(pair for each in sets_of(done) for pair in combinations(sorted(each), 2))
    assert set(met.values()) == {1}


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(1, 9), st.integers(1, 8), st.sampled_from([by_number, all_tied, noisy]))
def test_everybody_rests_once_before_anybody_does_twice(
    seats: int, more: int, rounds: int, results: object
) -> None:
    bots = seats + more
    rested = Counter(dict.fromkeys(range(bots), 0))
    for tables in rounds_of(swiss(bots, seats, rounds), results):  # type: ignore[arg-type]
        sitting = set().union(*sets_of(tables))
        rested.update(set(range(bots)) - sitting)
        assert len(sitting) == bots // seats * seats
        assert max(rested.values()) - min(rested.values()) <= 1


def test_the_fewest_points_rest() -> None:
    rounds = rounds_of(swiss(7, 2, 4), by_number)
    points = Counter[int](dict.fromkeys(range(7), 0))
    rested: set[int] = set()
    for tables in rounds:
        (resting,) = set(range(7)).difference(*sets_of(tables))
        fresh = set(range(7)) - rested
        assert points[resting] == min(points[bot] for bot in fresh)
        rested.add(resting)
        points[resting] += 1
        for each in sets_of(tables):
            points[min(each)] += 2


def test_bots_of_equal_points_meet() -> None:
    rounds = rounds_of(swiss(16, 2, 4), by_number)
    points = Counter[int]()
    for tables in rounds:
        assert all(len({points[bot] for bot in each}) == 1 for each in sets_of(tables))
        for each in sets_of(tables):
            points[min(each)] += 1
    assert sorted(points.values()) == sorted([4, *[3] * 4, *[2] * 6, *[1] * 4])  # binomial, but for the 0


def table(block: int, *ranks: tuple[int, int], seats: tuple[int, ...] = (0, 1)) -> PlayedTable:
    """A table at which these bots had these ranks in every seating."""
    seatings = (seats, seats[::-1])
    by_bot = dict(zip(seats, ranks[0], strict=True))
    return PlayedTable(
        Table(block, block, seatings), tuple(tuple(by_bot[bot] for bot in s) for s in seatings)
    )


def wins(block: int, winner: int, loser: int) -> PlayedTable:
    return table(block, (1, 2), seats=(winner, loser))


def draws(block: int, one: int, other: int) -> PlayedTable:
    return table(block, (1, 1), seats=(one, other))


DRAW = list(range(4))
stream(b"seed", b"draw").shuffle(DRAW)


@pytest.mark.parametrize(
    ("tables", "places"),
    [
        pytest.param([wins(0, 2, 1), draws(1, 0, 3)], [2, *[b for b in DRAW if b in (0, 3)], 1], id="points"),
        # 0 and 1 have 2 points, and 0 won against 2, who has 1, but 1 against 3, who has none.
        pytest.param(
            [wins(0, 0, 2), wins(1, 1, 3), draws(2, 0, 1), wins(3, 2, 3)],
            [0, 1, 2, 3],
            id="opponents' points",
        ),
        pytest.param(
            [wins(0, 1, 3), wins(1, 0, 2), wins(2, 3, 0), wins(3, 2, 1)],
            DRAW,
            id="the draw",
        ),
        pytest.param([], DRAW, id="nothing played"),
    ],
)
def test_ties_are_broken_in_order(tables: list[PlayedTable], places: list[int]) -> None:
    assert swiss(4, 2, 2).places(tables) == [[bot] for bot in places]


def test_direct_encounters_decide_between_bots_with_equal_points_and_opponents() -> None:
    # Everybody met everybody: so opponents' points are equal where points are.
    tables = [wins(0, 3, 0), wins(1, 2, 1), wins(2, 3, 1), wins(3, 0, 2), wins(4, 2, 3), wins(5, 1, 0)]
    # 3 and 2 have two points, and 2 won against 3; 0 and 1 one, and 1 won against 0.
    assert swiss(4, 2, 3).places(tables) == [[2], [3], [1], [0]]


def test_a_void_match_is_worth_as_much_as_a_tie() -> None:
    void = PlayedTable(Table(0, 0, ((0, 1), (1, 0))), (None, None))
    others = draws(1, 2, 3)
    assert swiss(4, 2, 1).places([void, others]) == swiss(4, 2, 1).places([draws(0, 0, 1), others])


def test_a_bye_is_worth_half_a_win() -> None:
    (resting,) = set(range(3)) - set(swiss(3, 2, 1).round(0, [])[0].seatings[0])
    one, other = sorted(set(range(3)) - {resting})
    assert swiss(3, 2, 1).places([wins(0, one, other)]) == [[one], [resting], [other]]


def test_tables_are_of_neighbours_if_nobody_has_met() -> None:
    points = [9, 9, 7, 7, 5, 5, 1, 1]
    tables = seat_tables(range(8), 2, lambda *_: 0, lambda a, b: abs(points[a] - points[b]), stream(b"", b""))
    assert sorted(tables) == [(0, 1), (2, 3), (4, 5), (6, 7)]
    again = seat_tables(range(8), 4, lambda a, b: int((a, b) == (0, 1)), lambda *_: 0, stream(b"", b""))
    assert not any({0, 1} <= set(table) for table in again)
    assert all(a != b for table in again for a, b in pairwise(table))
