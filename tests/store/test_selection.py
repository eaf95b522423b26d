"""Selections of matches over several tournaments, against a plain sieve over everything that is stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from botarena.v1.record_pb2 import Circumstances, MatchRecord
from hypothesis import given
from hypothesis import strategies as st

from arena.store.selection import BlockNumbers, BotFilter, Selection, entrants
from arena.store.store import NotStoredError, Store, sqlite_url
from arena.store.stored import StoredBot, StoredMatch, StoredSeat, StoredTournament
from tests.store.test_store import NEW

A, B, C, A1, A2, NOBODY = map(BotFilter.parse, ("a", "b", "c", "a@1", "a@2", "nobody"))
SEATINGS = ((0, 1), (1, 2), (2, 0))
BEGAN = {"one": 1000, "two": 2000, "three": 3000}
"""When the tournaments were created; a match begins every microsecond from then on."""

Everything = list[tuple[StoredTournament, StoredMatch]]


def tournament(name: str, versions: str, **more: Any) -> StoredTournament:
    bots = tuple(StoredBot(bot, version, {}) for bot, version in zip("abc", versions, strict=True))
    return replace(NEW, name=name, bots=bots, created_us=BEGAN[name], **{"options": {}, **more})


def matches(name: str) -> list[StoredMatch]:
    return [
        StoredMatch(block, seating, 1, _record(BEGAN[name] + 3 * block + seating), _seats(bots))
        for block, (seating, bots) in product(range(2), enumerate(SEATINGS))
    ]


def _record(began_us: int) -> bytes:
    return MatchRecord(circumstances=Circumstances(started_us=began_us)).SerializeToString()


def _seats(bots: tuple[int, ...]) -> tuple[StoredSeat, ...]:
    return tuple(StoredSeat(bot, 1, 0, None) for bot in bots)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Three tournaments of six matches, the last of them unfinished."""
    with closing(Store(sqlite_url(tmp_path_factory.mktemp("selection") / "arena.db"))) as opened:
        for new in (
            tournament("one", "111", finished_us=1006),
            tournament("two", "211", finished_us=2006, options={"games": "2"}),
            tournament("three", "111", game="kotki", options={"games": "2"}),
        ):
            number = opened.create(new).id
            for played in reversed(matches(new.name)):
                opened.add(number, [played])
        yield opened


@pytest.fixture(scope="module")
def everything(store: Store) -> Everything:
    return [(of, played) for of, _ in store.tournaments() for played in store.matches(of.id)]


def fits(selection: Selection, of: StoredTournament, played: StoredMatch) -> bool:
    """What a selection means, without a database."""
    bots = [of.bots[seat.bot] for seat in played.seats]
    began = MatchRecord.FromString(played.record).circumstances.started_us

    def sits(one: BotFilter) -> bool:
        return any(one.fits(bot.name, bot.version) for bot in bots)

    return (
        selection.game in (None, of.game)
        and (not selection.tournaments or of.name in selection.tournaments)
        and (selection.options is None or of.options in selection.options)
        and selection.seats in (None, of.seats)
        and (not selection.anyone or any(map(sits, selection.anyone)))
        and all(map(sits, selection.together))
        and (
            not selection.only
            or all(any(one.fits(b.name, b.version) for one in selection.only) for b in bots)
        )
        and (selection.since_us is None or began >= selection.since_us)
        and (selection.before_us is None or began < selection.before_us)
    )


TIMES = st.sampled_from([None, 0, 1000, 1003, 1005, 1006, 2000, 2003, 3000, 3002, 3005, 9000])
BOTS = st.lists(st.sampled_from([A, B, C, A1, A2, NOBODY]), max_size=3).map(tuple)
SELECTIONS = st.builds(
    Selection,
    game=st.sampled_from([None, "koffer", "kotki", "chess"]),
    tournaments=st.lists(st.sampled_from(sorted(BEGAN)), max_size=2).map(tuple),
    options=st.sampled_from([None, ({},), ({"games": "2"},), ({"games": "2"}, {}), ()]),
    seats=st.sampled_from([None, 2, 3]),
    anyone=BOTS,
    together=BOTS,
    only=BOTS,
    since_us=TIMES,
    before_us=TIMES,
)


@given(selection=SELECTIONS)
def test_what_is_selected_is_what_fits_in_the_order_of_the_schedules(
    store: Store, everything: Everything, selection: Selection
) -> None:
    assert list(store.selected(selection)) == [pair for pair in everything if fits(selection, *pair)]


@pytest.mark.parametrize(
    ("selection", "number"),
    [
        (Selection(), 18),
        (Selection(tournaments=("two",)), 6),
        (Selection(game="koffer", anyone=(A,)), 8),
        (Selection(anyone=(A2,)), 4),
        (Selection(anyone=(A, B)), 18),
        (Selection(together=(A, B)), 6),
        (Selection(together=(A, B), only=(A,)), 0),
        (Selection(only=(A, B)), 6),
        (Selection(options=({"games": "2"},)), 12),
        (Selection(since_us=1003), 15),
        (Selection(before_us=3002), 14),
    ],
)
def test_examples(store: Store, selection: Selection, number: int) -> None:
    assert len(list(store.selected(selection))) == number


@given(selection=SELECTIONS)
def test_the_count_is_right_and_at_most_too_high_where_a_period_cuts_a_tournament(
    store: Store, selection: Selection
) -> None:
    found = sum(1 for _ in store.selected(selection))
    assert store.count(selection) >= found
    if selection.since_us is None and selection.before_us is None:
        assert store.count(selection) == found


def test_a_tournament_that_is_not_there_is_told(store: Store) -> None:
    with pytest.raises(NotStoredError, match="'four'"):
        next(store.selected(Selection(tournaments=("one", "four"))))


def test_a_record_that_cannot_be_read_is_not_left_out(tmp_path: Path) -> None:
    with closing(Store(sqlite_url(tmp_path / "arena.db"))) as store:
        number = store.create(tournament("one", "111")).id
        damaged = replace(matches("one")[0], record=b"\xff")
        store.add(number, [damaged])
        assert [played for _, played in store.selected(Selection(since_us=5000))] == [damaged]


def test_selecting_reads_what_was_stored_when_it_began(tmp_path: Path) -> None:
    with closing(Store(sqlite_url(tmp_path / "arena.db"))) as store:
        number = store.create(tournament("one", "111")).id
        store.add(number, matches("one")[:3])
        selected = store.selected(Selection())
        first = next(selected)
        store.add(number, matches("one")[3:])
        assert len([first, *selected]) == 3
        assert store.count(Selection()) == 6


def test_option_sets_are_told_with_their_tournaments(store: Store) -> None:
    assert store.option_sets("koffer") == [({}, ["one"]), ({"games": "2"}, ["two"])]
    assert store.option_sets("chess") == []


@pytest.mark.parametrize(
    ("versions", "labels"),
    [
        (["1"], {"1": "a"}),
        (["1", "1"], {"1": "a"}),
        (["1", "2"], {"1": "a@1", "2": "a@2"}),
        (["aaaaaaaa1", "bbbbbbbb1"], {"aaaaaaaa1": "a@aaaaaaaa", "bbbbbbbb1": "a@bbbbbbbb"}),
        (["1.2+aaaaXY", "1.2+aaaaXZ"], {"1.2+aaaaXY": "a@1.2+aaaaXY", "1.2+aaaaXZ": "a@1.2+aaaaXZ"}),
    ],
)
def test_bots_are_labelled_by_name_and_by_version_only_where_it_differs(
    versions: list[str], labels: dict[str, str]
) -> None:
    many = [replace(NEW, bots=(StoredBot("a", version, {}), StoredBot("b", "1", {}))) for version in versions]
    expected = {("a", version): label for version, label in labels.items()} | {("b", "1"): "b"}
    assert entrants(many) == expected
    for (name, version), label in expected.items():
        meant = [key for key in expected if BotFilter.parse(label).fits(*key)]
        assert meant == [(name, version)]


def test_blocks_of_different_tournaments_are_different(store: Store) -> None:
    numbers = BlockNumbers()
    found = [numbers.number(*pair) for pair in store.selected(Selection())]
    assert found == [number for number in range(6) for _ in SEATINGS]
