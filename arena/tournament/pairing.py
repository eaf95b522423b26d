"""Who sits with whom: tables of bots with similar points that have met as rarely as possible.

A local search: tables are cut from the order of points, then bots are swapped as long as that helps. While
there are meetings that repeat others, it shakes the best tables a little and tries again, a number of times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from random import Random

_SHAKES = 60
"""How often the tables are shaken while meetings repeat."""
_EFFORT = 120_000
"""Pairs of bots that one sweep of all shakes looks at: large fields are shaken less often."""

Weights = Sequence[Sequence[int]]
NOBODYS: Mapping[int, str] = {}


def seat_tables(
    bots: Sequence[int],
    seats: int,
    met: Callable[[int, int], int],
    apart: Callable[[int, int], int],
    random: Random,
    owners: Mapping[int, str] = NOBODYS,
) -> list[tuple[int, ...]]:
    """Tables for all of these bots.

    Args:
        bots: by points, best first; a multiple of the seats.
        seats: at one table.
        met: how often two bots have met; the sum of squares of these numbers is kept least.
        apart: how far two bots are apart; among tables that are equal in that, its sum is kept low.
        random: decides what is tried.
        owners: whose a bot is: no two of one meet, if none has more bots than there are tables.
    """
    size = len(bots)
    between = {pair: apart(*pair) for pair in combinations(bots, 2)}
    again = 1 + sum(between.values())
    weights = [[0] * size for _ in bots]
    for one, other in combinations(range(size), 2):
        first, second = bots[one], bots[other]
        weight = met(first, second) * again + between[first, second]
        weights[one][other] = weights[other][one] = weight
    if owners:
        _keep_apart(bots, owners, weights)
    begins = [list(range(size)), *([_dealt(bots, seats, owners)] if owners else [])]
    best = _best(begins, seats, weights)
    for _ in range(min(_SHAKES, _EFFORT // size**2)):
        if _cost(best, seats, weights) < again:
            break
        found = _improve(_shaken(best, random), seats, weights)
        best = min(best, found, key=lambda order: _cost(order, seats, weights))
    return [tuple(bots[place] for place in table) for table in _cut(best, seats)]


def _keep_apart(bots: Sequence[int], owners: Mapping[int, str], weights: list[list[int]]) -> None:
    """Make two bots of one owner weigh more than all else together."""
    clash = 1 + sum(abs(weight) for row in weights for weight in row)
    for one, other in combinations(range(len(bots)), 2):
        if bots[one] in owners and owners[bots[one]] == owners.get(bots[other]):
            weights[one][other] = weights[other][one] = clash


def _dealt(bots: Sequence[int], seats: int, owners: Mapping[int, str]) -> list[int]:
    """Places of bots so that those of one owner go to different tables, if there are enough."""
    by_owner: defaultdict[str, list[int]] = defaultdict(list)
    for place, bot in enumerate(bots):
        by_owner[owners.get(bot, "")].append(place)
    nobodys = by_owner.pop("", [])
    line = [place for places in by_owner.values() for place in places] + nobodys
    tables = len(bots) // seats
    return [place for table in range(tables) for place in line[table::tables]]


def _best(orders: Sequence[list[int]], seats: int, weights: Weights) -> list[int]:
    """The best of these orders, each improved."""
    return min(
        (_improve(order, seats, weights) for order in orders), key=lambda order: _cost(order, seats, weights)
    )


def _cut(order: Sequence[int], seats: int) -> list[Sequence[int]]:
    return [order[begin : begin + seats] for begin in range(0, len(order), seats)]


def _cost(order: Sequence[int], seats: int, weights: Weights) -> int:
    return sum(weights[a][b] for table in _cut(order, seats) for a, b in combinations(table, 2))


def _shaken(order: Sequence[int], random: Random) -> list[int]:
    """A few places swapped."""
    shaken = list(order)
    for _ in range(3):
        one, other = random.sample(range(len(shaken)), 2)
        shaken[one], shaken[other] = shaken[other], shaken[one]
    return shaken


def _improve(order: list[int], seats: int, weights: Weights) -> list[int]:
    """Swap two bots of different tables as long as it makes the tables better."""
    improved = True
    while improved:
        improved = False
        for one, other in combinations(range(len(order)), 2):
            if one // seats != other // seats and _gain(order, one, other, seats, weights) > 0:
                order[one], order[other] = order[other], order[one]
                improved = True
    return order


def _gain(order: Sequence[int], one: int, other: int, seats: int, weights: Weights) -> int:
    """By how much the sum of weights falls if the bots of two places are swapped."""
    first, second = weights[order[one]], weights[order[other]]
    gain = 0
    for place in _companions(one, seats):
        gain += first[order[place]] - second[order[place]]
    for place in _companions(other, seats):
        gain += second[order[place]] - first[order[place]]
    return gain


def _companions(place: int, seats: int) -> list[int]:
    """The other places of its table."""
    begin = place - place % seats
    return [each for each in range(begin, begin + seats) if each != place]
