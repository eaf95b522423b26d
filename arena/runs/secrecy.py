"""What may be told of matches while others are still to be played.

A record tells its deal, and a deal is played in several seatings. Whoever knew it in between could tell his
bot which cards the others will have. So the records of a deal are told when nothing is to be played on it any
more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from arena.store.stored import StoredTournament
from arena.tournament.runner import tables_of

if TYPE_CHECKING:
    from arena.store.store import Store
    from arena.tournament.schedule import Table


def is_told(tournament: StoredTournament, tables: Iterable[Table], stored: Callable[[int], int]) -> bool:
    """Whether everybody may know a deal.

    Args:
        tournament: whose deal it is.
        tables: all of its tables that are played on that deal.
        stored: how many matches of a block are stored.
    """
    if tournament.finished_us is not None:
        return True
    return all(stored(table.block) >= _ends(tournament, table) for table in tables)


def _ends(tournament: StoredTournament, table: Table) -> int:
    """How many matches of a block are to be played: the last one may be cut off."""
    seatings = len(table.seatings)
    return min(seatings, max(0, tournament.matches - table.block * seatings))


class Secrecy:
    """What may be told of one tournament, as it was when it was asked first.

    Args:
        store: where it is.
        tournament: as stored.
    """

    def __init__(self, store: Store, tournament: StoredTournament) -> None:
        self._store = store
        self._tournament = tournament
        self._tables = None if tournament.finished_us is not None else tables_of(store, tournament)
        self._known: dict[int, bool] = {}
        self._by_deal: dict[int, list[Table]] = {}
        if isinstance(self._tables, Mapping):
            for table in self._tables.values():
                self._by_deal.setdefault(table.deal, []).append(table)

    def tells(self, block: int) -> bool:
        """Whether the records of a block may be told."""
        if self._tables is None:
            return True
        if block not in self._known:
            self._known[block] = is_told(self._tournament, self._sharing(block), self._stored)
        return self._known[block]

    def _sharing(self, block: int) -> list[Table]:
        """The tables that are played on the deal of a block: of a fixed schedule it alone."""
        assert self._tables is not None
        table = self._tables[block]
        return self._by_deal.get(table.deal, [table])

    def _stored(self, block: int) -> int:
        return self._store.stored_of(self._tournament.id, block)
