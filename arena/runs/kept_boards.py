"""Leaderboards that are brought up to date instead of being made anew: those of a game and of a tournament.

What a board counts, what is shown of it, and up to which match that goes, is stored in one transaction;
whoever was killed in between, or was second, has stored nothing. All of it can be made again out of the
records, and is where it does not fit them.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from threading import Lock
from typing import Any

from arena.errors import StateError, TooMuchError
from arena.games import find_game
from arena.match.record import RecordDamagedError, unseal
from arena.runs.boards import Board, Row, asked_for, board_report, boards_of, labels_of
from arena.runs.rows import told, told_details
from arena.runs.selecting import Filters, meaning
from arena.store.boards import Boards, Kept, NumberedMatch, StoredBoard
from arena.store.store import Store
from arena.store.stored import StoredTournament
from arena.tournament.ledger import Entry, Ledger, StaleLedgerError, joined, part_matches
from arena.tournament.report import Report

MOST_AT_ONCE = 50_000
"""Matches that are counted while somebody waits."""
_BATCH = 100_000
"""Matches that are added at a time, and stored."""
_PART = 1 << 17
"""Matches of a part, from which on it is written no more."""
_REMEMBERED = 32
"""Details that are not made again as long as nothing is added."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is known of a board's tournaments, as of a moment."""

    key: str
    board: Board
    tournaments: tuple[StoredTournament, ...]
    newest: int
    """Number of the last match of all that was stored then."""

    @property
    def numbers(self) -> list[int]:
        return [of.id for of in self.tournaments]


def is_kept(board: Board) -> bool:
    """Whether a board is kept: there must not be as many as there are questions."""
    chosen = board.selection
    filtered = chosen.anyone or chosen.together or chosen.only or chosen.since_us or chosen.before_us
    return not filtered and chosen.seats is None and len(chosen.tournaments) <= 1


def key_of(board: Board) -> str:
    """What a board is known by: equal for options that mean the same."""
    game, options = board.names["game"], board.names["options"]
    meant = meaning(find_game(game), options) or json.dumps(options, sort_keys=True).encode()
    named = [game, meant.hex(), list(board.selection.tournaments), board.selection.rated]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


class KeptBoards:
    """The boards of a database. Its methods may be called from several threads.

    Args:
        store: the database.
        at_once: matches that are counted while somebody waits.
        batch: matches that are added at a time.
    """

    def __init__(self, store: Store, at_once: int = MOST_AT_ONCE, batch: int = _BATCH) -> None:
        self._store = store
        self._boards = Boards(store)
        self._at_once = at_once
        self._batch = batch
        self._guard = Lock()
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)
        self._details: dict[tuple[str, int], Row] = {}

    # asking

    def boards_of(self, filters: Filters, newest: bool = False) -> list[Board]:
        """The boards that somebody asks for, see `asked_for`."""
        return boards_of(self._store, asked_for(self._store, filters, newest), self.count)

    def count(self, board: Board) -> int:
        """How many matches a board has: of one that is kept only those are counted that it lacks."""
        had = self._boards.board(key_of(board)) if is_kept(board) else None
        if had is None:
            return self._store.count(board.selection)
        return had.matches + self._boards.number_after(had.shown["tournaments"], had.upto)

    def shown(self, board: Board, details: bool = False, history: bool = False) -> Row:
        """A leaderboard as `arena.runs.boards.told` tells it; of a large one as of a little while ago.

        Raises:
            TooMuchError: it would take too long to make.
            StateError: it is being made, and that takes a while.
        """
        if history or not is_kept(board):
            return self._made(board, details, history)
        row = self._current(board)
        return row | {"details": self._told_details(board)} if details else row

    def report(self, board: Board) -> Report:
        """All that a board counts."""
        if not is_kept(board):
            self._check_small(board)
            return board_report(self._store, board.selection)[0]
        self._current(board)
        return self._kept_report(self._scope(board))[0]

    def _made(self, board: Board, details: bool, history: bool) -> Row:
        """One that is made for this question."""
        self._check_small(board)
        report, points = board_report(self._store, board.selection, history)
        return told(report, details) | {"history": points}

    def _check_small(self, board: Board) -> None:
        if board.matches > self._at_once:
            raise TooMuchError(
                "this leaderboard is not made",
                f"it is of {board.matches} matches, and of more than {self._at_once} only those of a game or "
                "a tournament are kept",
                "leave out the history, the bots, seats and dates, or name a smaller tournament",
            )

    def _current(self, board: Board) -> Row:
        """What is shown of a board that is kept; brought up to date before if that is quick."""
        scope = self._scope(board)
        had = self._boards.board(scope.key)
        if board.matches <= self._at_once and not (had is not None and self._is_current(scope, had)):
            return self.refresh(board)
        if had is None:
            raise StateError(
                "this leaderboard is being made",
                f"its {board.matches} matches are being counted for the first time",
                "ask again in a few minutes",
            )
        row: Row = had.shown["board"]
        return row

    def _is_current(self, scope: _Scope, had: StoredBoard) -> bool:
        if had.shown["tournaments"] != scope.numbers:
            return False
        return had.shown["over"] or not self._boards.lacks(scope.numbers, had.upto)

    def _told_details(self, board: Board) -> Row:
        if board.matches > self._at_once * 20:
            raise TooMuchError(
                "the details of this leaderboard are not made",
                f"it is of {board.matches} matches",
                "ask for those of a tournament",
            )
        report, upto = self._kept_report(self._scope(board))
        key = (key_of(board), upto)
        with self._guard:
            known = self._details.get(key)
        if known is None:
            known = told_details(report)
            with self._guard:
                while len(self._details) >= _REMEMBERED:
                    del self._details[next(iter(self._details))]
                self._details[key] = known
        return known

    # adding

    def refresh(self, board: Board) -> Row:
        """Add all that a board lacks, store it, and tell what is shown from then on."""
        with self._guard:
            lock = self._locks[key_of(board)]
        with lock:
            while (row := self._refreshed(board)) is None:
                pass
            return row

    def _refreshed(self, board: Board) -> Row | None:
        """What is shown after it was brought up to date; None if another process was first."""
        scope = self._scope(board)
        had, kept = self._boards.board(scope.key), self._boards.kept(scope.key)
        if had is not None and self._is_current(scope, had):
            row: Row = had.shown["board"]
            return row
        ledger, parts, batches = self._take_up(scope, had, kept)
        begun = dict(parts)
        for batch in batches:
            _add_part(parts, ledger.add(_entries(batch, scope)))
        row = self._told(scope, ledger)
        changed = {number: part for number, part in parts.items() if begun.get(number) is not part}
        new = StoredBoard(
            key=scope.key,
            selection=_selection_row(board),
            upto=scope.newest,
            matches=ledger.matches,
            shown={"board": row, "tournaments": scope.numbers, "over": _is_over(scope)},
            changed_us=time.time_ns() // 1000,
        )
        before = None if had is None else had.upto
        return row if self._boards.save(new, ledger.pack(), changed, before, not begun) else None

    def _told(self, scope: _Scope, ledger: Ledger) -> Row:
        labels, anchor = labels_of(scope.tournaments)
        return told(ledger.report(scope.board.names["game"], labels, anchor))

    def _scope(self, board: Board) -> _Scope:
        # Before the tournaments are read: none of them has a match up to this one that is not known then.
        newest = self._boards.newest()
        return _Scope(key_of(board), board, tuple(self._store.chosen(board.selection)), newest)

    def _take_up(
        self, scope: _Scope, had: StoredBoard | None, kept: Kept | None
    ) -> tuple[Ledger, dict[int, bytes], Iterator[list[NumberedMatch]]]:
        """A board as it was put away, and what is to be added; an empty one if it is to be made anew."""
        if had is not None and kept is not None and had.upto == kept.upto and self._fits(scope, had):
            lacking = self._lacking(scope, kept)
            if lacking is not None:
                try:
                    return _unpacked(kept), dict(kept.parts), _whole_blocks(lacking, self._batch)
                except StaleLedgerError:
                    pass
        scheduled = self._boards.scheduled(scope.numbers, scope.newest)
        return Ledger(), {}, _whole_blocks(scheduled, self._batch)

    def _kept_report(self, scope: _Scope) -> tuple[Report, int]:
        kept = self._boards.kept(scope.key)
        assert kept is not None
        labels, anchor = labels_of(scope.tournaments)
        return _unpacked(kept).report(scope.board.names["game"], labels, anchor), kept.upto

    # matches

    def _fits(self, scope: _Scope, had: StoredBoard) -> bool:
        """Whether the board counts what it should up to its last match: which tournaments do may change."""
        counted, meant = set(had.shown["tournaments"]), set(scope.numbers)
        return counted <= meant and not self._boards.has(meant - counted, had.upto)

    def _lacking(self, scope: _Scope, kept: Kept) -> list[NumberedMatch] | None:
        """What is to be added, in the order of blocks; None if it is better made anew.

        It has to be if a match of a block that is counted came later than the others, since they are to be
        counted together; and it takes less memory if there are very many.
        """
        found: list[NumberedMatch] = []
        after = kept.upto
        while more := self._boards.stored_after(scope.numbers, after, scope.newest, self._batch):
            after = more[-1].id
            found += more
            if len(found) > self._batch:
                return None
        blocks: defaultdict[int, set[int]] = defaultdict(set)
        for each in found:
            blocks[each.tournament].add(each.block)
        if any(self._boards.begun(number, some, kept.upto) for number, some in blocks.items()):
            return None
        return sorted(found, key=_place)


def _unpacked(kept: Kept) -> Ledger:
    return Ledger.unpack(kept.sums, [kept.parts[number] for number in sorted(kept.parts)])


def _add_part(parts: dict[int, bytes], part: bytes) -> None:
    """Keep a part: with the last one as long as that is small, else beside it."""
    last = max(parts, default=0)
    if last in parts and part_matches(parts[last]) < _PART:
        parts[last] = joined([parts[last], part])
    else:
        parts[last + 1] = part


def _selection_row(board: Board) -> Row:
    chosen = board.selection
    return {**board.names, "tournaments": list(chosen.tournaments), "rated": chosen.rated}


def _is_over(scope: _Scope) -> bool:
    """Whether no match can come any more."""
    named = bool(scope.board.selection.tournaments)
    return named and all(of.finished_us is not None for of in scope.tournaments)


def _place(each: NumberedMatch) -> tuple[int, int, int]:
    return each.tournament, each.block, each.seating


def _whole_blocks(matches: Iterable[NumberedMatch], size: int) -> Iterator[list[NumberedMatch]]:
    """Matches that come in the order of blocks, in batches of about a size, which are of whole blocks."""
    batch: list[NumberedMatch] = []
    for _, block in groupby(matches, key=lambda each: _place(each)[:2]):
        batch += block
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def _entries(matches: Sequence[NumberedMatch], scope: _Scope) -> list[Entry]:
    names = {of.id: of.name for of in scope.tournaments}
    return [_entry(each, names[each.tournament]) for each in matches]


def _entry(each: NumberedMatch, tournament: str) -> Entry:
    try:
        record = unseal(each.record)
    except RecordDamagedError as error:
        where = f"{tournament}, block {each.block}, seating {each.seating}"
        raise RecordDamagedError(f"{where}: {error}") from error
    return Entry(each.tournament, each.block, each.seating, record)


def kept_row(board: StoredBoard) -> dict[str, Any]:
    """A board that is kept, as plain data."""
    return {
        "game": board.selection["game"],
        "options": board.selection["options"],
        "tournament": (board.selection["tournaments"] or [""])[0],
        "matches": board.matches,
        "changed_us": board.changed_us,
    }
