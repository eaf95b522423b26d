"""A ladder that runs on: a league has rounds for ever, and bots come and go between them.

Standing: bots stand on rungs, at first as they came. After each block its bots take the rungs that they had
among them in the order of their points there; equal points change nothing. New bots begin at the bottom.

Who plays: a bot that has played fewer blocks than the median of all gets a table with those others that have
played least, among equals with those near it; while there are such bots, theirs are the only tables.
Otherwise everybody plays, and those who played most rest if tables do not take in all.

Who meets whom: neighbours on the ladder, as long as no two have met over SLACK tables more or less than they
would have if everybody met everybody equally often; else those first who have met too little.

Bots of one owner never sit at one table, so no more of them play in a round than it has tables; those of them
who have played most rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import median_low
from typing import Any

from arena.tournament.formats import ENDLESS, Plan, PlayedTable
from arena.tournament.pairing import seat_tables
from arena.tournament.rounds import blocks_of
from arena.tournament.schedule import ScheduleError, Table, check_plan, stream
from arena.tournament.scores import Scores

SLACK = 2
"""How many tables more or fewer than evenly two bots may share before that counts."""


class Ladder:
    """Rounds without an end.

    Args:
        plan: all bots that ever were, those that retired, seats, and deals at each table of a round.

    Raises:
        ScheduleError: fewer than two seats, fewer bots than seats, or no deal.
    """

    adaptive = True
    matches = ENDLESS

    def __init__(self, plan: Plan) -> None:
        check_plan(plan.bots, plan.seats, plan.deals)
        self._active = [bot for bot in range(plan.bots) if bot not in plan.retired]
        self._plan = plan
        self.seatings = plan.seats if plan.rotate else 1

    @property
    def settings(self) -> Mapping[str, Any]:
        """Deals at each table."""
        return {"deals": self._plan.deals}

    def round(self, number: int, played: Sequence[PlayedTable]) -> Sequence[Table]:
        """The next round of those that have not retired.

        Raises:
            ScheduleError: they do not fill a table.
        """
        check_plan(len(self._active), self._plan.seats, self._plan.deals)
        check_owners(self._active, self._plan)
        history = _History(self._plan, self._active, played)
        groups = history.catching_up() or seat_tables(
            history.playing(),
            self._plan.seats,
            history.excess,
            history.apart,
            stream(self._plan.seed, b"round %d" % number),
            self._plan.owners,
        )
        tables: list[Table] = []
        first = played[-1].table.block + 1 if played else 0
        for group in groups:
            tables += blocks_of(self._plan, group, self._plan.deals, first + len(tables))
        return tables

    def places(self, played: Sequence[PlayedTable]) -> list[list[int]]:
        """The ladder from the top, without those that have retired."""
        rungs = _History(self._plan, self._active, played).rungs
        return [[bot] for bot in rungs if bot in self._active]


def check_owners(active: Sequence[int], plan: Plan) -> None:
    """Whether one table can be filled without two bots of one owner.

    Raises:
        ScheduleError: it cannot.
    """
    if not _tables(active, plan):
        raise ScheduleError(
            f"{len(active)} bots of too few owners cannot fill {plan.seats} seats, where no two of one meet; "
            "add bots of others, or house bots"
        )


def _tables(active: Sequence[int], plan: Plan) -> int:
    """The most tables that can be filled at once."""
    sizes = Counter(plan.owners[bot] for bot in active if bot in plan.owners)
    free = len(active) - sizes.total()
    tables = len(active) // plan.seats
    # They can be dealt out to so many tables if enough are left when no owner has more than one at each.
    while tables and free + sum(min(size, tables) for size in sizes.values()) < tables * plan.seats:
        tables -= 1
    return tables


class _History:
    """What was played so far.

    Attributes:
        rungs: all bots from the top, also those that have retired.
    """

    def __init__(self, plan: Plan, active: Sequence[int], played: Sequence[PlayedTable]) -> None:
        self._plan = plan
        self._active = active
        self.rungs = list(range(plan.bots))
        self._blocks = Counter(dict.fromkeys(range(plan.bots), 0))
        self._met: Counter[tuple[int, int]] = Counter()
        for each in played:
            self._add(each)
        self._rung = {bot: place for place, bot in enumerate(self.rungs)}

    def _add(self, played: PlayedTable) -> None:
        bots = set(played.table.seatings[0])
        self._blocks.update(bots)
        self._met.update(combinations(sorted(bots), 2))
        points = Scores([played]).points
        places = [place for place, bot in enumerate(self.rungs) if bot in bots]
        order = sorted((self.rungs[place] for place in places), key=lambda bot: -points[bot])
        for place, bot in zip(places, order, strict=True):
            self.rungs[place] = bot

    def apart(self, one: int, other: int) -> int:
        """How far two bots are apart on the ladder, squared."""
        return (self._rung[one] - self._rung[other]) ** 2

    def excess(self, one: int, other: int) -> int:
        """How many tables more than evenly two bots have shared; fewer are negative, the slack is 0."""
        even = min(self._blocks[one], self._blocks[other]) * (self._plan.seats - 1) // (len(self._active) - 1)
        more = (self._met[min(one, other), max(one, other)] - even) // self._plan.deals
        return more - max(-SLACK, min(SLACK, more))

    def playing(self) -> list[int]:
        """Everybody but those who rest, from the top of the ladder."""
        tables = _tables(self._active, self._plan)
        of_owner: Counter[str] = Counter()
        playing: set[int] = set()
        for bot in sorted(self._active, key=lambda bot: (self._blocks[bot], bot)):
            owner = self._plan.owners.get(bot)
            if len(playing) < tables * self._plan.seats and (owner is None or of_owner[owner] < tables):
                playing.add(bot)
                of_owner.update([owner] if owner is not None else [])
        return [bot for bot in self.rungs if bot in playing]

    def catching_up(self) -> list[tuple[int, ...]]:
        """A table for each bot that is behind, as far as there are others for it."""
        median = median_low([self._blocks[bot] for bot in self._active])
        behind = [bot for bot in self._active if self._blocks[bot] < median]
        free = list(self._active)
        groups = []
        for bot in sorted(behind, key=self._blocks.__getitem__):
            if bot not in free:
                continue
            group = (bot, *self._companions(bot, free))
            if len(group) == self._plan.seats:
                free = [other for other in free if other not in group]
                groups.append(group)
        return groups

    def _companions(self, bot: int, free: Sequence[int]) -> list[int]:
        def rank(other: int) -> tuple[int, int, int, int]:
            return self._blocks[other], self.excess(bot, other), self.apart(bot, other), other

        chosen: list[int] = []
        owners = {self._plan.owners.get(bot)} - {None}
        for other in sorted(free, key=rank):
            owner = self._plan.owners.get(other)
            if other != bot and owner not in owners and len(chosen) < self._plan.seats - 1:
                chosen.append(other)
                owners |= {owner} - {None}
        return chosen
