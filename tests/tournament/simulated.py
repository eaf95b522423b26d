"""Tournaments with made-up results: what a format decides is looked at without playing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from random import Random

from arena.tournament.formats import Format, PlayedTable
from arena.tournament.schedule import Table

Results = Callable[[tuple[int, ...], Random], tuple[int, ...] | None]
"""Ranks by seat of a match between these bots; None: void."""


def by_number(bots: tuple[int, ...], random: Random) -> tuple[int, ...]:
    """The bot of the lower number always wins."""
    return tuple(1 + sum(other < bot for other in bots) for bot in bots)


def all_tied(bots: tuple[int, ...], random: Random) -> tuple[int, ...]:
    """Everybody shares the first rank."""
    return (1,) * len(bots)


def noisy(bots: tuple[int, ...], random: Random) -> tuple[int, ...] | None:
    """Lower numbers are better, luck counts, ranks may be shared, a match may be void."""
    values = [bot // 2 + random.randrange(4) for bot in bots]
    ranks = tuple(1 + sum(other < value for other in values) for value in values)
    return ranks if random.random() > 0.02 else None


def played(table: Table, results: Results, seed: int) -> PlayedTable:
    """A table as it is played: the same table has the same results."""
    random = Random(seed * 1_000_003 + table.block)
    return PlayedTable(table, tuple(results(seating, random) for seating in table.seatings))


def rounds_of(made: Format, results: Results, seed: int = 0) -> list[list[PlayedTable]]:
    """All rounds to the end."""
    done: list[PlayedTable] = []
    rounds: list[list[PlayedTable]] = []
    for number in count():
        tables = made.round(number, done)
        if not tables:
            return rounds
        rounds.append([played(table, results, seed) for table in tables])
        done += rounds[-1]
    raise AssertionError


def sets_of(tables: Sequence[PlayedTable]) -> list[set[int]]:
    """Who sat at each table."""
    return [set(each.table.seatings[0]) for each in tables]


def flat(rounds: Sequence[Sequence[PlayedTable]]) -> list[PlayedTable]:
    """All tables."""
    return [table for each in rounds for table in each]
