"""A gauntlet: one against all, evenly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from arena.tournament.formats import Plan
from arena.tournament.gauntlet import Gauntlet

SIZES = [(bots, seats) for seats in range(2, 6) for bots in (seats, seats + 1, seats + 2, 13, 20)]


@pytest.mark.parametrize(("bots", "seats"), SIZES)
def test_the_hero_is_everywhere_and_the_field_sits_equally_often(bots: int, seats: int) -> None:
    made = Gauntlet(Plan(bots, seats, 2 * (bots - 1), b"seed"))
    plays, places = Counter[int](), Counter[tuple[int, int]]()
    meetings = Counter(dict.fromkeys(combinations(range(1, bots), 2), 0))
    for table in made.round(0):
        base = table.seatings[0]
        plays.update(base)
        meetings.update(combinations(sorted(set(base) - {0}), 2))
        places.update((bot, seat) for seating in table.seatings for seat, bot in enumerate(seating))
    assert plays.pop(0) == made.blocks
    assert len(plays) == bots - 1
    assert len(set(plays.values())) == 1
    for bot in range(bots):
        assert len({places[bot, seat] for seat in range(seats)}) == 1
    assert not meetings or max(meetings.values()) - min(meetings.values()) <= 2


@pytest.mark.parametrize(("bots", "seats"), SIZES)
def test_everybody_follows_the_hero_equally_often(bots: int, seats: int) -> None:
    made = Gauntlet(Plan(bots, seats, bots - 1, b"seed"))
    after = Counter(table.seatings[0][1] for table in made.round(0))
    assert set(after.values()) == {made.blocks // (bots - 1)}
    assert len(after) == bots - 1


@pytest.mark.parametrize(("bots", "seats"), SIZES)
def test_without_rotations_seats_are_even_after_as_many_cycles_as_seats(bots: int, seats: int) -> None:
    made = Gauntlet(Plan(bots, seats, (bots - 1) * seats, b"seed", rotate=False))
    places = Counter(
        (bot, seat) for table in made.round(0) for s in table.seatings for seat, bot in enumerate(s)
    )
    for bot in range(bots):
        assert len({places[bot, seat] for seat in range(seats)}) == 1


@pytest.mark.parametrize(("bots", "seats", "deals", "blocks"), [(5, 2, 5, 8), (5, 3, 1, 4), (4, 4, 7, 7)])
def test_deals_are_rounded_up_to_whole_cycles_of_the_field(
    bots: int, seats: int, deals: int, blocks: int
) -> None:
    assert Gauntlet(Plan(bots, seats, deals, b"")).blocks == blocks
