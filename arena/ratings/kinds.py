"""Matches sorted by how their ranks are shared, so that all of a kind are computed on together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, product

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from arena.ratings.arrays import Floats, Ints
from arena.ratings.fold import BETA, TieRule
from arena.ratings.results import Size

_CHUNK = 30_000
"""Numbers in the largest array of a chunk of matches: small enough to stay in the processor's cache."""


@dataclass(slots=True)
class Kind:
    """Matches of one table size whose ranks are shared in the same way, with their sites.

    A player is a bot in a seat. Matches with the same players in the same ranks are one, counted: their
    sites are the same.

    Attributes:
        size: of the table.
        players: by place from best to worst and match.
        counts: how many matches each stands for.
        better, worse: places that each comparison is about.
        drawn: whether that comparison says *equal*.
        luck: covariance of the luck of the comparisons.
        which: the index here of each match.
        blocks: the block of each match.
        precision, shift: the site of each comparison and match, in a normal distribution's natural
            parameters.
    """

    size: int
    players: Ints
    counts: Floats
    better: Ints
    worse: Ints
    drawn: npt.NDArray[np.bool_]
    luck: Floats
    which: Ints
    blocks: Ints
    precision: Floats = field(init=False)
    shift: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.precision = np.zeros((len(self.better), len(self.counts)))
        self.shift = np.zeros_like(self.precision)

    def chunks(self) -> Iterator[slice]:
        """The matches in chunks that are quick to compute on."""
        step = max(64, _CHUNK // len(self.better) ** 2)
        return (slice(first, first + step) for first in range(0, len(self.counts), step))


def renumbered(size: Size, number: Ints) -> Size:
    """The same matches with other numbers for the bots.

    Args:
        number: the new one by the old one.
    """
    return Size(size.seats, number[size.bots], size.ranks, size.blocks)


def kinds_of(size: Size, places: int, ties: TieRule) -> Iterator[Kind]:
    """The matches of one table size, apart by how their ranks are shared.

    Args:
        places: players that each bot is, see `Unknowns.places`.
    """
    seat = np.arange(size.seats) % places
    players = size.bots * places + seat
    # From best to worst; those who share a rank by number, so that their order in the list means nothing.
    order = np.lexsort((players, size.ranks), axis=1)
    players = np.take_along_axis(players, order, axis=1)
    ranks = np.take_along_axis(size.ranks, order, axis=1)
    patterns, kinds, _ = _distinct(ranks)
    for number, pattern in enumerate(patterns):
        comparisons = _comparisons(pattern.tolist(), ties)
        if comparisons:
            here = np.flatnonzero(kinds == number)
            yield _kind(size, players[here], size.blocks[here], comparisons)


def _kind(size: Size, players: Ints, blocks: Ints, comparisons: Sequence[tuple[int, int, bool]]) -> Kind:
    better, worse, drawn = (np.array(column) for column in zip(*comparisons, strict=True))
    distinct, which, counts = _distinct(players)
    sides = np.zeros((len(better), size.seats))
    numbers = np.arange(len(better))
    sides[numbers, better], sides[numbers, worse] = 1, -1
    return Kind(
        size.seats,
        np.ascontiguousarray(distinct.T),
        counts.astype(float),
        better,
        worse,
        drawn,
        BETA**2 * (sides @ sides.T),
        which,
        blocks,
    )


def _comparisons(ranks: Sequence[int], ties: TieRule) -> list[tuple[int, int, bool]]:
    """What a match's ranks say: pairs of places, better first, and whether they were equal.

    Everyone of a rank against everyone of the next; and, where equal scores share a rank, each two of it.
    """
    groups = [[place for place, rank in enumerate(ranks) if rank == each] for each in sorted(set(ranks))]
    pairs = [(*pair, False) for better, worse in pairwise(groups) for pair in product(better, worse)]
    if ties is TieRule.DRAW:
        pairs += [(*pair, True) for group in groups for pair in combinations(group, 2)]
    return pairs


def _distinct(rows: Ints) -> tuple[Ints, Ints, Ints]:
    """The different rows, which of them each is, and how often each comes."""
    base = int(rows.max()) + 1
    if base ** rows.shape[1] >= 2**62:
        different, which, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        return different, which.ravel(), counts
    # As one number each they are sorted ten times as fast.
    weights = base ** np.arange(rows.shape[1] - 1, -1, -1)
    keys, which, counts = np.unique(rows @ weights, return_inverse=True, return_counts=True)
    return keys[:, None] // weights % base, which, counts


def pools_of(bots: int, sizes: Sequence[Size]) -> Ints:
    """By bot, the number of the set of bots that are connected by matches; the largest set is 0."""
    met = np.concatenate([np.zeros((0, 2), np.intp), *(_neighbours(size) for size in sizes)])
    graph = coo_array((np.ones(len(met)), met.T), shape=(bots, bots))
    _, labels = connected_components(graph, directed=False)
    # By size, then by the first bot in the alphabet: numbers that do not depend on the order of the matches.
    firsts = {int(label): bot for bot, label in reversed(list(enumerate(labels)))}
    counts = np.bincount(labels, minlength=len(firsts))
    order = sorted(firsts, key=lambda label: (-counts[label], firsts[label]))
    numbers: Ints = np.argsort(np.array(order, np.intp))[labels]
    return numbers


def _neighbours(size: Size) -> Ints:
    """Pairs of bots that sat at a table, enough of them to connect all of each table."""
    pairs = np.stack([np.repeat(size.bots[:, :1], size.seats - 1, axis=1), size.bots[:, 1:]], axis=-1)
    return _distinct(pairs.reshape(-1, 2))[0]
