"""Who meets whom, on which deal and in which seats.

A schedule is a lazy sequence of blocks, a pure function of (bots, seats, deals, seed): a tournament
that was killed takes it up at any block. It deals in numbers: bots 0..N-1, seats 0..K-1, deals 0...

Every deal is one block, played in all K cyclic rotations of its base seating, so that each bot of
the block has each seat of that deal once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, permutations
from math import factorial, gcd
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, overload

if TYPE_CHECKING:
    from arena.tournament.formats import PlayedTable

Seating = tuple[int, ...]

_ALL_ORDERS_UP_TO = 8
"""Seats up to which the cyclic orders of a full table, 7! = 5040 of 8 bots, are gone through one by one."""

_EFFORT = 15_000
"""Search nodes that one stretch of base blocks may cost, some 15 ms; ten times as many find little more."""

_NEAR = 6
"""Cycles that are planned together to the point at which all pair counts can be equal."""

_NODES = 500
"""Search nodes for one base block: a search that takes longer is better begun anew in another order."""

_TRIES = 8
"""Blocks among which the best is taken where none keeps the pair counts within 1."""

_EARLY_MEAN = 30
"""Mean pair count up to which base blocks are planned ahead. One more or less hardly counts any longer
then, and a long tournament should not wait for its schedule."""

_SAMPLED_ORDERS = 120
"""Cyclic orders of a base block that are compared where all of them, (K-1)!, would be more than this."""


class ScheduleError(ValueError):
    """There is no such schedule: what, why and what to do."""


@dataclass(frozen=True, slots=True)
class Table:
    """A block: one deal and the seatings in which it is played.

    Attributes:
        block: index of the block in the schedule, from 0.
        deal: index of the deal in the tournament, from 0.
        seatings: per match of the block, the index of the bot in each seat. The number of a match
            in the tournament is block * len(seatings) + index of the seating.
    """

    block: int
    deal: int
    seatings: tuple[Seating, ...]


class Tables(Sequence[Table]):
    """Tables that are made when they are asked for: there may be a million.

    Args:
        length: how many there are.
        make: makes the one of an index.
    """

    def __init__(self, length: int, make: Callable[[int], Table]) -> None:
        self._range = range(length)
        self._make = make

    def __len__(self) -> int:
        return len(self._range)

    @overload
    def __getitem__(self, index: int) -> Table: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Table]: ...
    def __getitem__(self, index: int | slice) -> Table | Sequence[Table]:
        if isinstance(index, slice):
            return [self._make(each) for each in self._range[index]]
        return self._make(self._range[index])


class RoundRobin:
    """Everybody meets everybody, as evenly as the number of deals allows.

    With as many bots as seats, the bots sit in each of the (K-1)! cyclic orders equally often, in
    an order that the seed shuffles anew for each pass (above 8 seats each order is drawn).

    With more bots than seats, blocks are developed: the bots stand in a circle of N, a base block
    of K places is played from each of its N shifts (a cycle of N blocks), then comes the next base
    block. After every cycle each bot has been in each seat equally often, and how often two bots
    shared a block depends on their distance in the circle alone. Base blocks are chosen so that
    these numbers differ by at most 1, where no such block is found by 2, after any number of
    cycles; among the cyclic orders of a block the one is taken that evens out who sits before whom.
    The seed decides which bot stands where; the base blocks do not depend on it, so what the tests show
    of them holds for every seed.

    Args:
        bots: how many, N.
        seats: at one table, K.
        deals: wanted; rounded up to whole cycles of N blocks if there are more bots than seats.
        seed: of the tournament.
        rotate: False plays only the base seating of a deal. The rotations then come in turn: seats
            are even after every K blocks of a full table, after every cycle otherwise.

    Attributes:
        blocks: number of blocks, after rounding.
        seatings: matches per block.
        matches: in all.

    Raises:
        ScheduleError: fewer than two seats, fewer bots than seats, or no deal.
    """

    adaptive = False
    settings: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, bots: int, seats: int, deals: int, seed: bytes, rotate: bool = True) -> None:
        check_plan(bots, seats, deals)
        self.bots = bots
        self.seats = seats
        self.rotate = rotate
        self.seatings = seats if rotate else 1
        self.blocks = deals if bots == seats else -(-deals // bots) * bots
        self.matches = self.blocks * self.seatings
        self._seed = seed
        self._names = list(range(bots))
        stream(seed, b"names").shuffle(self._names)
        self.base_blocks = BaseBlocks(bots, seats)

    def __len__(self) -> int:
        return self.blocks

    def __iter__(self) -> Iterator[Table]:
        return map(self.table, range(self.blocks))

    def round(self, number: int, played: Sequence[PlayedTable] = ()) -> Sequence[Table]:
        """The whole schedule is one round."""
        return () if number else Tables(self.blocks, self.table)

    def places(self, played: Sequence[PlayedTable]) -> list[list[int]]:
        """None of its own."""
        return []

    def table(self, index: int) -> Table:
        """The block of this index; any, in any order.

        Raises:
            ScheduleError: the schedule has no such block.
        """
        if not 0 <= index < self.blocks:
            raise ScheduleError(
                f"there is no block {index}: the schedule has {self.blocks}; ask for 0..{self.blocks - 1}"
            )
        places = self._full_table(index) if self.bots == self.seats else self.developed(index)
        base = tuple(self._names[place] for place in places)
        return Table(index, index, tuple(rotated(base, turn) for turn in range(self.seatings)))

    def developed(self, index: int) -> Seating:
        """Places in the circle of a block."""
        cycle, shift = divmod(index, self.bots)
        return tuple((place + shift) % self.bots for place in self.base_blocks[cycle])

    def _full_table(self, index: int) -> Seating:
        # Without rotations within the block, the blocks themselves go through those of an order.
        step = index if self.rotate else index // self.seats
        return rotated(self._order(step), index % self.seats)

    def _order(self, step: int) -> Seating:
        if self.seats <= _ALL_ORDERS_UP_TO:
            orders = _shuffled_orders(self.seats, self._seed, step)
            return orders[step % len(orders)]
        others = list(range(1, self.seats))
        stream(self._seed, b"order %d" % step).shuffle(others)
        return (0, *others)


def check_plan(bots: int, seats: int, deals: int) -> None:
    """What every format needs.

    Raises:
        ScheduleError: fewer than two seats, fewer bots than seats, or no deal.
    """
    if seats < 2:
        raise ScheduleError(
            f"a table of {seats} compares no bots: skill shows only against others; give 2 or more seats"
        )
    if bots < seats:
        raise ScheduleError(
            f"{bots} bots cannot fill {seats} seats: each seat of a match needs a bot of its own; "
            f"add {seats - bots} more or play with fewer seats"
        )
    if deals < 1:
        raise ScheduleError(f"{deals} deals are no tournament: there would be no match; ask for 1 or more")


def stream(seed: bytes, purpose: bytes) -> Random:
    """The chance of a schedule; for each purpose a stream of its own, so that none moves another."""
    digest = hashlib.sha256(b"botarena schedule\0" + seed + b"\0" + purpose).digest()
    return Random(int.from_bytes(digest, "big"))


def rotated(seating: Seating, turn: int) -> Seating:
    """A seating in which everybody moved on by so many seats."""
    return seating[turn:] + seating[:turn]


def _shuffled_orders(seats: int, seed: bytes, step: int) -> tuple[Seating, ...]:
    """All cyclic orders of a full table, shuffled for the pass in which a step falls."""
    orders = _all_orders(seats)
    return _shuffled_pass(seats, seed, step // len(orders))


@lru_cache(maxsize=16)
def _all_orders(seats: int) -> tuple[Seating, ...]:
    return tuple((0, *others) for others in permutations(range(1, seats)))


@lru_cache(maxsize=16)
def _shuffled_pass(seats: int, seed: bytes, number: int) -> tuple[Seating, ...]:
    orders = list(_all_orders(seats))
    stream(seed, b"pass %d" % number).shuffle(orders)
    return tuple(orders)


class Sets(Protocol):
    """Sets of places in the circle, one per cycle."""

    def __getitem__(self, cycle: int) -> Seating: ...


class BaseBlocks:
    """Base blocks in cyclic order, one per cycle, made when asked for.

    Developing a block over Z_N lets a bot follow another at a directed distance once per cycle for
    each two neighbours at that distance in the block; `_follows` counts them up to now.
    """

    def __init__(self, bots: int, seats: int) -> None:
        self._bots = bots
        self._seats = seats
        self._sets: Sets = _BaseSets(bots, seats)
        self._random = _fixed_random(bots, seats)
        self._follows = [0] * bots
        self._blocks: list[Seating] = []

    def __getitem__(self, cycle: int) -> Seating:
        while len(self._blocks) <= cycle:
            block = min(self.orders(self._sets[len(self._blocks)]), key=self._crowding)
            for distance in self._distances(block):
                self._follows[distance] += 1
            self._blocks.append(block)
        return self._blocks[cycle]

    def orders(self, places: Seating) -> Iterator[Seating]:
        """Cyclic orders of a set to choose from."""
        first, *others = places
        if factorial(self._seats - 1) <= _SAMPLED_ORDERS:
            yield from ((first, *order) for order in permutations(others))
            return
        for _ in range(_SAMPLED_ORDERS):
            self._random.shuffle(others)
            yield (first, *others)

    def _distances(self, block: Seating) -> list[int]:
        following = block[1:] + block[:1]
        return [(after - before) % self._bots for before, after in zip(block, following, strict=True)]

    def _crowding(self, block: Seating) -> int:
        """By how much this order would raise the sum of squares of the counts."""
        distances = self._distances(block)
        return sum(2 * self._follows[distance] + distances.count(distance) for distance in distances)


class _BaseSets:
    """Sets of K places in a circle of N, one per cycle, that keep the pair counts even.

    Two bots at distance d share as many blocks of a cycle as the set has pairs at distance d, and
    twice as many if d = N/2, because then two shifts give the same pair. So all there is to balance
    are N/2 counts. Sets are found by depth-first search within narrow bounds, a stretch at a time:
    up to where the mean passes the next integer, since there a set must fit exactly.

    When the counts stand to each other as once before, the sets since then are repeated: the
    balance cannot drift however long the tournament, and the search ends.
    """

    def __init__(self, bots: int, seats: int) -> None:
        self._circle = _Circle(bots, seats)
        self._random = _fixed_random(bots, seats)
        self._counts = [0] * (bots // 2 + 1)
        self._sets: list[Seating] = []
        self._seen = {self._shape(): 0}
        self._repeat_from: int | None = None

    def __getitem__(self, cycle: int) -> Seating:
        while self._repeat_from is None and len(self._sets) <= cycle:
            self._extend()
        if cycle < len(self._sets):
            return self._sets[cycle]
        assert self._repeat_from is not None
        period = len(self._sets) - self._repeat_from
        return self._sets[self._repeat_from + (cycle - self._repeat_from) % period]

    def _shape(self) -> tuple[int, ...]:
        lowest = min(self._counts[1:])
        return tuple(number - lowest for number in self._counts[1:])

    def _extend(self) -> None:
        early = self._circle.bounds(len(self._sets))[0] < _EARLY_MEAN
        planned = self._stretch() if early else []
        for places, counts in planned or [self._nearest()]:
            self._sets.append(places)
            self._counts = counts
            before = self._seen.setdefault(self._shape(), len(self._sets))
            if before < len(self._sets):
                self._repeat_from = before
                return

    def _stretch(self) -> list[tuple[Seating, list[int]]]:
        """Sets up to the next integer mean, each within 1; none if the effort does not find them."""
        first = len(self._sets) + 1
        last = self._circle.stretch(len(self._sets))
        effort = _EFFORT
        while effort > 0:
            found: list[tuple[Seating, list[int]]] = []
            counts = self._counts
            for cycle in range(first, last + 1):
                search = _Search(self._circle, counts, *self._circle.bounds(cycle), self._random)
                places = search.run()
                effort -= search.nodes + self._circle.bots  # a search costs something before its first node
                if places is None:
                    break
                counts = search.counts
                found.append((places, counts))
            else:
                return found
        return []

    def _nearest(self) -> tuple[Seating, list[int]]:
        """The next set, with the bounds as narrow as a set is found in, and of some the most even."""
        low, high = self._circle.bounds(len(self._sets) + 1)
        for slack in count():
            searches = [
                _Search(self._circle, self._counts, low - below, high + slack - below, self._random)
                for below in range(slack + 1)
                for _ in range(_TRIES)
            ]
            found = [(places, search.counts) for search in searches if (places := search.run())]
            if found:
                return min(found, key=lambda each: self._circle.unevenness(each[1]))
        raise AssertionError("wide enough bounds admit any set")


class _Circle:
    """N places in a circle and tables of K: what is counted, and where the counts must lie.

    Attributes:
        distance: by difference of two places, negative ones included, the shorter way between them.
        weight: by distance, how much one pair of a base block adds to the pair count.
    """

    def __init__(self, bots: int, seats: int) -> None:
        self.bots = bots
        self.seats = seats
        self.distance = [min(way, bots - way) for way in range(bots)]
        self.weight = [2 if 2 * distance == bots else 1 for distance in range(bots // 2 + 1)]
        self.pairs = seats * (seats - 1) // 2

    def bounds(self, cycle: int) -> tuple[int, int]:
        """The integers around the mean pair count after so many cycles, cycle * K(K-1)/(N-1)."""
        total = 2 * self.pairs * cycle
        return total // (self.bots - 1), -(-total // (self.bots - 1))

    def stretch(self, cycle: int) -> int:
        """After `cycle`, the next cycle at which sets must fit exactly: all counts equal if that is near,
        otherwise the mean past the next integer."""
        equal = (self.bots - 1) // gcd(self.bots - 1, 2 * self.pairs)
        if equal <= _NEAR:
            return (cycle // equal + 1) * equal
        goal = self.bounds(cycle)[0] + 1
        return max(cycle + 2, -(-goal * (self.bots - 1) // (2 * self.pairs)))

    def unevenness(self, counts: list[int]) -> int:
        """Sum over all pairs of bots of their squared counts, times 2/N."""
        return sum((3 - weight) * number * number for weight, number in zip(self.weight, counts, strict=True))


class _Search:
    """One depth-first search for a set of places that keeps every pair count within bounds.

    Args:
        counts: pair counts by distance up to now.
        low: least pair count allowed when the set has been added.
        high: greatest.
        random: decides the order in which places are tried.

    Attributes:
        counts: with the set that was found.
        nodes: places tried.
    """

    def __init__(self, circle: _Circle, counts: list[int], low: int, high: int, random: Random) -> None:
        self._circle = circle
        self._low = low
        self._high = high
        self._candidates = list(range(1, circle.bots))
        random.shuffle(self._candidates)
        self._places = [0]
        self.counts = list(counts)
        self.nodes = 0

    def run(self) -> Seating | None:
        """The set, or None if there is none or it was not found soon."""
        lacking = sum(
            -(-max(0, self._low - number) // weight)
            for number, weight in zip(self.counts[1:], self._circle.weight[1:], strict=True)
        )
        return tuple(self._places) if self._grow(0, lacking, self._circle.pairs) else None

    def _grow(self, start: int, lacking: int, pairs: int) -> bool:
        """Complete the set from the candidates since `start`.

        Args:
            lacking: pairs that are needed to lift all counts to the lower bound.
            pairs: that the missing places will bring.
        """
        if lacking > pairs:
            return False
        missing = self._circle.seats - len(self._places)
        if not missing:
            return True
        for index in range(start, len(self._candidates) - missing + 1):
            self.nodes += 1
            if self.nodes > _NODES:
                return False
            if self._try(index, lacking, pairs):
                return True
        return False

    def _try(self, index: int, lacking: int, pairs: int) -> bool:
        place = self._candidates[index]
        added: list[int] = []
        fits = True
        for other in self._places:
            distance = self._circle.distance[place - other]
            lacking -= self.counts[distance] < self._low
            self.counts[distance] += self._circle.weight[distance]
            added.append(distance)
            if self.counts[distance] > self._high:
                fits = False
                break
        if fits:
            self._places.append(place)
            if self._grow(index + 1, lacking, pairs - len(added)):
                return True
            self._places.pop()
        for distance in added:
            self.counts[distance] -= self._circle.weight[distance]
        return False


def _fixed_random(bots: int, seats: int) -> Random:
    return Random(bots * 1_000_003 + seats)
