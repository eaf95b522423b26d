"""What holds for every format."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.runs.definition import Definition
from arena.store.store import Store, sqlite_url
from arena.store.stored import StoredTournament
from arena.tournament.formats import ALL_SETS, FORMATS, Format, Plan, make_format
from arena.tournament.runner import places_of, schedule_of
from arena.tournament.schedule import ScheduleError
from tests.tournament.simulated import Results, all_tied, by_number, flat, noisy, played, rounds_of
from tests.tournament.test_runner import InProcess, identities, play

ENDING = [name for name in FORMATS if name != "ladder"]
PAIRED = ["swiss", "knockout", "double-knockout"]
HOUSE = ["house:first", "house:random", "house:greedy", "house:search"]

plans = st.builds(
    lambda seats, more, deals, seed, rotate: Plan(seats + more, seats, deals, seed, rotate),
    st.integers(2, 5),
    st.integers(1, 12),
    st.integers(1, 3),
    st.binary(min_size=1, max_size=4),
    st.booleans(),
)
results = st.sampled_from([by_number, all_tied, noisy])


@settings(max_examples=40)
@given(name=st.sampled_from(ENDING), plan=plans, results=results, seed=st.integers(0, 99))
def test_the_same_seed_and_results_give_the_same_tables(
    name: str, plan: Plan, results: Results, seed: int
) -> None:
    rounds = rounds_of(make_format(name, plan), results, seed)
    done = flat(rounds)
    again = make_format(name, plan)
    for number in reversed(range(len(rounds))):  # in any order, and by an object that never saw the others
        before = flat(rounds[:number])
        assert [played(table, results, seed) for table in again.round(number, before)] == rounds[number]
    assert again.places(done) == make_format(name, plan).places(done)


@settings(max_examples=40)
@given(name=st.sampled_from(ENDING), plan=plans, results=results, seed=st.integers(0, 99))
def test_blocks_are_numbered_on_and_seats_are_equal_inside_them(
    name: str, plan: Plan, results: Results, seed: int
) -> None:
    made = make_format(name, plan)
    done = flat(rounds_of(made, results, seed))
    assert [each.table.block for each in done] == [each.table.deal for each in done] == list(range(len(done)))
    assert sum(len(each.ranks) for each in done) <= made.matches
    for each in done:
        bots = each.table.seatings[0]
        assert len(set(bots)) == plan.seats
        assert len(each.table.seatings) == made.seatings
        if plan.rotate and name != "compare":  # there two bots take turns in a place, see test_versions
            places = Counter((bot, seat) for s in each.table.seatings for seat, bot in enumerate(s))
            assert places == Counter(product(bots, range(plan.seats)))


@settings(max_examples=30)
@given(name=st.sampled_from(PAIRED), plan=plans, results=results)
def test_own_places_hold_every_bot_once_whenever_they_are_asked_for(
    name: str, plan: Plan, results: Results
) -> None:
    made = make_format(name, plan)
    done = flat(rounds_of(made, results))
    for end in range(len(done) + 1):
        places = [bot for group in made.places(done[:end]) for bot in group]
        assert sorted(places) == list(range(plan.bots))


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize(("bots", "seats"), [(8, 2), (7, 2), (9, 3), (8, 4), (11, 4), (13, 5)])
def test_who_always_wins_comes_first_and_who_never_does_not(name: str, bots: int, seats: int) -> None:
    made = make_format(name, Plan(bots, seats, 1, b"seed"))
    places = made.places(flat(rounds_of(made, by_number)))
    assert places[0] == [0]
    assert bots - 1 not in places[1]


@pytest.mark.parametrize(
    ("name", "plan", "why"),
    [
        ("cup", Plan(4, 2, 1, b""), "no format 'cup'; use one of round-robin, gauntlet, swiss, knockout"),
        *((name, Plan(3, 4, 1, b""), "3 bots cannot fill 4 seats") for name in ENDING),
        *((name, Plan(4, 1, 1, b""), "a table of 1 compares no bots") for name in ENDING),
        *((name, Plan(4, 2, 0, b""), "0 deals are no tournament") for name in ENDING),
        *((name, Plan(4, 4, 1, b""), "4 bots at 4 seats are one table") for name in PAIRED),
        ("swiss", Plan(4, 2, 1, b"", settings={"rounds": 0}), "0 rounds are no tournament"),
        *(
            (name, Plan(5, 2, 1, b"", settings={"rounds": 3}), f"{name} has no rounds")
            for name in ENDING
            if name != "swiss"
        ),
    ],
)
def test_what_makes_no_tournament_is_refused(name: str, plan: Plan, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        make_format(name, plan)


def cup(store: Store, format_: str, name: str, deals: int) -> StoredTournament:
    bots = HOUSE * 2 if format_ == "swiss" else HOUSE
    definition = Definition("koffer", bots[:5], seats=2, deals=deals, seed="1", name=name, format=format_)
    return store.create(definition.build())


@pytest.mark.parametrize(
    ("name", "deals", "every"),
    [
        ("gauntlet", 1, 1),
        ("swiss", 1, 1),
        ("knockout", 1, 1),
        ("double-knockout", 1, 1),
        ("until", 60, 5),
        ("compare", 40, 5),
    ],
)
async def test_a_tournament_killed_after_any_block_ends_as_if_nothing_had_been(
    tmp_path: Path, name: str, deals: int, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.tournament.test_runner.ANSWERS", Answers())
    store = Store(sqlite_url(tmp_path / "arena.db"))
    whole = cup(store, name, "whole", deals)
    await play(store, whole, InProcess())
    places = [(m.block, m.seating) for m in store.matches(whole.id)]
    seatings = schedule_of(whole).seatings
    assert places == list(product(range(len(places) // seatings), range(seatings)))
    tournament = cup(store, name, "killed", deals)
    for _ in range(len(places) // seatings // every):
        await play(store, tournament, InProcess(), stop=every)
    run = await play(store, tournament, InProcess())
    assert run.over
    assert identities(store, tournament) == identities(store, whole)
    assert places_of(store, tournament) == places_of(store, whole)
    assert store.pairings(tournament.id) == store.pairings(whole.id)
    ended = store.tournament("killed")
    assert (ended.matches, ended.deals) == (len(places), len(places) // seatings)
    assert ended.settings == schedule_of(ended).settings
    store.close()


class Answers(dict[str, object]):
    """Scripted bots by name, copies included."""

    def __missing__(self, name: str) -> object:
        from tests.match.fakes import first, last

        return first if name.startswith(("first", "search")) else last


def test_few_bots_and_many_deals_make_a_complete_round_robin() -> None:
    many = Definition("koffer", HOUSE, seats=3, deals=4).build()
    few = Definition("koffer", HOUSE, seats=3, deals=3).build()
    assert (many.settings, few.settings) == ({"sets": ALL_SETS}, {})
    assert schedule_of(many).settings == many.settings


def test_a_stored_format_is_made_as_it_was() -> None:
    built = Definition("koffer", HOUSE, seats=2, deals=3, format="swiss", rounds=2).build()
    assert (built.format, built.settings) == ("swiss", {"rounds": 2, "deals": 3})
    assert (built.deals, built.matches) == (2 * 2 * 3, 2 * 2 * 3 * 2)
    made: Format = schedule_of(built)
    assert made.matches == built.matches
