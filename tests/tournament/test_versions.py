"""Version against version: who sits where, when it ends, and what is counted."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.compare import MIN_BLOCKS, Verdict
from arena.tournament.formats import Plan, PlayedTable, Stopping, make_format
from arena.tournament.schedule import ScheduleError, Table
from arena.tournament.versions import NEW, OLD, Compare, differences
from tests.tournament.simulated import all_tied, by_number, flat, noisy, rounds_of

SEED = bytes(32)


def compare(bots: int, seats: int, deals: int = 300, rotate: bool = True, **more: Any) -> Compare:
    made = make_format("compare", Plan(bots, seats, deals, SEED, rotate, more))
    assert isinstance(made, Compare)
    return made


@pytest.mark.parametrize(("bots", "seats"), [(3, 2), (5, 2), (4, 3), (7, 3), (5, 4), (9, 4)])
@pytest.mark.parametrize("rotate", [True, False])
def test_both_versions_sit_alike(bots: int, seats: int, rotate: bool) -> None:
    made = compare(bots, seats, rotate=rotate)
    field = bots - 2
    for index in range(3 * field):
        seatings = made.table(index).seatings
        assert len(seatings) == made.seatings == 2 * (seats if rotate else 1)
        for old, new in zip(seatings[::2], seatings[1::2], strict=True):
            assert tuple(NEW if bot == OLD else bot for bot in old) == new
            assert OLD in old
            assert NEW not in old
        if rotate:
            assert {seating.index(NEW) for seating in seatings[1::2]} == set(range(seats))
    met = Counter(bot for index in range(field) for bot in made.table(index).seatings[0] if bot != OLD)
    assert set(met.values()) == {seats - 1}, "the field takes turns"


@settings(max_examples=20)
@given(st.integers(3, 7), st.integers(2, 4), st.integers(1, 120), st.integers(0, 99))
def test_rounds(bots: int, seats: int, deals: int, seed: int) -> None:
    if bots <= seats:
        return
    one = rounds_of(compare(bots, seats, deals), noisy, seed)
    assert one == rounds_of(compare(bots, seats, deals), noisy, seed)
    tables = flat(one)
    assert [each.table.block for each in tables] == list(range(len(tables)))
    assert len(tables) <= deals
    for number in range(1, len(one)):
        again = compare(bots, seats, deals).round(number, flat(one[:number]))
        assert [each.table for each in one[number]] == list(again)


def better(new: bool) -> Any:
    """One version always wins, the other always loses."""

    def ranks(bots: tuple[int, ...], random: Random) -> tuple[int, ...]:
        worth = {NEW: 1 if new else -1, OLD: -1 if new else 1}
        values = [worth.get(bot, 0) for bot in bots]
        return tuple(1 + sum(other > value for other in values) for value in values)

    return ranks


@pytest.mark.parametrize(
    ("results", "verdict", "blocks"),
    [
        (better(new=True), Verdict.BETTER, MIN_BLOCKS),
        (better(new=False), Verdict.WORSE, MIN_BLOCKS),
        (all_tied, Verdict.NO_GAIN, 68),
        (lambda bots, random: None, Verdict.UNDECIDED, 300),
    ],
)
def test_it_ends_with_a_verdict(results: Any, verdict: Verdict, blocks: int) -> None:
    made = compare(5, 3)
    played = flat(rounds_of(made, results))
    assert made.finding(played).verdict is verdict
    assert len(played) == blocks


def test_identical_versions_never_differ() -> None:
    """Same deal, same seat, same opponents, same play: then every block says 0, exactly."""

    def same(bots: tuple[int, ...], random: Random) -> tuple[int, ...]:
        return by_number(tuple(max(NEW, bot) for bot in bots), random)

    played = flat(rounds_of(compare(6, 4), same))
    assert list(differences(played)) == [0.0] * len(played)


def test_differences_leave_void_pairs_out() -> None:
    table = Table(0, 0, ((OLD, 2), (NEW, 2), (2, OLD), (2, NEW)))
    won, lost = (1, 2), (2, 1)
    cases = {
        (lost, won, won, lost): 1.0,  # in seat 0, then in seat 1
        (won, won, won, lost): 0.5,
        (won, won, won, won): 0.0,
        (won, lost, None, lost): -1.0,
        (None, lost, won, lost): 1.0,
        ((1, 1), won, (1, 1), won): 0.0,
    }
    for ranks, difference in cases.items():
        assert list(differences([PlayedTable(table, ranks)])) == [difference], ranks
    assert list(differences([PlayedTable(table, (None, won, won, None))])) == []


def test_the_outlook() -> None:
    made = compare(5, 3)
    assert isinstance(made, Stopping)
    rounds_of(made, all_tied)
    assert made.outlook is not None
    assert made.outlook.text.startswith("LLR -")
    assert made.outlook.matches == 0


@pytest.mark.parametrize(
    ("bots", "given", "why"),
    [
        (3, {}, "without meeting each other; name 1 more"),
        (2, {}, "2 bots cannot fill 3 seats"),
        (5, {"gain": 0.0}, "least that matters"),
        (5, {"gain": 1.0}, "least that matters"),
        (5, {"confidence": 0.4}, r"0\.95"),
        (5, {"tolerance": 1.0}, "tolerance"),
    ],
)
def test_no_comparison(bots: int, given: dict[str, Any], why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        compare(bots, 3, **given)
