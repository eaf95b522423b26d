"""Schedules are even, deterministic and lazy."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cache
from itertools import combinations, islice, permutations

import pytest

from arena.tournament.schedule import RoundRobin, ScheduleError, Table

SEED = b"a seed of a tournament, 32 bytes"
CYCLES = 12

LARGE_TABLES = [(bots, seats) for seats in (6, 7) for bots in (8, 9, 13, 16, 22, 31, 40)]


@cache
def spreads(bots: int, seats: int, cycles: int) -> list[int]:
    """After each cycle, by how much the numbers of blocks that two bots shared differ."""
    schedule = RoundRobin(bots, seats, cycles * bots, SEED)
    together: Counter[tuple[int, int]] = Counter(dict.fromkeys(combinations(range(bots), 2), 0))
    after = []
    for table in schedule:
        together.update(combinations(sorted(table.seatings[0]), 2))
        if (table.block + 1) % bots == 0:
            after.append(max(together.values()) - min(together.values()))
    return after


def seat_counts(tables: list[Table], seating: slice = slice(None)) -> Counter[tuple[int, int]]:
    """How often each (bot, seat) occurs."""
    return Counter(
        (bot, seat) for table in tables for bots in table.seatings[seating] for seat, bot in enumerate(bots)
    )


@pytest.mark.parametrize("seats", range(2, 8))
def test_after_every_cycle_each_bot_had_each_seat_equally_often(seats: int) -> None:
    for bots in (seats + 1, seats + 2, 13, 20, 40):
        tables = list(RoundRobin(bots, seats, 3 * bots, SEED))
        for cycles in (1, 2, 3):
            played = tables[: cycles * bots]
            every = {(bot, seat) for bot in range(bots) for seat in range(seats)}
            assert seat_counts(played) == dict.fromkeys(every, cycles * seats)
            assert seat_counts(played, slice(1)) == dict.fromkeys(every, cycles)


@pytest.mark.parametrize("seats", range(2, 6))
def test_two_bots_share_as_many_blocks_as_any_other_two_within_two(seats: int) -> None:
    for bots in range(seats + 1, 41):
        assert max(spreads(bots, seats, CYCLES)) <= 2, bots


@pytest.mark.parametrize(("bots", "seats"), LARGE_TABLES)
def test_larger_tables_are_as_even(bots: int, seats: int) -> None:
    assert max(spreads(bots, seats, 6)) <= 2


@pytest.mark.parametrize(("seats", "share"), [(2, 1.0), (3, 0.95), (4, 0.93), (5, 0.91)])
def test_pair_counts_are_nearly_always_within_one(seats: int, share: float) -> None:
    every = [spread for bots in range(seats + 1, 41) for spread in spreads(bots, seats, CYCLES)]
    assert sum(spread <= 1 for spread in every) >= share * len(every)


def test_three_seats_and_an_odd_number_of_bots_are_within_one_after_any_cycle() -> None:
    for bots in range(5, 41, 2):
        assert max(spreads(bots, 3, CYCLES)) <= 1, bots


@pytest.mark.parametrize(("bots", "cycles"), [(6, 5), (10, 3), (14, 13)])
def test_where_three_seats_cannot_be_even(bots: int, cycles: int) -> None:
    """The mean is an integer, so within 1 would mean equal. But of the three distances in a set an even
    number is odd, since around a circle of even length they add up to 0; and equal counts would need an
    odd number of odd distances in all sets together."""
    assert cycles * 3 * 2 % (bots - 1) == 0
    mean = cycles * 3 * 2 // (bots - 1)
    per_distance = dict.fromkeys(range(1, bots // 2), mean) | {bots // 2: mean // 2}
    assert sum(number for distance, number in per_distance.items() if distance % 2) % 2 == 1
    assert spreads(bots, 3, CYCLES if cycles <= CYCLES else cycles)[cycles - 1] == 2


@pytest.mark.parametrize(
    ("bots", "seats", "cycles"),
    [(7, 3, 1), (13, 4, 1), (21, 5, 1), (13, 3, 2), (19, 4, 3), (31, 5, 3)],
)
def test_designs_with_equal_pair_counts_are_found(bots: int, seats: int, cycles: int) -> None:
    assert spreads(bots, seats, CYCLES)[cycles - 1] == 0


@pytest.mark.parametrize(("bots", "seats"), [(6, 3), (6, 4), (10, 3), (20, 4), (32, 4), (12, 5), (16, 6)])
def test_balance_does_not_drift_in_a_thousand_cycles(bots: int, seats: int) -> None:
    # Pair counts are a function of the distance in the circle, so one bot's meetings show them all.
    together: Counter[int] = Counter()
    worst = 0
    for table in RoundRobin(bots, seats, 1000 * bots, SEED, rotate=False):
        if 0 in table.seatings[0]:
            together.update(table.seatings[0])
        if (table.block + 1) % bots == 0:
            met = [together[bot] for bot in range(1, bots)]
            worst = max(worst, max(met) - min(met))
    assert worst <= 2


@pytest.mark.parametrize(("bots", "seats"), [(5, 3), (8, 4), (13, 4), (32, 4), (21, 5), (16, 6), (20, 7)])
def test_everybody_follows_everybody_about_equally_often(bots: int, seats: int) -> None:
    follows: Counter[tuple[int, int]] = Counter(dict.fromkeys(permutations(range(bots), 2), 0))
    for table in RoundRobin(bots, seats, 20 * bots, SEED):
        seating = table.seatings[0]
        follows.update(zip(seating, seating[1:] + seating[:1], strict=True))
    assert max(follows.values()) - min(follows.values()) <= 3


@pytest.mark.parametrize("seats", range(2, 6))
def test_a_full_table_goes_through_all_cyclic_orders(seats: int) -> None:
    orders = [1, 1, 2, 6, 24][seats - 1]
    tables = list(RoundRobin(seats, seats, 3 * orders, SEED))
    seen = Counter(from_bot_0(table.seatings[0]) for table in tables)
    assert len(seen) == orders
    assert set(seen.values()) == {3}
    neighbours = Counter(pair for order in seen for pair in zip(order, order[1:] + order[:1], strict=True))
    assert len(set(neighbours.values())) == 1


def from_bot_0(seating: tuple[int, ...]) -> tuple[int, ...]:
    """A cyclic order in one way of writing it."""
    start = seating.index(0)
    return seating[start:] + seating[:start]


def test_passes_of_a_full_table_are_shuffled_anew() -> None:
    orders = [from_bot_0(table.seatings[0]) for table in RoundRobin(4, 4, 24, SEED)]
    assert len({tuple(orders[start : start + 6]) for start in range(0, 24, 6)}) > 1


@pytest.mark.parametrize("bots", [2, 3, 4, 7, 8, 9, 12])
def test_a_full_table_has_everybody_in_every_seat(bots: int) -> None:
    every = {(bot, seat) for bot in range(bots) for seat in range(bots)}
    assert seat_counts([RoundRobin(bots, bots, 5, SEED).table(3)]) == dict.fromkeys(every, 1)
    assert seat_counts(list(RoundRobin(bots, bots, bots, SEED, rotate=False))) == dict.fromkeys(every, 1)


@pytest.mark.parametrize(("bots", "seats"), [(2, 2), (4, 4), (10, 10), (6, 4), (9, 2), (40, 5)])
def test_a_block_is_one_deal_in_all_rotations(bots: int, seats: int) -> None:
    for index, table in enumerate(RoundRobin(bots, seats, 30, SEED)):
        assert (table.block, table.deal) == (index, index)
        base = table.seatings[0]
        assert len(set(base)) == seats
        assert table.seatings == tuple(base[turn:] + base[:turn] for turn in range(seats))


@pytest.mark.parametrize(("bots", "seats"), [(4, 4), (6, 4)])
def test_without_rotations_only_the_base_seating_is_played(bots: int, seats: int) -> None:
    schedule = RoundRobin(bots, seats, 10, SEED, rotate=False)
    assert all(len(table.seatings) == 1 for table in schedule)
    assert schedule.matches == schedule.blocks


def test_deals_are_rounded_up_to_whole_cycles_where_blocks_are_developed() -> None:
    schedule = RoundRobin(6, 4, 13, SEED)
    assert (schedule.blocks, len(schedule), schedule.matches) == (18, 18, 72)
    assert len(list(schedule)) == 18
    assert RoundRobin(6, 4, 18, SEED).blocks == 18
    assert RoundRobin(4, 4, 13, SEED).blocks == 13


@pytest.mark.parametrize(("bots", "seats"), [(4, 4), (9, 9), (7, 3), (20, 4)])
def test_a_schedule_is_a_function_of_its_arguments(bots: int, seats: int) -> None:
    tables = list(RoundRobin(bots, seats, 60, SEED))
    again = RoundRobin(bots, seats, 60, SEED)
    assert [again.table(index) for index in reversed(range(len(tables)))] == tables[::-1]
    assert list(again) == list(again) == tables
    assert tables != list(RoundRobin(bots, seats, 60, b"another seed"))


@pytest.mark.parametrize(("bots", "seats"), [(4, 4), (20, 4)])
def test_more_deals_continue_the_same_schedule(bots: int, seats: int) -> None:
    short = RoundRobin(bots, seats, 40, SEED)
    assert list(islice(RoundRobin(bots, seats, 400, SEED), len(short))) == list(short)


def test_the_seed_changes_who_meets_but_not_how_evenly() -> None:
    for seed in (b"", b"1", b"2"):
        schedule = RoundRobin(13, 4, 13, seed)
        together = Counter(pair for table in schedule for pair in combinations(sorted(table.seatings[0]), 2))
        assert set(together.values()) == {1}


def test_a_long_schedule_is_made_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr("arena.tournament.schedule._BaseSets._extend", lambda _self: made.append(1))
    assert RoundRobin(32, 4, 10**6, SEED).matches == 4 * 10**6
    assert not made


def test_a_long_schedule_holds_only_the_cycles_up_to_the_block_asked_for() -> None:
    schedule = RoundRobin(32, 4, 10**6, SEED)
    schedule.table(64)
    assert len(schedule.base_blocks._blocks) == 3


def test_a_block_far_ahead_of_a_full_table_needs_none_before_it() -> None:
    schedule = RoundRobin(4, 4, 10**15, SEED)
    assert schedule.table(10**15 - 1).deal == 10**15 - 1


@pytest.mark.parametrize(
    ("bots", "seats", "digest"),
    [
        (4, 4, "110d0154ed641cf3"),
        (9, 9, "c462d64288263e2e"),
        (6, 3, "f68fe729fd162ac4"),
        (32, 4, "200a67a9b5082b66"),
    ],
)
def test_schedules_are_what_they_were(bots: int, seats: int, digest: str) -> None:
    """A tournament that was begun is resumed by its schedule: changing one loses matches of users."""
    tables = [table.seatings for table in islice(RoundRobin(bots, seats, 320, SEED), 320)]
    assert hashlib.sha256(repr(tables).encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 4, 10), "3 bots cannot fill 4 seats: .*; add 1 more or play with fewer seats"),
        ((4, 1, 10), "a table of 1 compares no bots: .*; give 2 or more seats"),
        ((4, 0, 10), "a table of 0"),
        ((4, 4, 0), "0 deals are no tournament: .*; ask for 1 or more"),
        ((9, 4, -1), "-1 deals"),
    ],
)
def test_impossible_schedules_are_refused(arguments: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        RoundRobin(*arguments, SEED)


@pytest.mark.parametrize("index", [-1, 18])
def test_a_block_beyond_the_schedule_is_refused(index: int) -> None:
    with pytest.raises(ScheduleError, match=rf"no block {index}: the schedule has 18; ask for 0\.\.17"):
        RoundRobin(6, 4, 18, SEED).table(index)
