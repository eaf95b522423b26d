"""Results of many matches as columns of numbers: a million of them take some 25 MB."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.ratings.fold import RatingError, Result, check_result

if TYPE_CHECKING:  # a single match has no ratings, and should not wait for numpy
    import numpy.typing as npt

    from arena.ratings.arrays import Ints


@dataclass(frozen=True, slots=True)
class Size:
    """All matches at tables of one size.

    Attributes:
        seats: K, the table's size.
        bots: index of the bot by match and seat.
        ranks: competition ranks from 1 by match and seat.
        blocks: by match, what it shares its deal with.
    """

    seats: int
    bots: Ints
    ranks: Ints
    blocks: Ints


class Results:
    """Results, one after the other; their order means nothing.

    Attributes:
        bots: names by index, in the order in which they first came.
    """

    def __init__(self) -> None:
        self.bots: list[str] = []
        self._index: dict[str, int] = {}
        self._columns: dict[int, _Columns] = {}

    def __len__(self) -> int:
        return sum(len(columns.blocks) for columns in self._columns.values())

    def add(self, result: Result, block: int) -> None:
        """Add a match.

        Args:
            block: matches with the same number share a deal, so their luck is not independent.

        Raises:
            RatingError: the result is malformed.
        """
        check_result(result)
        columns = self._columns.setdefault(len(result.bots), _Columns())
        columns.bots.extend(map(self._number, result.bots))
        columns.ranks.extend(result.ranks)
        columns.blocks.append(block)

    def add_all(
        self, bots: Sequence[str], seated: npt.ArrayLike, ranks: npt.ArrayLike, blocks: npt.ArrayLike
    ) -> None:
        """Add many matches at tables of one size.

        Args:
            bots: names.
            seated: index in `bots` by match and seat.
            ranks: competition ranks by match and seat.
            blocks: by match.

        Raises:
            RatingError: the columns do not fit together, or the ranks of some match are no competition ranks.
        """
        import numpy as np

        table, places, shared = np.asarray(seated), np.asarray(ranks), np.asarray(blocks)
        _check_columns(table, places, shared, len(bots))
        columns = self._columns.setdefault(table.shape[1], _Columns())
        numbers = np.array([self._number(bot) for bot in bots], np.int32)
        columns.bots.frombytes(numbers[table].tobytes())
        columns.ranks.frombytes(places.astype(np.int16).tobytes())
        columns.blocks.frombytes(shared.astype(np.int64).tobytes())

    def sizes(self) -> Iterator[Size]:
        """The matches by size of the table, the smallest first."""
        import numpy as np

        for seats, columns in sorted(self._columns.items()):
            if not columns.blocks:
                continue
            yield Size(
                seats,
                np.array(columns.bots, np.intp).reshape(-1, seats),
                np.array(columns.ranks, np.intp).reshape(-1, seats),
                np.array(columns.blocks, np.intp),
            )

    def _number(self, bot: str) -> int:
        number = self._index.setdefault(bot, len(self.bots))
        if number == len(self.bots):
            self.bots.append(bot)
        return number


class _Columns:
    """The matches at tables of one size, seat after seat."""

    def __init__(self) -> None:
        self.bots = array("i")
        self.ranks = array("h")
        self.blocks = array("q")


def _check_columns(table: Ints, ranks: Ints, blocks: Ints, bots: int) -> None:
    import numpy as np

    if table.ndim != 2 or table.shape != ranks.shape or table.shape[:1] != blocks.shape:
        raise RatingError(
            f"columns of {table.shape}, {ranks.shape} and {blocks.shape} are no results: give bots and ranks "
            "by match and seat, and a block for each match"
        )
    for name, column in (("bots", table), ("ranks", ranks), ("blocks", blocks)):
        if not np.issubdtype(column.dtype, np.integer):
            raise RatingError(f"{name} are not all whole numbers ({column.dtype}); give integers")
    if table.shape[1] < 2:
        raise RatingError("tables of one seat compare nobody; leave them out")
    if table.size and not 0 <= table.min() <= table.max() < bots:
        raise RatingError(
            f"bots are numbered from 0 to {bots - 1}, and other numbers were given; correct them"
        )
    seated = np.sort(table, axis=1)
    better = (ranks[:, None, :] < ranks[:, :, None]).sum(axis=2)
    wrong = (seated[:, 1:] == seated[:, :-1]).any(axis=1) | (ranks != 1 + better).any(axis=1)
    if wrong.any():
        first = int(wrong.argmax())
        raise RatingError(
            f"match {first} cannot be rated: bots {table[first].tolist()}, ranks {ranks[first].tolist()}; "
            "give each bot one seat, and competition ranks such as 1, 1, 3"
        )
