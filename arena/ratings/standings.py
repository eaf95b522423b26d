"""Leaderboard and crosstable from matches, in one pass.

For ratings of record the results are kept, some 25 bytes a match; all else grows with the square of the
number of bots.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from arena.ratings.fold import RatingError, Result, TieRule, TrueSkillFold
from arena.ratings.results import Results

if TYPE_CHECKING:  # a single match has no ratings, and should not wait for what computes them
    from arena.ratings.confidence import Judgement
    from arena.ratings.fit import Fit


@dataclass(frozen=True, slots=True)
class Played:
    """What standings need to know of a match.

    Attributes:
        block: index of the block. Matches of a block share a deal, so they are not independent.
        bots: names by seat.
        ranks: by seat, competition ranks from 1.
        scores: by seat, as the game counts them.
        order: bytes that identify the match, see `Result`.
    """

    block: int
    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    scores: tuple[float, ...]
    order: bytes

    @property
    def result(self) -> Result:
        """The part that ratings need."""
        return Result(self.bots, self.ranks, self.order)


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of the leaderboard.

    Attributes:
        skill: what is known of the bot's skill.
        matches: number played.
        wins: matches in which it alone was first.
        draws: matches in which it was first with others.
        losses: all other matches.
        mean_rank: mean competition rank, 1 is best.
        mean_score: mean score, in the game's points.
        points: share of the opponents met that it ranked above, ties half, in 0..1.
    """

    skill: Judgement
    matches: int
    wins: int
    draws: int
    losses: int
    mean_rank: float
    mean_score: float
    points: float


@dataclass(frozen=True, slots=True)
class SeatStanding:
    """How a seat fared, with one bot in it or with all.

    Attributes:
        seats: size of the table.
        seat: number of the seat, from 0.
        bot: None stands for all.
        matches: number played.
        points: mean share of the opponents that it ranked above, ties half, in 0..1.
        error: standard error of that; a bot has a seat once per deal, so its matches there are independent.
            None with fewer than two matches.
    """

    seats: int
    seat: int
    bot: str | None
    matches: int
    points: float
    error: float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """How a bot, the row, fared against another, the column.

    Attributes:
        share: of their common matches in which the row ranked above the column, ties half, in 0..1.
        error: standard error of the share with blocks as units; None with fewer than two blocks.
        matches: that they had in common.
    """

    share: float
    error: float | None
    matches: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums over matches that standings are made of; the order of the matches means nothing.

    Attributes:
        tallies: by bot: matches, wins, draws, sums of ranks and of scores, half points, opponents.
        seats: by size of the table, seat and bot: matches, sum and sum of squares of the half points.
        pairs: by two bots, in the order of their names: blocks, matches, half points of the first, and over
            the blocks the sums of n², n s and s², of n matches with s half points each.
    """

    tallies: Mapping[str, Sequence[int]]
    seats: Mapping[tuple[int, int, str], Sequence[int]]
    pairs: Mapping[tuple[str, str], Sequence[int]]


class Standings:
    """Leaderboard and crosstable of the matches added so far.

    Matches of a block are added in succession; blocks may come in any order.

    Args:
        ties: what a shared rank says to the ratings.
        live: rate each match as it comes, by the fold: quick at any moment, but the order of the matches
            means a little, and the errors of two bots are taken as independent. Otherwise the ratings are
            those of record, fitted to all matches when they are asked for.

    Attributes:
        ties: as given.
        results: what was added, for ratings of record.
    """

    def __init__(self, ties: TieRule, *, live: bool = False) -> None:
        self.ties = ties
        self.results = Results()
        self._fold = TrueSkillFold(ties) if live else None
        self._fit: Fit | None = None
        self._tallies: dict[str, _Tally] = {}
        self._pairs: dict[tuple[str, str], Pair] = {}
        self._seats: dict[tuple[int, int, str], _SeatTally] = {}
        self._blocks = _Blocks()

    @classmethod
    def counted(cls, ties: TieRule, results: Results, counts: Counts) -> Standings:
        """Of matches that were counted already. More cannot be added.

        Args:
            ties: what a shared rank says.
            results: the matches, for ratings of record.
            counts: the same, as sums.
        """
        made = cls(ties)
        made.results = results
        made._tallies = {bot: _Tally(*row) for bot, row in counts.tallies.items()}
        made._seats = {key: _SeatTally(*row) for key, row in counts.seats.items()}
        made._pairs = {key: Pair.of(*row) for key, row in counts.pairs.items()}
        return made

    def add(self, played: Played) -> None:
        """Count a match.

        Raises:
            RatingError: the match is malformed, cannot be rated, or belongs to a block that was
                left before. Nothing is counted.
        """
        self._check(played)
        if self._fold is not None:
            self._fold.add(played.result)
        else:
            self.results.add(played.result, played.block)
        self._fit = None
        self._blocks.enter(played.block)
        size = len(played.bots)
        for seat, bot in enumerate(played.bots):
            halves = self._tallies.setdefault(bot, _Tally()).add(played, seat)
            self._seats.setdefault((size, seat, bot), _SeatTally()).add(halves)
        for one, other in combinations(sorted(zip(played.bots, played.ranks, strict=True)), 2):
            pair = self._pairs.setdefault((one[0], other[0]), Pair())
            pair.add(played.block, _halves(one[1], other[1]))

    def fit(self) -> Fit:
        """The ratings behind the leaderboard.

        Raises:
            RatingError: they do not settle.
        """
        from arena.ratings import fit

        if self._fit is None:
            fold = self._fold
            self._fit = fit.fit(self.results, self.ties) if fold is None else fit.of_ratings(fold.ratings())
        return self._fit

    def table(self, anchor: str | None = None) -> list[Standing]:
        """The leaderboard: pool by pool, highest mu first.

        Args:
            anchor: the bot whose mu is 0.
        """
        from arena.ratings.confidence import judge

        return [self._standing(skill) for skill in judge(self.fit(), anchor)]

    def crosstable(self) -> dict[tuple[str, str], Cell]:
        """By (row, column), for every two bots that have met."""
        cells = {}
        for (one, other), pair in self._pairs.items():
            cells[one, other] = pair.cell()
            cells[other, one] = pair.mirrored()
        return cells

    def seats(self) -> Iterator[SeatStanding]:
        """How each seat fared: with all bots, then with each of them."""
        for size, seat in sorted({key[:2] for key in self._seats}):
            bots = {bot: tally for (*place, bot), tally in self._seats.items() if place == [size, seat]}
            yield _SeatTally.of(bots.values()).standing(size, seat, None)
            for bot, tally in sorted(bots.items()):
                yield tally.standing(size, seat, bot)

    def _check(self, played: Played) -> None:
        name = f"match {played.order.hex()} cannot be counted"
        if len(played.scores) != len(played.bots):
            raise RatingError(
                f"{name}: it has {len(played.scores)} scores for {len(played.bots)} bots; give one per seat"
            )
        if not all(math.isfinite(score) for score in played.scores):
            raise RatingError(f"{name}: scores {played.scores} are not all finite; correct its record")
        if self._blocks.left(played.block):
            raise RatingError(
                f"{name}: block {played.block} was left before, and the error of a share needs the matches "
                "of a block together; add them in succession"
            )

    def _standing(self, skill: Judgement) -> Standing:
        tally = self._tallies[skill.bot]
        return Standing(
            skill=skill,
            matches=tally.matches,
            wins=tally.wins,
            draws=tally.draws,
            losses=tally.matches - tally.wins - tally.draws,
            mean_rank=tally.ranks / tally.matches,
            mean_score=tally.scores / tally.matches,
            points=tally.halves / (2 * tally.opponents),
        )


def _halves(rank: int, other: int) -> int:
    """Half points of a bot against another: 2 above, 1 tied, 0 below. Integers keep the sums exact."""
    return 1 + (rank < other) - (rank > other)


@dataclass(slots=True)
class _Tally:
    matches: int = 0
    wins: int = 0
    draws: int = 0
    ranks: int = 0
    scores: float = 0
    halves: int = 0
    opponents: int = 0

    def add(self, played: Played, seat: int) -> int:
        """Count a match; the half points of the bot against its opponents."""
        rank = played.ranks[seat]
        self.matches += 1
        self.wins += rank == 1 and played.ranks.count(1) == 1
        self.draws += rank == 1 and played.ranks.count(1) > 1
        self.ranks += rank
        self.scores += played.scores[seat]
        # The bot itself counts as tied, which is one half too many.
        halves = sum(_halves(rank, other) for other in played.ranks) - 1
        self.halves += halves
        self.opponents += len(played.ranks) - 1
        return halves


@dataclass(slots=True)
class _SeatTally:
    """Half points against the opponents from a seat: number of matches, sum and sum of squares."""

    matches: int = 0
    sum: int = 0
    squares: int = 0

    @classmethod
    def of(cls, tallies: Iterable[_SeatTally]) -> _SeatTally:
        """Several together."""
        whole = cls()
        for tally in tallies:
            whole.matches += tally.matches
            whole.sum += tally.sum
            whole.squares += tally.squares
        return whole

    def add(self, halves: int) -> None:
        self.matches += 1
        self.sum += halves
        self.squares += halves * halves

    def standing(self, seats: int, seat: int, bot: str | None) -> SeatStanding:
        whole, n = 2 * (seats - 1), self.matches
        error = None
        if n > 1:
            # In integers, so that it is never below 0 by rounding.
            error = math.sqrt((n * self.squares - self.sum**2) / (n - 1)) / (whole * n)
        return SeatStanding(seats, seat, bot, n, self.sum / (whole * n), error)


@dataclass(slots=True)
class Pair:
    """Half points of one bot against another, with what the error of their share needs.

    With s half points in n matches of a block, the share of all is p = S / 2N for S = sum s and
    N = sum n. It is a ratio of sums over B blocks, so (W. G. Cochran, "Sampling Techniques", ch. 6)
    its variance is B/(B-1) * sum (s/2 - p n)² / N². If all blocks have the same n, this is the
    variance of the blocks' means, divided by B.
    """

    block: int | None = None
    blocks: int = 0
    n: int = 0
    s: int = 0
    total_n: int = 0
    total_s: int = 0
    sum_nn: int = 0
    sum_ns: int = 0
    sum_ss: int = 0

    @classmethod
    def of(cls, blocks: int, total_n: int, total_s: int, sum_nn: int, sum_ns: int, sum_ss: int) -> Pair:
        """Of whole blocks that were counted already."""
        return cls(
            blocks=blocks, total_n=total_n, total_s=total_s, sum_nn=sum_nn, sum_ns=sum_ns, sum_ss=sum_ss
        )

    def add(self, block: int, halves: int) -> None:
        """Count a match of a block; matches of a block come in succession."""
        if block != self.block:
            self.block, self.n, self.s = block, 0, 0
            self.blocks += 1
        # The sums always include the open block: what changes is n² to (n+1)², and so on.
        self.sum_nn += 2 * self.n + 1
        self.sum_ns += self.n * halves + self.s + halves
        self.sum_ss += (2 * self.s + halves) * halves
        self.n += 1
        self.s += halves
        self.total_n += 1
        self.total_s += halves

    def cell(self) -> Cell:
        """From the side of the bot whose half points were added."""
        return Cell(self.total_s / (2 * self.total_n), self._error(), self.total_n)

    def mirrored(self) -> Cell:
        """The same from the other bot's side."""
        return Cell(1 - self.total_s / (2 * self.total_n), self._error(), self.total_n)

    def _error(self) -> float | None:
        if self.blocks < 2:
            return None
        n, s = self.total_n, self.total_s
        # sum (s N - S n)²: in integers, so that it is never below 0 by rounding.
        squares = self.sum_ss * n * n - 2 * self.sum_ns * n * s + self.sum_nn * s * s
        return math.sqrt(self.blocks / (self.blocks - 1) * squares) / (2 * n * n)


@dataclass(slots=True)
class _Blocks:
    """Which block is open, and which were left; in little memory if blocks come roughly in order."""

    open: int | None = None
    below: int = 0
    """Every block below this was left."""
    beyond: set[int] = field(default_factory=set)
    """Blocks at or above `below` that were left."""

    def left(self, block: int) -> bool:
        return block != self.open and (0 <= block < self.below or block in self.beyond)

    def enter(self, block: int) -> None:
        if block == self.open:
            return
        if self.open is not None:
            self.beyond.add(self.open)
        self.open = block
        while self.below in self.beyond:
            self.beyond.remove(self.below)
            self.below += 1
