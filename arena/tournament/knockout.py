"""Knock-outs: whoever loses goes home, at once or after a second loss.

Tables: the better half of a table goes on (K//2 of K bots, one at least), by points over its deals. The
last K bots play the final, and its winner wins. Before it, a round stops at the next full field, which is
one that can be halved down to the final without a bye: 2, 4, 8, 16... at tables of two, 4, 8, 16... at
tables of four. So as many tables play, and send home as many, as it takes to get there, and the others
have a bye.

Seeding: as drawn from the tournament's seed, best first. It deals out byes (fewest byes first, then the best
seeded) and tables: the best seeded sit at different tables, in a snake, in each round anew.

Ties: bots that are tied for going on, or for winning, play one more deal with their table, EXTRA_DEALS
times at most. Then the better seeded is ahead.

Places: who goes home in the same round shares a place; the final's bots are placed by their points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import ceil

from arena.tournament.formats import Plan
from arena.tournament.rounds import Course, Rounds, Step, TableResult, Talk
from arena.tournament.schedule import stream
from arena.tournament.scores import Scores

EXTRA_DEALS = 5
"""Deals at most that a table plays beyond its own because of a tie."""


class _Knockouts(Rounds, ABC):
    """What both kinds share."""

    @abstractmethod
    def _course(self, plan: Plan) -> _Field:
        """A new course of a plan."""

    def course(self) -> Course:
        """A new course."""
        return self._course(self.plan)

    @property
    def matches(self) -> int:
        """As many as there are if all tables are tied to the end."""
        tables = self._course(self.plan).most_tables()
        return tables * (self.plan.deals + EXTRA_DEALS) * self.seatings


class Knockout(_Knockouts):
    """Single elimination.

    Args:
        plan: bots, seats, and deals at each table.

    Raises:
        ScheduleError: it makes no tournament.
    """

    def _course(self, plan: Plan) -> _Field:
        return _Single(plan)


class DoubleKnockout(_Knockouts):
    """Double elimination: an upper bracket, and a lower one for those who lost once.

    Both play at the same time. The upper bracket ends with the better half of a table, the lower one
    with as many as fill the grand final's table besides them. If a bot of the upper bracket wins that, it
    wins; if not, all in it have lost once, and it is played once more.

    If at the end too few are left in the lower bracket for a table, the last seeded of the upper bracket take
    the empty seats as guests, who have nothing to lose.

    Args:
        plan: bots, seats, and deals at each table.

    Raises:
        ScheduleError: it makes no tournament.
    """

    def _course(self, plan: Plan) -> _Field:
        return _Double(plan)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How a table ended.

    Attributes:
        order: its bots, best first; guests are left out.
        points: half points by bot.
    """

    order: list[int]
    points: Counter[int]

    def groups(self) -> list[list[int]]:
        """The winner, then the others by points: those with as many share a place."""
        others = groupby(self.order[1:], key=self.points.__getitem__)
        return [self.order[:1], *(list(group) for _, group in others)]


class _Field(ABC):
    """The bots of a knock-out, who is still in, and who went home when."""

    def __init__(self, plan: Plan) -> None:
        self._deals = plan.deals
        self._bots, self._seats = plan.bots, plan.seats
        self._half = plan.seats // 2
        self._drawn = list(range(plan.bots))
        stream(plan.seed, b"draw").shuffle(self._drawn)
        self._seed = {bot: place for place, bot in enumerate(self._drawn)}
        self._byes = Counter(dict.fromkeys(range(plan.bots), 0))
        self._home: list[list[int]] = []
        self._final: list[list[int]] = []

    @abstractmethod
    def converse(self) -> Talk[None]:
        """The conversation."""

    @abstractmethod
    def most_tables(self) -> int:
        """The most tables, without those of extra deals."""

    def places(self) -> list[list[int]]:
        """Those who are still in share the first place until the final is over."""
        home = {bot for group in self._home for bot in group}
        still_in = [bot for bot in self._drawn if bot not in home]
        return [*(self._final or [still_in]), *reversed(self._home)]

    def _cuts(self, size: int, goal: int) -> list[int]:
        """How many bots each table of a round sends home.

        Args:
            size: bots that are in.
            goal: bots to which their number is brought down in the end.
        """
        target = full = goal
        while full < size:
            target = full
            full = self._seats if full < self._seats else self._seats * (full // self._half)
        most = self._seats - self._half
        tables = min(size // self._seats, ceil((size - target) / most))
        home = min(size - target, tables * most)
        return [home // tables + (table < home % tables) for table in range(tables)]

    def _paired(self, bots: Sequence[int], tables: int) -> list[tuple[int, ...]]:
        """So many tables of these bots; the others have a bye."""
        seeded = self._seeded(bots)
        resting = sorted(seeded, key=self._byes.__getitem__)[: len(bots) - tables * self._seats]
        playing = [bot for bot in seeded if bot not in resting]
        rows = [playing[begin : begin + tables] for begin in range(0, len(playing), tables)]
        snake = [row[::-1] if number % 2 else row for number, row in enumerate(rows)]
        return list(zip(*snake, strict=True))

    def _seeded(self, bots: Iterable[int]) -> list[int]:
        return sorted(bots, key=self._seed.__getitem__)

    def _contest(
        self,
        ahead: Sequence[int],
        seat: Callable[[], Sequence[tuple[int, ...]]],
        guests: Collection[int] = (),
        favoured: Collection[int] = (),
    ) -> Talk[list[_Outcome]]:
        """Play tables until it is decided who goes on at each.

        Args:
            ahead: by table, how many go on.
            seat: says who sits there.
            guests: bots that fill seats and are not counted.
            favoured: bots that are ahead of the others if extra deals do not help.
        """
        results = yield Step(len(ahead), self._deals, seat)
        scores = [Scores(result.played) for result in results]

        def outcome(table: int) -> _Outcome:
            points = scores[table].points
            order = [bot for bot in self._seeded(results[table].bots) if bot not in guests]
            order.sort(key=lambda bot: (-points[bot], bot not in favoured))
            return _Outcome(order, points)

        def is_tied(table: int) -> bool:
            found, last = outcome(table), ahead[table] - 1
            return found.points[found.order[last]] == found.points[found.order[last + 1]]

        for _ in range(EXTRA_DEALS):
            tied = [table for table in range(len(ahead)) if is_tied(table)]
            if not tied:
                break
            more = yield Step(len(tied), 1, partial(_bots_of, results, tied))
            for table, result in zip(tied, more, strict=True):
                scores[table].add(result.played[0])
        return [outcome(table) for table in range(len(ahead))]

    def _rest(self, bots: Iterable[int], outcomes: Sequence[_Outcome]) -> None:
        """Note who of these bots had a bye."""
        self._byes.update(set(bots).difference(*(outcome.order for outcome in outcomes)))


def _bots_of(results: Sequence[TableResult], tables: Sequence[int]) -> list[tuple[int, ...]]:
    return [results[table].bots for table in tables]


def _losers(outcomes: Sequence[_Outcome], cuts: Sequence[int]) -> set[int]:
    """The last of each table."""
    return {bot for outcome, cut in zip(outcomes, cuts, strict=True) for bot in outcome.order[-cut:]}


class _Single(_Field):
    def converse(self) -> Talk[None]:
        """Round by round, then the final."""
        still_in = list(self._drawn)
        while len(still_in) > self._seats:
            cuts = self._cuts(len(still_in), self._seats)
            ahead = [self._seats - cut for cut in cuts]
            outcomes = yield from self._contest(ahead, partial(self._paired, still_in, len(cuts)))
            self._rest(still_in, outcomes)
            losers = _losers(outcomes, cuts)
            self._home.append(self._seeded(losers))
            still_in = [bot for bot in still_in if bot not in losers]
        (final,) = yield from self._contest([1], lambda: [tuple(still_in)])
        self._final = final.groups()

    def most_tables(self) -> int:
        """One for each round's tables, and the final."""
        tables, size = 1, self._bots
        while size > self._seats:
            cuts = self._cuts(size, self._seats)
            tables += len(cuts)
            size -= sum(cuts)
        return tables


@dataclass(frozen=True, slots=True)
class _Brackets:
    """One round of both brackets.

    Attributes:
        upper: by table of the upper bracket, how many lose.
        lower: by table of the lower one.
        guests: seats that the lower bracket cannot fill.
    """

    upper: list[int]
    lower: list[int]
    guests: int


class _Double(_Field):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._finalists = plan.seats - self._half  # of the lower bracket

    def converse(self) -> Talk[None]:
        """Both brackets at once, round by round, then the grand final, twice if need be."""
        upper, lower = list(self._drawn), list[int]()
        while (cuts := self._brackets(len(upper), len(lower))) is not None:
            outcomes = yield from self._both(upper, lower, cuts)
            tables = len(cuts.upper)
            down = _losers(outcomes[:tables], cuts.upper)
            home = _losers(outcomes[tables:], cuts.lower)
            self._rest(upper if tables else (), outcomes[:tables])
            self._rest(lower if cuts.lower else (), outcomes[tables:])
            if home:
                self._home.append(self._seeded(home))
            upper = [bot for bot in upper if bot not in down]
            lower = [bot for bot in lower if bot not in home] + self._seeded(down)
        finalists = (*upper, *lower)
        (final,) = yield from self._contest([1], lambda: [finalists], favoured=upper)
        if final.order[0] not in upper:
            (final,) = yield from self._contest([1], lambda: [finalists])
        self._final = final.groups()

    def _both(self, upper: list[int], lower: list[int], cuts: _Brackets) -> Talk[list[_Outcome]]:
        guests = self._seeded(upper)[len(upper) - cuts.guests :]

        def seat() -> list[tuple[int, ...]]:
            return [
                *(self._paired(upper, len(cuts.upper)) if cuts.upper else ()),
                *(self._paired([*lower, *guests], len(cuts.lower)) if cuts.lower else ()),
            ]

        ahead = [self._seats - cut for cut in [*cuts.upper, *cuts.lower]]
        if guests:
            ahead = [self._finalists]
        return (yield from self._contest(ahead, seat, guests))

    def _brackets(self, upper: int, lower: int) -> _Brackets | None:
        """What both brackets do next; None: the grand final."""
        above = self._cuts(upper, self._half) if upper > self._half else []
        if lower >= self._seats:
            return _Brackets(above, self._cuts(lower, self._finalists), 0)
        if above:
            return _Brackets(above, [], 0)
        if lower > self._finalists:
            return _Brackets([], [lower - self._finalists], self._seats - lower)
        return None

    def most_tables(self) -> int:
        """Those of all rounds, and the grand final twice."""
        tables, upper, lower = 2, self._bots, 0
        while (cuts := self._brackets(upper, lower)) is not None:
            tables += len(cuts.upper) + len(cuts.lower)
            upper -= sum(cuts.upper)
            lower += sum(cuts.upper) - sum(cuts.lower)
        return tables
