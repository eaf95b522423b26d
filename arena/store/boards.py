"""Leaderboards that are kept: what was shown last, and what it takes to add more matches to it.

Matches are numbered in the order in which they are stored, by one writer at a time. So what a board counts is
all matches of its tournaments up to one number, and what it lacks are those above it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from arena.store.schema import board, board_part, match
from arena.store.store import Store

_MANY = 500
"""Values in a list of a query."""


@dataclass(frozen=True, slots=True)
class StoredBoard:
    """A board as it is shown.

    Attributes:
        key: what its selection is known by.
        selection: what it is of, as plain data.
        upto: number of the last match that is counted.
        matches: how many are counted.
        shown: what is shown, as plain data.
        changed_us: when, in microseconds since 1970 UTC.
    """

    key: str
    selection: dict[str, Any]
    upto: int
    matches: int
    shown: dict[str, Any]
    changed_us: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What more matches are added to.

    Attributes:
        upto: number of the last match that is counted.
        sums: as bytes.
        parts: results by number of the part.
    """

    upto: int
    sums: bytes
    parts: dict[int, bytes]


@dataclass(frozen=True, slots=True)
class NumberedMatch:
    """A match with the number by which it was stored."""

    id: int
    tournament: int
    block: int
    seating: int
    record: bytes


class Boards:
    """The boards of a database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def board(self, key: str) -> StoredBoard | None:
        """What is shown of a board, if there is one."""
        columns = [column for column in board.columns if column.name != "state"]
        with self._store.reading() as connection:
            row = connection.execute(sa.select(*columns).where(board.c.key == key)).first()
        return None if row is None else _read(row)

    def boards(self, after: str = "", most: int = 1000) -> list[StoredBoard]:
        """Boards in the order of their keys.

        Args:
            after: key of the last one that is known.
            most: at most so many.
        """
        columns = [column for column in board.columns if column.name != "state"]
        query = sa.select(*columns).where(board.c.key > after).order_by(board.c.key).limit(most)
        with self._store.reading() as connection:
            return [_read(row) for row in connection.execute(query)]

    def kept(self, key: str) -> Kept | None:
        """What more matches are added to, as of one moment."""
        parts = sa.select(board_part).where(board_part.c.board == key)
        with self._store.reading() as connection:
            row = connection.execute(sa.select(board.c.upto, board.c.state).where(board.c.key == key)).first()
            if row is None:
                return None
            return Kept(row.upto, row.state, {each.part: each.data for each in connection.execute(parts)})

    def save(
        self, new: StoredBoard, sums: bytes, parts: dict[int, bytes], before: int | None, whole: bool
    ) -> bool:
        """Store a board after more matches were added, in one transaction.

        Args:
            new: what is shown of it from now on.
            sums, parts: as in `Kept`; of the parts only those that changed.
            before: `upto` of what the matches were added to; None: there was none.
            whole: whether the parts that are not given are there no more.

        Returns:
            Whether it was: not if another one was first.
        """
        with self._store.writing() as connection:
            had = connection.execute(sa.select(board.c.upto).where(board.c.key == new.key)).scalar()
            if had != before:
                return False
            values = {
                "upto": new.upto,
                "matches": new.matches,
                "state": sums,
                "rows": json.dumps(new.shown),
                "changed_us": time.time_ns() // 1000,
            }
            if had is None:
                selection = json.dumps(new.selection, sort_keys=True)
                connection.execute(sa.insert(board).values(key=new.key, selection=selection, **values))
            else:
                connection.execute(sa.update(board).where(board.c.key == new.key).values(values))
            mine = board_part.c.board == new.key
            gone = mine if whole else mine & board_part.c.part.in_(parts)
            connection.execute(sa.delete(board_part).where(gone))
            rows = [{"board": new.key, "part": part, "data": data} for part, data in parts.items()]
            if rows:
                connection.execute(sa.insert(board_part), rows)
        return True

    # matches

    def newest(self) -> int:
        """Number of the match that was stored last; 0: none was."""
        with self._store.reading() as connection:
            return connection.execute(sa.select(sa.func.max(match.c.id))).scalar() or 0

    def lacks(self, tournaments: Collection[int], upto: int) -> bool:
        """Whether a match of these tournaments was stored after that of a number."""
        query = (
            sa.select(match.c.id).where(match.c.id > upto, (match.c.tournament + 0).in_(tournaments)).limit(1)
        )
        with self._store.reading() as connection:
            return connection.execute(query).first() is not None

    def number_after(self, tournaments: Collection[int], upto: int) -> int:
        """How many matches of these tournaments were stored after that of a number."""
        query = sa.select(sa.func.count()).where(match.c.id > upto, (match.c.tournament + 0).in_(tournaments))
        with self._store.reading() as connection:
            return connection.execute(query.select_from(match)).scalar_one()

    def has(self, tournaments: Collection[int], upto: int) -> bool:
        """Whether a match of these tournaments was stored by then."""
        query = sa.select(match.c.id).where(match.c.tournament.in_(tournaments), match.c.id <= upto).limit(1)
        with self._store.reading() as connection:
            return bool(tournaments) and connection.execute(query).first() is not None

    def stored_after(
        self, tournaments: Collection[int], after: int, upto: int, most: int
    ) -> list[NumberedMatch]:
        """Matches in the order in which they were stored.

        Args:
            tournaments: of which.
            after, upto: only those with a number above the one and not above the other.
            most: at most so many.
        """
        # A walk over the numbers, of which the wanted ones are the newest.
        query = _numbered().where(match.c.id > after, match.c.id <= upto).order_by(match.c.id).limit(most)
        wanted = query.where((match.c.tournament + 0).in_(tournaments))
        with self._store.reading() as connection:
            return [NumberedMatch(*row) for row in connection.execute(wanted)]

    def scheduled(self, tournaments: Sequence[int], upto: int) -> Iterator[NumberedMatch]:
        """Matches tournament by tournament, in the order of their schedules, in constant memory.

        Args:
            tournaments: of which.
            upto: only those with no number above it.
        """
        for number in tournaments:
            query = _numbered().where(match.c.tournament == number, match.c.id <= upto)
            query = query.order_by(match.c.block, match.c.seating).execution_options(yield_per=2000)
            with self._store.reading() as connection, connection.execute(query) as rows:
                for row in rows:
                    yield NumberedMatch(*row)

    def begun(self, tournament: int, blocks: Collection[int], upto: int) -> bool:
        """Whether a match of one of these blocks was stored by then."""
        wanted = list(blocks)
        with self._store.reading() as connection:
            for first in range(0, len(wanted), _MANY):
                query = sa.select(match.c.id).where(
                    match.c.tournament == tournament,
                    match.c.block.in_(wanted[first : first + _MANY]),
                    match.c.id <= upto,
                )
                if connection.execute(query.limit(1)).first() is not None:
                    return True
        return False


def _numbered() -> sa.Select[Any]:
    return sa.select(match.c.id, match.c.tournament, match.c.block, match.c.seating, match.c.record)


def _read(row: sa.Row[Any]) -> StoredBoard:
    return StoredBoard(
        row.key, json.loads(row.selection), row.upto, row.matches, json.loads(row.rows), row.changed_us
    )
