"""Who outranked whom at played tables: what formats decide by that look at results.

A match gives a bot 2 for each opponent that it outranked and 1 for each that it shared its rank with: half
points, so that everything stays whole. A void match counts as if all had shared one rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, permutations

from arena.tournament.formats import PlayedTable


class Scores:
    """Adds up played tables.

    Attributes:
        points: half points by bot.
        lead: for two bots, the half points that the first has over the second less those that it gave it.
        met: by set of two bots, the tables at which they met.
    """

    def __init__(self, played: Iterable[PlayedTable] = ()) -> None:
        self.points: Counter[int] = Counter()
        self.lead: Counter[tuple[int, int]] = Counter()
        self.met: Counter[frozenset[int]] = Counter()
        for table in played:
            self.add(table)

    def add(self, played: PlayedTable) -> None:
        """Add the matches of a table."""
        for seating, ranks in zip(played.table.seatings, played.ranks, strict=True):
            seats = zip(seating, ranks or (1,) * len(seating), strict=True)
            for (bot, rank), (other, its) in permutations(seats, 2):
                half = 1 + (rank < its) - (rank > its)
                self.points[bot] += half
                self.lead[bot, other] += 2 * half - 2

    def meet(self, bots: Iterable[int]) -> None:
        """Note that these bots sit at one table."""
        self.met.update(map(frozenset, combinations(bots, 2)))

    def direct(self, bot: int, others: Iterable[int]) -> int:
        """How far a bot is ahead of others in the matches that it played with them."""
        return sum(self.lead[bot, other] for other in others)
