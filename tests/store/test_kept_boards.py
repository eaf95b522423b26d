from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.errors import StateError, TooMuchError
from arena.runs.boards import asked_for, board_report, boards_of
from arena.runs.kept_boards import KeptBoards
from arena.runs.rows import told
from arena.runs.selecting import Filters
from arena.store.boards import Boards
from arena.store.store import Store, sqlite_url
from tests.tournament.made import made_blocks, made_tournament

BOTS = [("ann", "1"), ("bob", "1"), ("cat", "1"), ("random", "1")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(sqlite_url(tmp_path / "arena.db"))) as opened:
        yield opened


def _board(store: Store, filters: Filters):  # type: ignore[no-untyped-def]
    (board,) = boards_of(store, asked_for(store, filters))
    return board


def _check_same(got: Any, wanted: Any) -> None:
    """Details may differ by rounding: sums over pairs of bots are not made in one order."""
    details, ought = got.pop("details"), wanted.pop("details")
    assert got == wanted
    for name in details or ():
        _check_near(details[name], ought[name])


def _check_near(got: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert len(got) == len(wanted)
        for pair in zip(got, wanted, strict=True):
            _check_near(*pair)
    elif isinstance(wanted, dict):
        assert got.keys() == wanted.keys()
        for key, value in wanted.items():
            _check_near(got[key], value)
    else:
        assert got == (
            pytest.approx(wanted, rel=1e-9, abs=1e-9, nan_ok=True) if isinstance(wanted, float) else wanted
        )


FILTERS = (Filters(game="koffer"), Filters(tournaments=["one"]))


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_added_and_asked_in_between_it_is_what_the_records_say(store: Store, seed: int) -> None:
    rng = Random(seed)
    first = store.create(made_tournament("one", BOTS))
    waiting = [(first, block) for block in made_blocks(first, 24, seed)]
    rng.shuffle(waiting)
    asks = 0
    while waiting:
        if rng.random() < 0.1 and len(store.tournaments()) < 3:
            name = f"more{seed}{len(waiting)}"
            more = store.create(made_tournament(name, [*BOTS[1:], ("ann", "2")]))
            waiting += [(more, block) for block in made_blocks(more, 8, seed)]
        for _ in range(rng.randrange(3, 9)):
            if waiting:
                of, block = waiting.pop()
                cut = rng.randrange(1, 3) if rng.random() < 0.1 else len(block)
                store.add(of.id, block[:cut])  # a block that is stored in two goes
                if cut < len(block):
                    waiting.insert(0, (of, block[cut:]))
        boards = KeptBoards(store, batch=rng.choice([5, 1000]))  # as after a restart
        for filters in FILTERS:
            for board in boards_of(store, asked_for(store, filters)):
                asks += 1
                wanted = told(board_report(store, board.selection)[0], details=not asks % 8)
                _check_same(boards.shown(board, details=not asks % 8), wanted)
    assert asks >= 8  # so details were among them


def test_who_is_second_stores_nothing(store: Store) -> None:
    of = store.create(made_tournament("one", BOTS))
    blocks = list(made_blocks(of, 4, 1))
    store.add(of.id, blocks[0])
    boards = KeptBoards(store)
    board = _board(store, FILTERS[0])
    boards.shown(board)
    kept = Boards(store)
    (shown,) = kept.boards()
    assert not kept.save(replace(shown, upto=99), b"", {}, before=shown.upto + 1, whole=True)
    assert kept.boards() == [shown]
    assert boards.shown(board)["matches"] == 3


def test_a_large_one_is_shown_as_of_a_while_ago_and_made_beside(store: Store) -> None:
    of = store.create(made_tournament("one", BOTS))
    blocks = list(made_blocks(of, 4, 1))
    for block in blocks[:2]:
        store.add(of.id, block)
    boards = KeptBoards(store, at_once=5)
    with pytest.raises(StateError, match="being made"):
        boards.shown(_board(store, FILTERS[0]))
    boards.refresh(_board(store, FILTERS[0]))
    store.add(of.id, blocks[2])
    assert boards.shown(_board(store, FILTERS[0]))["matches"] == 6
    boards.refresh(_board(store, FILTERS[0]))
    assert boards.shown(_board(store, FILTERS[0]))["matches"] == 9
    with pytest.raises(TooMuchError, match="not made"):
        boards.shown(_board(store, Filters(game="koffer", bots=["ann"])))
