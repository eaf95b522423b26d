"""Formats of several rounds, each written as a conversation.

Such a format names the tables of a round, is told how they went, and goes on from there. What it is told is
what was stored, so a run that was stopped has the same conversation again up to where it was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from arena.tournament.formats import Plan, PlayedTable
from arena.tournament.schedule import RoundRobin, ScheduleError, Table, check_plan

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be played at once.

    Attributes:
        tables: how many.
        deals: at each of them.
        seat: says who sits at each; asked only if that is not decided and stored already.
    """

    tables: int
    deals: int
    seat: Callable[[], Sequence[tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class TableResult:
    """What was played at a table in one step: who sat there as stored, and how it went."""

    played: Sequence[PlayedTable]

    @property
    def bots(self) -> tuple[int, ...]:
        """Who sat there, by index."""
        return tuple(sorted(self.played[0].table.seatings[0]))


Talk: TypeAlias = Generator[Step, Sequence[TableResult], T]
"""Yields what is to be played, is sent how it went, and comes to something."""


class Course(Protocol):
    """One course of a tournament, from its first round on."""

    def converse(self) -> Talk[None]:
        """The conversation; what it was told shows in the places."""
        ...

    def places(self) -> list[list[int]]:
        """The places as they are, best first; bots in one group share theirs."""
        ...


class Rounds(ABC):
    """A format of several rounds.

    Args:
        plan: bots, seats, deals at each table, and settings.

    Raises:
        ScheduleError: it makes no tournament.
    """

    adaptive = True

    def __init__(self, plan: Plan) -> None:
        check_plan(plan.bots, plan.seats, plan.deals)
        if plan.bots == plan.seats:
            raise ScheduleError(
                f"{plan.bots} bots at {plan.seats} seats are one table, and there is nothing to pair; "
                "add bots, play with fewer seats, or play a round-robin"
            )
        self.plan = plan
        self.seatings = plan.seats if plan.rotate else 1

    @property
    @abstractmethod
    def matches(self) -> int:
        """The most that there can be."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its own, with their defaults."""
        return {"deals": self.plan.deals}

    @abstractmethod
    def course(self) -> Course:
        """A new course from the beginning."""

    def round(self, number: int, played: Sequence[PlayedTable]) -> Sequence[Table]:
        """The tables that the conversation comes to after these results."""
        _, step = self._follow(played)
        tables: list[Table] = []
        if step is not None:
            for bots in step.seat():
                tables += blocks_of(self.plan, bots, step.deals, len(played) + len(tables))
        return tables

    def places(self, played: Sequence[PlayedTable]) -> list[list[int]]:
        """The places that these results give."""
        return self._follow(played)[0].places()

    def _follow(self, played: Sequence[PlayedTable]) -> tuple[Course, Step | None]:
        """A course up to the end of these results, and the step that it comes to; None if it is over."""
        course = self.course()
        talk = course.converse()
        begin = 0
        with suppress(StopIteration):
            step = next(talk)
            while begin + step.tables * step.deals <= len(played):
                firsts = range(begin, begin + step.tables * step.deals, step.deals)
                results = [TableResult(played[first : first + step.deals]) for first in firsts]
                begin += step.tables * step.deals
                step = talk.send(results)
            return course, step
        return course, None


def blocks_of(plan: Plan, bots: tuple[int, ...], deals: int, first: int) -> list[Table]:
    """The blocks of a table: all cyclic orders of its bots equally often, as far as the deals go.

    Args:
        plan: seats, seed and rotations.
        bots: who sits there.
        deals: how many blocks.
        first: index of the first of them, and of its deal.
    """
    full = RoundRobin(plan.seats, plan.seats, deals, plan.seed + b"\0%d" % first, plan.rotate)
    return [
        Table(
            first + table.block,
            first + table.deal,
            tuple(tuple(bots[place] for place in seating) for seating in table.seatings),
        )
        for table in full
    ]
