"""Counts of many matches at once, as columns: what `Standings.add` counts one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from arena.ratings.arrays import Ints


@dataclass(frozen=True, slots=True)
class Batch:
    """Matches at tables of one size; those of a block are all here, or none is.

    Attributes:
        bots: numbers of the bots by match and seat.
        ranks: competition ranks from 1, likewise.
        scores: likewise.
        blocks: by match, what it shares its deal with.
    """

    bots: Ints
    ranks: Ints
    scores: Ints
    blocks: Ints

    @property
    def seats(self) -> int:
        """Size of the tables."""
        return int(self.bots.shape[1])

    def halves(self) -> Ints:
        """Half points of each seat against all others of its table."""
        ranks = self.ranks
        above: Ints = (ranks[:, :, None] < ranks[:, None, :]).sum(axis=2)
        tied = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2) - 1
        halves: Ints = 2 * above + tied
        return halves


def tallies_of(batch: Batch) -> Iterator[tuple[int, tuple[int, ...]]]:
    """By bot: matches, wins, draws, sums of ranks and of scores, half points, and opponents."""
    firsts = (batch.ranks == 1) & ((batch.ranks == 1).sum(axis=1) == 1)[:, None]
    shared = (batch.ranks == 1) & ~firsts
    columns = [np.ones_like(batch.ranks), firsts, shared, batch.ranks, batch.scores, batch.halves()]
    sums = _summed(batch.bots.ravel(), [column.ravel() for column in columns])
    for bot, row in sums:
        yield bot, (*row, row[0] * (batch.seats - 1))


def seats_of(batch: Batch) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """By seat and bot: matches, sum and sum of squares of the half points."""
    halves = batch.halves()
    for seat in range(batch.seats):
        own = halves[:, seat]
        for bot, row in _summed(batch.bots[:, seat], [np.ones_like(own), own, own * own]):
            yield seat, bot, row


def pairs_of(batch: Batch) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """By two bots, the lower number first: blocks, matches, half points of the first, and over the blocks
    the sums of n², n s and s², of n matches with s half points each."""
    count = int(batch.bots.max(initial=0)) + 1
    _, blocks = np.unique(batch.blocks, return_inverse=True)
    keys, halves = [], []
    for one, other in combinations(range(batch.seats), 2):
        first, second = batch.bots[:, one], batch.bots[:, other]
        half = 1 + np.sign(batch.ranks[:, other] - batch.ranks[:, one])
        swapped = first > second
        low, high = np.minimum(first, second), np.maximum(first, second)
        keys.append(blocks.ravel() * count * count + low * count + high)
        halves.append(np.where(swapped, 2 - half, half))
    distinct, which = np.unique(np.concatenate(keys), return_inverse=True)
    n = np.bincount(which.ravel(), minlength=len(distinct))
    s = np.bincount(which.ravel(), np.concatenate(halves), len(distinct)).astype(np.int64)
    columns = [np.ones_like(n), n, s, n * n, n * s, s * s]
    for pair, row in _summed(distinct % (count * count), columns):
        yield pair // count, pair % count, row


def _summed(keys: Ints, columns: list[Ints]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """By key the sum of each column."""
    distinct, which = np.unique(keys, return_inverse=True)
    sums = np.zeros((len(columns), len(distinct)), np.int64)
    for total, column in zip(sums, columns, strict=True):
        np.add.at(total, which.ravel(), column.astype(np.int64))
    for place, key in enumerate(distinct.tolist()):
        yield key, tuple(sums[:, place].tolist())
