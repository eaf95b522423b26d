"""A round robin that goes through all sets of K bots: each table that there can be, equally often.

For few bots the sets are few, and to play all of them balances everything at once. They come in orbits: the
bots stand in a circle of N, and the sets that are shifts of each other along it are played in a row. So after
each orbit everybody has played equally often, as after a cycle of developed blocks. Pair counts are equal
after each pass over all sets; on the way the order of the orbits keeps them within 2 at tables of up to
three, within 4 at larger ones.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, combinations
from math import factorial
from types import MappingProxyType
from typing import Any

from arena.tournament.schedule import BaseBlocks, RoundRobin, Seating


class CompleteRoundRobin(RoundRobin):
    """All sets of K bots in turn, pass after pass.

    In each pass a set is seated in another cyclic order, until it has had all of them. The seed decides which
    bot stands where in the circle.

    Args:
        bots: how many, N.
        seats: at one table, K.
        deals: wanted; rounded up to the end of an orbit.
        seed: of the tournament.
        rotate: False plays only the base seating of a deal.

    Raises:
        ScheduleError: fewer than two seats, fewer bots than seats, or no deal.
    """

    settings: Mapping[str, Any] = MappingProxyType({"sets": "all"})

    def __init__(self, bots: int, seats: int, deals: int, seed: bytes, rotate: bool = True) -> None:
        super().__init__(bots, seats, deals, seed, rotate)
        orbits = _orbits(bots, seats)
        self.base_blocks = _AllOrders(bots, seats, [orbit.places for orbit in orbits])
        self._ends = list(accumulate(orbit.length for orbit in orbits))
        passes, rest = divmod(deals, self._ends[-1])
        self.blocks = passes * self._ends[-1] + (self._ends[bisect_left(self._ends, rest)] if rest else 0)
        self.matches = self.blocks * self.seatings

    def developed(self, index: int) -> Seating:
        """Places in the circle of a block."""
        number, within = divmod(index, self._ends[-1])
        orbit = bisect_right(self._ends, within)
        shift = within - (self._ends[orbit - 1] if orbit else 0)
        base = self.base_blocks[number * len(self._ends) + orbit]
        return tuple((place + shift) % self.bots for place in base)


class _AllOrders(BaseBlocks):
    """Base blocks that give every set each of its cyclic orders once before it has one again."""

    def __init__(self, bots: int, seats: int, sets: Sequence[Seating]) -> None:
        super().__init__(bots, seats)
        self._sets: _InTurn = _InTurn(sets)
        self._passes_per_order = factorial(seats - 1)

    def orders(self, places: Seating) -> Iterator[Seating]:
        """Those that the set has not had since it had them all."""
        number, orbit = divmod(len(self._blocks), len(self._sets))
        since = number - number % self._passes_per_order
        had = {self._blocks[each * len(self._sets) + orbit] for each in range(since, number)}
        every = list(super().orders(places))
        yield from [order for order in every if order not in had] or every


class _InTurn:
    def __init__(self, sets: Sequence[Seating]) -> None:
        self._all = sets

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, cycle: int) -> Seating:
        return self._all[cycle % len(self._all)]


@dataclass(frozen=True, slots=True)
class _Orbit:
    """All shifts of a set in the circle.

    Attributes:
        places: the set.
        length: how many different shifts there are.
        meetings: by distance in the circle, how often two bots share a set of the orbit.
    """

    places: Seating
    length: int
    meetings: tuple[int, ...]


@cache
def _orbits(bots: int, seats: int) -> tuple[_Orbit, ...]:
    """All of them, in an order in which pair counts stay even: from both ends towards the middle, the one
    that fits best is next."""
    left = [_orbit(bots, places) for places in _representatives(bots, seats)]
    ends: tuple[list[_Orbit], list[_Orbit]] = ([], [])
    counts = [[0] * (bots // 2), [0] * (bots // 2)]
    for step in range(len(left)):
        side = step % 2
        best = min(left, key=lambda orbit: _uneven(bots, _added(counts[side], orbit)))
        left.remove(best)
        ends[side].append(best)
        counts[side] = _added(counts[side], best)
    return (*ends[0], *reversed(ends[1]))


def _added(counts: Sequence[int], orbit: _Orbit) -> list[int]:
    return [count + more for count, more in zip(counts, orbit.meetings, strict=True)]


def _uneven(bots: int, counts: Sequence[int]) -> tuple[int, int]:
    """How far pair counts are from even: the difference of the extremes, then their variance (unscaled)."""
    # There are N pairs at each distance, and N/2 at that of half of the circle.
    weights = [1 if 2 * distance == bots else 2 for distance in range(1, len(counts) + 1)]
    total = sum(weight * count for weight, count in zip(weights, counts, strict=True))
    squares = sum(weight * count * count for weight, count in zip(weights, counts, strict=True))
    return max(counts) - min(counts), sum(weights) * squares - total * total


def _orbit(bots: int, places: Seating) -> _Orbit:
    length = len({_shifted(bots, places, shift) for shift in range(bots)})
    distances = Counter(min(b - a, bots - b + a) for a, b in combinations(places, 2))
    # Two shifts give the same pair at the distance of half of the circle; shorter orbits repeat nothing.
    meetings = [
        distances[distance] * (2 if 2 * distance == bots else 1) * length // bots
        for distance in range(1, bots // 2 + 1)
    ]
    return _Orbit(places, length, tuple(meetings))


def _representatives(bots: int, seats: int) -> Iterator[Seating]:
    """A set of each orbit: the one that comes first."""
    for others in combinations(range(1, bots), seats - 1):
        places = (0, *others)
        if places == min(_shifted(bots, places, -place) for place in places):
            yield places


def _shifted(bots: int, places: Seating, shift: int) -> Seating:
    return tuple(sorted((place + shift) % bots for place in places))
