"""Play until it is decided: who is best, who are the best few, or the order of all.

After a balanced beginning, tables are given to the pairs of bots that the answer still hangs on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any

import numpy as np

from arena.ratings.confidence import CONFIDENCE
from arena.ratings.fit import fit
from arena.ratings.fold import TieRule
from arena.ratings.results import Results
from arena.ratings.stopping import TOLERANCE, Criterion, Finding, GoalError, find, parse_goal
from arena.tournament.formats import Outlook, Plan, PlayedTable
from arena.tournament.schedule import RoundRobin, ScheduleError, Seating, Table, rotated, stream

CYCLES = 2
"""Cycles of the balanced beginning: in each, every bot sits in as many blocks as there are seats."""

FIRST_BLOCKS = 16
"""Fewest blocks that every bot sits in at first: from them the luck of a deal is estimated."""

GROWTH = 0.12
"""A round adds so much to what was played: results are rated some 6 times in all for each time that the
number of matches doubles, whatever it is."""

ROUND_BLOCKS = 16
"""Fewest blocks of a round: with fewer, workers would wait for each other more than they play."""

TABLE_SHARE = 0.5
"""Most blocks of a round at which the same bots sit: who is better should not be a matter of a single
company, in which two of them may happen to suit each other."""

MATCHES_PER_BOT = 8000
"""Matches of each bot that end the tournament in any case. With the usual tolerance some 6000 close every
pair where a match says no more than who lost it, 3600 where it gives the full order."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came out.

    Attributes:
        criterion: what was asked.
        finding: what is known; bots are indices.
        matches: that it took, void ones included.
    """

    criterion: Criterion
    finding: Finding
    matches: int


class Until:
    """Tables for whoever the answer still hangs on.

    The beginning is a round robin: `CYCLES` cycles, and more until every bot sat in `FIRST_BLOCKS` blocks.
    Then, round after round, all results are rated, and the tournament is over if no pair of bots is open
    that the goal hangs on (see `arena.ratings.stopping`), or if all deals are played. Each table of a round
    is made for one such pair, drawn by the seed from those that had the fewest tables in it. The other seats
    go to bots that share open pairs with those who sit already, then to those who sat least in this
    round. The same bots fill at most `TABLE_SHARE` of a round. Every deal is played in all rotations.

    With as many bots as seats every table is the same, and all there is to decide is when to stop.

    Args:
        plan: its deals are the most that there can be. Settings:
            until: "winner", "top N" or "order".
            confidence: how sure each pair must be; 0.95 if left out.
            tolerance: rating points within which bots count as equal; 0.83 if left out.
            ties: what a shared rank says, as the game declares it; "shared" if left out.

    Raises:
        ScheduleError: it makes no tournament, or nothing can be found out like this.
    """

    adaptive = True

    def __init__(self, plan: Plan) -> None:
        self.criterion = _criterion(plan)
        self._ties = TieRule(plan.settings.get("ties") or TieRule.SHARED.value)
        self._plan = plan
        self._balanced = RoundRobin(plan.bots, plan.seats, plan.deals, plan.seed, plan.rotate)
        self.seatings = self._balanced.seatings
        self.matches = plan.deals * self.seatings
        self.settings: Mapping[str, Any] = {
            "deals": plan.deals,
            "until": str(self.criterion.goal),
            "confidence": self.criterion.confidence,
            "tolerance": self.criterion.tolerance,
            "ties": self._ties.value,
        }
        self.outlook: Outlook | None = None

    def round(self, number: int, played: Sequence[PlayedTable]) -> Sequence[Table]:
        """The balanced beginning, then what the answer needs."""
        left = self._plan.deals - len(played)
        if not number:
            return [self._balanced.table(index) for index in range(min(left, self._first_blocks()))]
        finding = self._find(played)
        self.outlook = _outlook(finding, played, self._plan.bots)
        if not finding.open:
            return ()
        blocks = min(left, max(ROUND_BLOCKS, math.ceil(GROWTH * len(played))))
        return list(self._tables(finding, len(played), blocks))

    def places(self, played: Sequence[PlayedTable]) -> list[list[int]]:
        """None of its own: the ratings say who is better, and the answer how sure that is."""
        return []

    def answer(self, played: Sequence[PlayedTable]) -> Answer:
        """What is known after these results."""
        return Answer(self.criterion, self._find(played), sum(len(each.ranks) for each in played))

    def _first_blocks(self) -> int:
        if self._plan.bots == self._plan.seats:
            return max(CYCLES, FIRST_BLOCKS)
        return max(CYCLES, -(-FIRST_BLOCKS // self._plan.seats)) * self._plan.bots

    def _find(self, played: Sequence[PlayedTable]) -> Finding:
        results = results_of(played, self._plan.bots, self._plan.seats)
        return find(fit(results, self._ties), self.criterion)

    def _tables(self, finding: Finding, first: int, blocks: int) -> Iterator[Table]:
        if self._plan.bots == self._plan.seats:
            yield from map(self._balanced.table, range(first, first + blocks))
            return
        pairs = [(pair.better, pair.worse) for pair in finding.open]
        companies = Companies(pairs, self._plan.bots, self._plan.seats, blocks)
        random = stream(self._plan.seed, b"until %d" % first)
        for index in range(first, first + blocks):
            base = companies.draw(random)
            yield Table(index, index, tuple(rotated(base, turn) for turn in range(self.seatings)))


class Companies:
    """Who sits together in a round.

    Args:
        pairs: of bots that are to meet.
        bots: how many there are.
        seats: at a table.
        blocks: of the round.
    """

    def __init__(self, pairs: Sequence[tuple[int, int]], bots: int, seats: int, blocks: int) -> None:
        self._pairs = pairs
        self._bots = bots
        self._seats = seats
        self._most = max(1, math.floor(TABLE_SHARE * blocks))
        self._partners: list[set[int]] = [set() for _ in range(bots)]
        for one, other in pairs:
            self._partners[one].add(other)
            self._partners[other].add(one)
        self._met: Counter[tuple[int, ...]] = Counter()
        self._sat: Counter[int] = Counter()
        self._tables: Counter[tuple[int, ...]] = Counter()

    def draw(self, random: Random) -> Seating:
        """The bots of the next table, by seat."""
        met = {pair: self._met[_sorted(*pair)] for pair in self._pairs}
        fewest = min(met.values())
        company = list(random.choice([pair for pair, times in met.items() if times == fewest]))
        if len(company) == self._seats and self._is_often(company):
            del company[random.randrange(2)]
        while len(company) < self._seats:
            company.append(self._next(company, random))
        self._count(company)
        random.shuffle(company)
        return tuple(company)

    def _next(self, company: Sequence[int], random: Random) -> int:
        """Who sits down with these: whom most of them wait for, then who sat least."""
        others = [bot for bot in range(self._bots) if bot not in company]
        if len(company) == self._seats - 1:
            others = [bot for bot in others if not self._is_often([*company, bot])] or others
        random.shuffle(others)
        return max(others, key=lambda bot: (self._wanted(bot, company), -self._sat[bot]))

    def _is_often(self, company: Sequence[int]) -> bool:
        return self._tables[_sorted(*company)] >= self._most

    def _wanted(self, bot: int, company: Sequence[int]) -> float:
        """For how many of a company a bot is an open question; less if they met in this round already."""
        return sum(
            1.0 / (1 + self._met[_sorted(bot, other)]) for other in company if other in self._partners[bot]
        )

    def _count(self, company: Sequence[int]) -> None:
        self._tables[_sorted(*company)] += 1
        self._sat.update(company)
        self._met.update(_sorted(*pair) for pair in combinations(company, 2))


def most_deals(bots: int, seats: int, rotate: bool = True) -> int:
    """Deals that give every bot `MATCHES_PER_BOT` matches."""
    return -(-bots * MATCHES_PER_BOT // (seats * (seats if rotate else 1)))


def results_of(played: Sequence[PlayedTable], bots: int, seats: int) -> Results:
    """What was played as ratings take it: names are the bots' indices in so many digits that they sort alike.

    Void matches are left out; bots without a match are there.
    """
    rated = [
        (seating, ranks, each.table.block)
        for each in played
        for seating, ranks in zip(each.table.seatings, each.ranks, strict=True)
        if ranks is not None
    ]
    results = Results()
    names = [f"{bot:06d}" for bot in range(bots)]
    seated = np.array([match[0] for match in rated], np.intp).reshape(-1, seats)
    ranks = np.array([match[1] for match in rated], np.intp).reshape(-1, seats)
    results.add_all(names, seated, ranks, np.array([match[2] for match in rated], np.intp))
    return results


def _criterion(plan: Plan) -> Criterion:
    given = {name: value for name, value in plan.settings.items() if value is not None}
    try:
        return Criterion(
            parse_goal(given.get("until", "winner"), plan.bots),
            given.get("confidence", CONFIDENCE),
            given.get("tolerance", TOLERANCE),
        )
    except GoalError as error:
        raise ScheduleError(str(error)) from error


def _outlook(finding: Finding, played: Sequence[PlayedTable], bots: int) -> Outlook:
    """Information on a difference grows as the matches of both bots do.

    Each bot of an open pair needs its matches times the growth that its worst pair needs; at a table as many
    bots get one as there are seats, but the busiest gets but one.
    """
    text = f"{len(finding.open)} of {len(finding.pairs)} pairs open"
    if any(math.isinf(pair.growth) for pair in finding.open):
        return Outlook(text, None)
    sat = Counter(bot for each in played for seating in each.table.seatings for bot in seating)
    needs = [0.0] * bots
    for pair in finding.open:
        for bot in (pair.better, pair.worse):
            needs[bot] = max(needs[bot], sat[bot] * (pair.growth - 1))
    seats = len(played[0].table.seatings[0])
    return Outlook(text, math.ceil(max(*needs, sum(needs) / seats)))


def _sorted(*bots: int) -> tuple[int, ...]:
    return tuple(sorted(bots))
