"""Swiss: in every round everybody plays at a table of bots that did about as well, and new ones if possible.

Points: at a table a bot gets the share of opponents that it outranked, ties half, as a mean over the matches
there: 0 to 1, and the mean of a table is always a half.

Byes: if tables do not take in all bots, those with the fewest points sit out, among those with the fewest
byes so far. A bye scores a half, as much as an average bot gets.

Places: by points; then by the sum of the points of all opponents met, in which a bye counts as opponents with
half of the points that there were to get; then by how far a bot is ahead of those that are tied with it in
their own meetings; then as drawn from the seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from math import ceil, log2
from typing import Any

from arena.tournament.formats import Plan
from arena.tournament.pairing import seat_tables
from arena.tournament.rounds import Course, Rounds, Step, TableResult, Talk
from arena.tournament.schedule import ScheduleError, stream
from arena.tournament.scores import Scores


class Swiss(Rounds):
    """Swiss. Settings: rounds, by default two more than it takes to halve the bots down to one.

    Args:
        plan: bots, seats, deals at each table of a round, and settings.

    Raises:
        ScheduleError: it makes no tournament.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        rounds = plan.settings.get("rounds")
        self.rounds: int = ceil(log2(plan.bots)) + 2 if rounds is None else rounds
        if self.rounds < 1:
            raise ScheduleError(f"{self.rounds} rounds are no tournament; ask for 1 or more")

    @property
    def matches(self) -> int:
        """All that there are: none is decided away."""
        tables = self.plan.bots // self.plan.seats
        return self.rounds * tables * self.plan.deals * self.seatings

    @property
    def settings(self) -> Mapping[str, Any]:
        """Rounds, and deals at each table."""
        return {"rounds": self.rounds, "deals": self.plan.deals}

    def course(self) -> Course:
        """A new course."""
        return _Course(self.plan, self.rounds)


class _Course:
    def __init__(self, plan: Plan, rounds: int) -> None:
        self._plan = plan
        self._rounds = rounds
        self._drawn = list(range(plan.bots))
        stream(plan.seed, b"draw").shuffle(self._drawn)
        self._scores = Scores()
        self._opponents: list[list[int]] = [[] for _ in range(plan.bots)]
        self._byes = Counter(dict.fromkeys(range(plan.bots), 0))
        # Half points of one opponent outranked in all matches of a table: a table's mean is half the most.
        matches = plan.deals * (plan.seats if plan.rotate else 1)
        self._even = matches * (plan.seats - 1)

    def converse(self) -> Talk[None]:
        """Round by round."""
        tables = self._plan.bots // self._plan.seats
        for number in range(self._rounds):
            results = yield Step(tables, self._plan.deals, partial(self._pair, number))
            self._take(results)

    def places(self) -> list[list[int]]:
        """Each bot has a place of its own."""
        return [[bot] for bot in self._ranking()]

    def _take(self, results: Sequence[TableResult]) -> None:
        resting = set(range(self._plan.bots))
        for result in results:
            resting -= set(result.bots)
            self._scores.meet(result.bots)
            for played in result.played:
                self._scores.add(played)
            for bot in result.bots:
                self._opponents[bot] += [other for other in result.bots if other != bot]
        for bot in resting:
            self._byes[bot] += 1
            self._scores.points[bot] += self._even

    def _ranking(self) -> list[int]:
        """All bots, best first."""
        drawn = {bot: place for place, bot in enumerate(self._drawn)}
        points = self._scores.points
        by_points = sorted(self._drawn, key=lambda bot: (-points[bot], -self._buchholz(bot)))
        ranking: list[int] = []
        for _, tied in groupby(by_points, key=lambda bot: (points[bot], self._buchholz(bot))):
            group = list(tied)
            ranking += sorted(group, key=lambda bot: (-self._scores.direct(bot, group), drawn[bot]))
        return ranking

    def _buchholz(self, bot: int) -> int:
        """Half points of all opponents that it met; a bye counts as opponents that are even."""
        met = sum(self._scores.points[other] for other in self._opponents[bot])
        rounds = (len(self._opponents[bot]) // (self._plan.seats - 1)) + self._byes[bot]
        return met + self._byes[bot] * (self._plan.seats - 1) * rounds * self._even

    def _pair(self, number: int) -> list[tuple[int, ...]]:
        order = sorted(self._drawn, key=lambda bot: -self._scores.points[bot])
        resting = set(self._resting(order))
        playing = [bot for bot in order if bot not in resting]
        points, met = self._scores.points, self._scores.met
        return seat_tables(
            playing,
            self._plan.seats,
            met=lambda one, other: met[frozenset((one, other))],
            apart=lambda one, other: (points[one] - points[other]) ** 2,
            random=stream(self._plan.seed, b"round %d" % number),
        )

    def _resting(self, order: Sequence[int]) -> list[int]:
        """Who sits out: the fewest byes first, then the fewest points, then the last of the draw."""
        place = {bot: number for number, bot in enumerate(order)}
        few = sorted(order, key=lambda bot: (self._byes[bot], -place[bot]))
        return few[: len(order) % self._plan.seats]
