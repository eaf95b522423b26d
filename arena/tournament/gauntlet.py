"""A gauntlet: the first bot, the hero, sits at every table, and the field takes the other seats evenly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from arena.tournament.formats import Plan, PlayedTable
from arena.tournament.schedule import RoundRobin, Seating, Table, Tables, check_plan, rotated, stream


class Gauntlet:
    """The first bot against the field.

    The field's seats are a round robin of its own: after every cycle of as many blocks as the field has bots,
    each of them has played equally often and has followed the hero equally often, and pairs of them have met
    as evenly as a round robin can have it. A field that just fills the seats goes through all cyclic orders.

    Args:
        plan: bots, of which the first is the hero, seats, and deals, which are rounded up to whole cycles.

    Attributes:
        blocks: number of blocks, after rounding.

    Raises:
        ScheduleError: fewer than two seats, fewer bots than seats, or no deal.
    """

    adaptive = False
    settings: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, plan: Plan) -> None:
        check_plan(plan.bots, plan.seats, plan.deals)
        self._seats = plan.seats
        self._field = plan.bots - 1
        self._rotate = plan.rotate
        self.seatings = plan.seats if plan.rotate else 1
        self._order = list(range(1, plan.bots))
        stream(plan.seed, b"field").shuffle(self._order)
        others = plan.seats - 1
        self._tables = RoundRobin(self._field, others, plan.deals, plan.seed, False) if others > 1 else None
        self.blocks = self._tables.blocks if self._tables else -(-plan.deals // self._field) * self._field
        self.matches = self.blocks * self.seatings

    def table(self, index: int) -> Table:
        """The block of this index; any, in any order."""
        base = (0, *self._others(index))
        # Without rotations within the block, the whole table moves on after each cycle.
        turn = 0 if self._rotate else index // self._field
        turns = range(turn, turn + self.seatings)
        return Table(index, index, tuple(rotated(base, each % self._seats) for each in turns))

    def round(self, number: int, played: Sequence[PlayedTable] = ()) -> Sequence[Table]:
        """The whole schedule is one round."""
        return () if number else Tables(self.blocks, self.table)

    def places(self, played: Sequence[PlayedTable]) -> list[list[int]]:
        """None of its own."""
        return []

    def _others(self, index: int) -> Seating:
        if self._tables is None:
            return (self._order[index % self._field],)
        (places,) = self._tables.table(index).seatings
        return tuple(self._order[place] for place in places)
