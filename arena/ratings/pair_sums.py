"""Sums over tables by ordered pair of bots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.ratings.arrays import Floats, Ints
from arena.ratings.surprises import Tables


@dataclass(slots=True)
class Sums:
    """Sums over tables, by what they are about: a bot or an ordered pair, counted through.

    Attributes:
        tables: how many.
        matches: at them.
        values: what is averaged, summed over the matches.
        variance: of that sum, with tables as independent.
    """

    tables: Floats
    matches: Floats
    values: Floats
    variance: Floats

    @staticmethod
    def none(number: int) -> Sums:
        """Of nothing yet."""
        return Sums(*(np.zeros(number) for _ in range(4)))

    def add(self, where: Ints, matches: Floats, values: Floats, variance: Floats) -> None:
        """Add tables.

        Args:
            where: what each is about.
            matches, values: of each.
            variance: of a match, by what it is about.
        """
        number = len(self.tables)
        played = np.bincount(where, matches, number)
        self.tables += np.bincount(where, minlength=number)
        self.matches += played
        self.values += np.bincount(where, values, number)
        self.variance += played * variance

    def repeated(self, times: int) -> Sums:
        """Sums by bot as sums by pair: each bot's for all pairs in which it is the first."""
        columns = (self.tables, self.matches, self.values, self.variance)
        return Sums(*(np.repeat(column, times) for column in columns))

    def less(self, other: Sums) -> Sums:
        """What is left when some of the tables are taken away."""
        return Sums(
            self.tables - other.tables,
            self.matches - other.matches,
            self.values - other.values,
            self.variance - other.variance,
        )

    def mean(self) -> tuple[Floats, Floats]:
        """Mean of a match and its variance; not a number where there are no matches."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.values / self.matches, self.variance / self.matches**2


def pairs_of(tables: Tables, bots: int) -> Ints:
    """By table, the numbers of its ordered pairs: row * bots + column."""
    apart = ~np.eye(tables.bots.shape[1], dtype=bool)
    pairs: Ints = (tables.bots[:, :, None] * bots + tables.bots[:, None, :])[:, apart]
    return pairs


def mean_square(where: Ints, matches: Floats, values: Floats, number: int) -> Floats:
    """Mean square of a match's value, matches of a table counted as one draw: the variance around 0."""
    squared = np.bincount(where, values**2, number)
    squares: Floats = squared / np.maximum(np.bincount(where, matches, number), 1)
    return squares
