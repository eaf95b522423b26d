from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from arena.runs.secrecy import Secrecy
from arena.store.store import Store, sqlite_url
from arena.store.stored import StoredPairing, StoredTournament
from arena.tournament.formats import COMPARE, FORMATS, Plan, make_format
from arena.tournament.runner import tables_of
from tests.tournament.made import made_match, made_tournament

BOTS = [(name, "1") for name in ("ann", "bob", "cat", "dan", "eve", "fay")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(sqlite_url(tmp_path / "arena.db"))) as opened:
        yield opened


def _tournament(store: Store, name: str) -> StoredTournament:
    seats = 2 if name in ("swiss", "knockout", "double-knockout", "ladder") else 3
    new = made_tournament(name, BOTS, seats, deals=6)
    made = make_format(name, Plan(len(BOTS), seats, 6, bytes(32)))
    return store.create(replace(new, format=name, settings=dict(made.settings), matches=made.matches + 50))


def _decide(store: Store, of: StoredTournament) -> None:
    """The first round of a format that decides them, and after it one block on the deal of the first."""
    plan = Plan(len(of.bots), of.seats, 6, of.seed, settings=of.settings)
    made = make_format(of.format, plan)
    if made.adaptive:
        tables = made.round(0, [])
        pairings = [StoredPairing(t.block, 0, t.deal, t.seatings) for t in tables]
        again = pairings[0]
        store.pair(of.id, [*pairings, replace(again, block=len(pairings))])


@pytest.mark.parametrize("name", FORMATS)
def test_a_deal_is_told_when_nothing_is_to_be_played_on_it_any_more(store: Store, name: str) -> None:
    of = _tournament(store, name)
    _decide(store, of)
    tables = tables_of(store, of)
    every = list(tables.values()) if isinstance(tables, Mapping) else list(tables[:12])
    waiting = [(table, seating) for table in every for seating in range(len(table.seatings))]
    rng = Random(name)
    rng.shuffle(waiting)
    while waiting:
        table, seating = waiting.pop()
        store.add(of.id, [made_match(of, table.block, seating, table.seatings[seating], rng, 2)])
        secrecy = Secrecy(store, of)
        still = {left.deal for left, _ in waiting}
        for each in every:
            assert secrecy.tells(each.block) == (each.deal not in still), each


@pytest.mark.parametrize("name", FORMATS)
def test_blocks_that_are_not_stored_as_pairings_have_deals_of_their_own(store: Store, name: str) -> None:
    """So of a fixed schedule a block alone decides, and no later round has a deal that was played."""
    of = _tournament(store, name)
    made = make_format(name, Plan(len(BOTS), of.seats, 6, bytes(32), settings=of.settings))
    deals = [table.deal for table in made.round(0, [])]
    assert deals == sorted(set(deals)) == list(range(len(deals)))


def test_when_it_is_over_all_is_told(store: Store) -> None:
    of = _tournament(store, COMPARE)
    store.finish(of.id)
    assert Secrecy(store, store.tournament(of.name)).tells(3)
