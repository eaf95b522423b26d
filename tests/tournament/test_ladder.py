"""A league's ladder: everybody plays equally often, whoever comes, and meets neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.tournament.formats import LADDER, Plan, PlayedTable, make_format
from arena.tournament.ladder import SLACK
from arena.tournament.schedule import ScheduleError
from tests.tournament.simulated import Results, by_number, noisy, played


def play_on(done: list[PlayedTable], plan: Plan, rounds: int, results: Results = noisy) -> None:
    """Play so many rounds more."""
    made = make_format(LADDER, plan)
    for _ in range(rounds):
        tables = made.round(len(done), done)
        assert tables
        done += [played(table, results, 1) for table in tables]


def blocks(done: Sequence[PlayedTable]) -> Counter[int]:
    return Counter(bot for each in done for bot in each.table.seatings[0])


@settings(max_examples=25)
@given(st.integers(2, 5), st.integers(0, 7), st.integers(1, 3))
def test_everybody_plays_equally_often(seats: int, more: int, deals: int) -> None:
    done: list[PlayedTable] = []
    play_on(done, Plan(seats + more, seats, deals, b"seed"), 3 * (seats + more))
    count = blocks(done)
    assert len(count) == seats + more
    assert max(count.values()) - min(count.values()) <= 2 * deals
    assert [each.table.block for each in done] == list(range(len(done)))


@pytest.mark.parametrize(("bots", "seats"), [(6, 2), (7, 2), (8, 4), (9, 3)])
def test_a_new_bot_plays_more_until_it_has_as_many_as_the_others(bots: int, seats: int) -> None:
    done: list[PlayedTable] = []
    play_on(done, Plan(bots, seats, 1, b"seed"), 12)
    before = blocks(done)
    begun = len(done)
    grown = Plan(bots + 1, seats, 1, b"seed")
    while blocks(done)[bots] < sorted(blocks(done).values())[bots // 2]:
        last = len(done)
        play_on(done, grown, 1)
        assert bots in blocks(done[last:])
    others = blocks(done[begun:])
    assert others.pop(bots) <= max(before.values()) + 3 * seats
    assert max(blocks(done).values()) - min(blocks(done).values()) <= 3


@settings(max_examples=40)
@given(st.integers(2, 4), st.lists(st.sampled_from(["ann", "ben", "cem", ""]), min_size=2, max_size=9))
def test_no_two_of_one_owner_meet_and_nobody_starves(seats: int, whose: list[str]) -> None:
    owners = {bot: owner for bot, owner in enumerate(whose) if owner}
    plan = Plan(len(whose), seats, 1, b"seed", owners=owners)
    there = len(set(owners.values())) + whose.count("")
    if len(whose) < seats or there < seats:
        with pytest.raises(ScheduleError, match="cannot fill"):
            make_format(LADDER, plan).round(0, ())
        return
    done: list[PlayedTable] = []
    play_on(done, plan, 4 * len(whose))
    for each in done:
        at_table = [owners[bot] for bot in each.table.seatings[0] if bot in owners]
        assert len(at_table) == len(set(at_table))
    for owner in set(whose):
        count = blocks(done)
        played = [count[bot] for bot, of in enumerate(whose) if of == owner]
        assert min(played) > 0
        assert max(played) - min(played) <= 3


def test_who_retired_plays_no_further_and_stands_nowhere() -> None:
    done: list[PlayedTable] = []
    play_on(done, Plan(6, 2, 1, b"seed"), 4)
    begun = len(done)
    plan = Plan(6, 2, 1, b"seed", retired={2})
    play_on(done, plan, 4)
    assert 2 not in blocks(done[begun:])
    assert sorted(bot for (bot,) in make_format(LADDER, plan).places(done)) == [0, 1, 3, 4, 5]


def test_the_best_climb_to_the_top_and_newcomers_begin_at_the_bottom() -> None:
    done: list[PlayedTable] = []
    plan = Plan(8, 2, 1, b"seed")
    play_on(done, plan, 40, lambda bots, _: tuple(3 - rank for rank in by_number(bots, _)))
    assert make_format(LADDER, plan).places(done) == [[bot] for bot in reversed(range(8))]
    assert make_format(LADDER, Plan(9, 2, 1, b"seed")).places(done)[-1] == [8]


def test_neighbours_meet_most_but_everybody_meets_everybody() -> None:
    done: list[PlayedTable] = []
    play_on(done, Plan(8, 2, 1, b"seed"), 70, by_number)
    met = Counter(tuple(sorted(each.table.seatings[0])) for each in done)
    assert len(met) == len(list(combinations(range(8), 2)))
    assert min(met.values()) >= 70 // 7 - SLACK - 1
    assert max(met.values()) <= 70 // 7 + SLACK + 1
    near = [number for (one, other), number in met.items() if other - one == 1]
    assert sum(near) / len(near) > 70 / 7


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (Plan(4, 2, 1, b"", retired={0, 1, 2}), "1 bots cannot fill 2 seats"),
        (Plan(4, 2, 0, b""), "0 deals"),
        (Plan(4, 2, 1, b"", settings={"rounds": 3}), "ladder has no rounds"),
    ],
)
def test_a_league_that_cannot_play(plan: Plan, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        make_format(LADDER, plan).round(0, ())
