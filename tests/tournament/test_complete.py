"""A complete round robin has every set, and is as even on the way as the sets allow."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from math import comb, factorial

import pytest

from arena.tournament.complete import CompleteRoundRobin
from arena.tournament.formats import is_complete

SEED = b"a seed"


def sizes(seats: int) -> list[int]:
    return [bots for bots in range(seats + 1, 41) if is_complete(bots, seats, 10**9, rotate=True)]


@pytest.mark.parametrize(("seats", "within"), [(2, 1), (3, 2), (4, 4), (5, 4)])
def test_every_pass_has_every_set_once_and_everybody_plays_equally_often_on_the_way(
    seats: int, within: int
) -> None:
    for bots in sizes(seats):
        sets = comb(bots, seats)
        schedule = CompleteRoundRobin(bots, seats, sets, SEED)
        every = list(combinations(range(bots), seats))
        found, plays = Counter[tuple[int, ...]](), Counter[int]()
        meetings = Counter(dict.fromkeys(combinations(range(bots), 2), 0))
        spreads = []
        for table in schedule:
            base = tuple(sorted(table.seatings[0]))
            found[base] += 1
            plays.update(base)
            meetings.update(combinations(base, 2))
            if len(plays) == bots and len(set(plays.values())) == 1:
                spreads.append(max(meetings.values()) - min(meetings.values()))
        assert found == Counter(every)
        assert spreads[-1] == 0
        assert len(spreads) >= sets / bots, "everybody has played equally often after each orbit"
        assert max(spreads) <= within


@pytest.mark.parametrize(("bots", "seats"), [(5, 2), (5, 3), (6, 4), (7, 4), (6, 5)])
def test_passes_go_through_all_cyclic_orders(bots: int, seats: int) -> None:
    orders = factorial(seats - 1)
    schedule = CompleteRoundRobin(bots, seats, orders * comb(bots, seats), SEED)
    seen = Counter(
        table.seatings[0][start:] + table.seatings[0][:start]
        for table in schedule
        for start in [table.seatings[0].index(min(table.seatings[0]))]
    )
    assert len(seen) == orders * comb(bots, seats)
    assert set(seen.values()) == {1}
    follows = Counter(pair for order in seen for pair in zip(order, order[1:] + order[:1], strict=True))
    assert follows == Counter(dict.fromkeys(permutations(range(bots), 2), follows[0, 1]))


@pytest.mark.parametrize(
    ("bots", "seats", "deals", "blocks"),
    [(6, 4, 15, 15), (6, 4, 16, 18), (6, 4, 31, 33), (5, 3, 10, 10), (4, 2, 7, 10), (4, 2, 13, 16)],
)
def test_deals_are_rounded_up_to_the_end_of_an_orbit(bots: int, seats: int, deals: int, blocks: int) -> None:
    schedule = CompleteRoundRobin(bots, seats, deals, SEED)
    assert (schedule.blocks, len(list(schedule))) == (blocks, blocks)
    plays = Counter(bot for table in schedule for bot in table.seatings[0])
    assert set(plays.values()) == {blocks * seats // bots}


@pytest.mark.parametrize(
    ("bots", "seats", "deals", "complete"),
    [
        (6, 4, 15, True),
        (6, 4, 14, False),  # they do not reach all sets
        (4, 4, 99, False),  # a full table has one set
        (50, 2, 10**6, True),
        (22, 3, 10**6, True),
        (23, 3, 10**6, False),  # 5313 matches
        (14, 4, 10**6, True),
        (15, 4, 10**6, False),
        (3, 4, 10**6, False),
    ],
)
def test_when_all_sets_are_gone_through(bots: int, seats: int, deals: int, complete: bool) -> None:
    assert is_complete(bots, seats, deals, rotate=True) is complete


def test_a_block_is_the_same_whenever_it_is_asked_for() -> None:
    tables = list(CompleteRoundRobin(7, 3, 80, SEED))
    again = CompleteRoundRobin(7, 3, 80, SEED)
    assert [again.table(index) for index in reversed(range(len(tables)))] == tables[::-1]
    assert tables != list(CompleteRoundRobin(7, 3, 80, b"another"))


@pytest.mark.parametrize("bots", [3, 4, 5, 8, 9, 12, 25])
def test_pairs_meet_once_from_both_sides_as_in_a_circle(bots: int) -> None:
    matches = [
        seating for table in CompleteRoundRobin(bots, 2, comb(bots, 2), SEED) for seating in table.seatings
    ]
    assert Counter(matches) == Counter(permutations(range(bots), 2))
