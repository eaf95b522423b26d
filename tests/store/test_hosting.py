"""What a server hosts: states and their order, days, and who may have how many."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from arena.errors import StateError, TooMuchError
from arena.runs.definition import Definition
from arena.store.accounts import Accounts
from arena.store.hosting import BEFORE, OVER, PAUSED, SCHEDULED, STATES, WAITING, Hosting, Terms, next_day_us
from arena.store.roster import REMOTE, NewVersion, Roster
from arena.store.store import NameTakenError, Store
from arena.store.stored import StoredMatch, StoredSeat

DAY_US = 24 * 3600 * 1_000_000
STEPS = [(before, after) for before, after in product(STATES, STATES) if before != after]


@pytest.fixture
def hosting(store: Store) -> Hosting:
    Accounts(store).add_user("ann")
    return Hosting(store)


def host(hosting: Hosting, store: Store, name: str, most: int | None = None, **terms: Any) -> int:
    new = Definition("koffer", ("house:first", "house:greedy"), deals=2, seed="1", name=name).build()
    return hosting.create(new, Accounts(store).user("ann").id, Terms(**terms), most).tournament


def way_to(state: str) -> list[str]:
    """States that lead from the first one to this."""
    if state == WAITING:
        return []
    before = WAITING if WAITING in BEFORE[state] else next(iter(BEFORE[state]))
    return [*way_to(before), state]


def test_states_follow_each_other_as_they_may_and_not_otherwise(hosting: Hosting, store: Store) -> None:
    for number, (before, after) in enumerate(STEPS):
        name = f"cup{number}"
        of = host(hosting, store, name)
        assert all(hosting.move(of, state) for state in way_to(before))
        assert hosting.move(of, after, "why") == (before in BEFORE[after]), f"{before} to {after}"
        now = hosting.hosted(name)
        assert (now.state, now.reason) == ((after, "why") if before in BEFORE[after] else (before, ""))
    over = {hosted.name for hosted in hosting.page(1000, states=OVER)}
    unfinished = {hosted.name for hosted in hosting.unfinished()}
    assert {name for name in over & unfinished if hosting.hosted(name).state != "cancelled"} == set()


def test_what_somebody_wants_is_refused_with_the_state_that_it_is_in(hosting: Hosting, store: Store) -> None:
    of = host(hosting, store, "cup")
    assert hosting.must_move("cup", PAUSED, "look").state == PAUSED
    hosting.move(of, "cancelled", "enough")
    with pytest.raises(StateError, match="cup cannot be paused: it is cancelled: enough; look"):
        hosting.must_move("cup", PAUSED, "look")


def test_nobody_has_more_than_may_be_and_what_is_refused_leaves_nothing(
    hosting: Hosting, store: Store
) -> None:
    for name in ("one", "two"):
        host(hosting, store, name, most=2)
    with pytest.raises(TooMuchError, match="a user may have 2"):
        host(hosting, store, "three", most=2)
    assert [stored.name for stored, _ in store.tournaments()] == ["one", "two"]
    hosting.move(hosting.hosted("one").tournament, "cancelled")
    host(hosting, store, "three", most=2)
    with pytest.raises(NameTakenError):
        host(hosting, store, "three")


def test_matches_are_counted_once_for_the_day_on_which_they_are_stored(
    hosting: Hosting, store: Store
) -> None:
    of, now = host(hosting, store, "cup", begins_us=5), [DAY_US - 1]
    assert hosting.hosted("cup").state == SCHEDULED
    assert next_day_us(now[0]) == DAY_US
    note = hosting.note(of, lambda: now[0])
    seats = (StoredSeat(0, 1, 3, None), StoredSeat(1, 2, 0, None))
    for block, repeated in ((0, 2), (1, 1)):
        for _ in range(repeated):
            store.add(of, [StoredMatch(block, seating, 1, b"record", seats) for seating in (0, 1)], note)
        now[0] = DAY_US
    assert [hosting.matches_on(of, day) for day in (0, DAY_US, 2 * DAY_US)] == [2, 2, 0]
    assert hosting.stored([of]) == {of: 4}


def test_a_league_has_the_versions_that_its_members_play_with(hosting: Hosting, store: Store) -> None:
    roster, owner = Roster(store), Accounts(store).user("ann").id
    of = host(hosting, store, "open", is_open=True)
    first, _ = roster.submit(owner, "far", NewVersion(REMOTE, spec={"version": "1"}))
    assert hosting.enter(of, roster.bot("far").id)
    assert not hosting.enter(of, roster.bot("far").id)
    assert hosting.seated(of) == {first.id}
    second, _ = roster.submit(owner, "far", NewVersion(REMOTE, spec={"version": "2"}))
    assert hosting.seated(of) == {second.id}
    assert hosting.barred({first.id, second.id}) == frozenset()
    roster.update_bot("far", disabled=True)
    assert hosting.seated(of) == frozenset()
    assert hosting.barred({first.id, second.id}) == {first.id, second.id}
    assert hosting.leave(of, roster.bot("far").id)
    assert hosting.members(of) == []
