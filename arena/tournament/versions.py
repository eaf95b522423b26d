"""Version against version: the same deals, seats and opponents, with only the bot in one seat swapped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from arena.ratings.compare import (
    GAIN,
    MIN_BLOCKS,
    Finding,
    SequentialTest,
    Verdict,
    find,
    outranked,
)
from arena.ratings.confidence import CONFIDENCE
from arena.ratings.stopping import GoalError
from arena.tournament.formats import Outlook, Plan, PlayedTable
from arena.tournament.gauntlet import Gauntlet
from arena.tournament.schedule import ScheduleError, Seating, Table, check_plan

GROWTH = 0.1
"""A round adds so much to what was played: the test is looked at after each."""

ROUND_BLOCKS = 16
"""Fewest blocks of a round: with fewer, workers would wait for each other more than they play."""

OLD, NEW = 0, 1


class Compare:
    """The first bot against the second, each in turn in the same seat against the rest, the field.

    A block is a deal in all rotations, each played twice in succession: with the old version, then with
    the new one. The field takes the other seats as in a gauntlet. Every round the sequential test of
    `arena.ratings.compare` looks at all blocks; it ends with its verdict, or with the last deal.

    Args:
        plan: bots, of which the first is the old version and the second the new one; deals are the most that
            there can be. Settings:
            gain: share of the opponents outranked that makes a gain; 0.01 if left out.
            confidence: how sure the verdict must be; 0.95 if left out.

    Raises:
        ScheduleError: it makes no comparison.
    """

    adaptive = True

    def __init__(self, plan: Plan) -> None:
        check_plan(plan.bots, plan.seats, plan.deals)
        if plan.bots < plan.seats + 1:
            raise ScheduleError(
                f"two versions and a field of {plan.bots - 2} cannot fill {plan.seats} seats without meeting "
                f"each other; name {plan.seats + 1 - plan.bots} more for the field, or play with fewer seats"
            )
        self.test = _test(plan)
        self._deals = plan.deals
        self._seats = Gauntlet(Plan(plan.bots - 1, plan.seats, plan.deals, plan.seed, plan.rotate))
        self.seatings = 2 * self._seats.seatings
        self.matches = plan.deals * self.seatings
        self.settings: Mapping[str, Any] = {
            "deals": plan.deals,
            "gain": self.test.gain,
            "confidence": self.test.confidence,
        }
        self.outlook: Outlook | None = None

    def round(self, number: int, played: Sequence[PlayedTable]) -> Sequence[Table]:
        """As many blocks as are worth another look."""
        finding = self.finding(played)
        self.outlook = _outlook(finding, len(played), self.seatings) if number else None
        if finding.verdict is not Verdict.UNDECIDED:
            return ()
        wanted = max(ROUND_BLOCKS, math.ceil(GROWTH * len(played))) if number else MIN_BLOCKS
        last = min(self._deals, len(played) + wanted)
        return [self.table(index) for index in range(len(played), last)]

    def places(self, played: Sequence[PlayedTable]) -> list[list[int]]:
        """None: the verdict says who is better."""
        return []

    def table(self, index: int) -> Table:
        """The block of this index: who plays it does not depend on results."""
        seatings = self._seats.table(index).seatings
        versions = product(seatings, (OLD, NEW))
        return Table(index, index, tuple(_seated(seating, version) for seating, version in versions))

    def finding(self, played: Sequence[PlayedTable]) -> Finding:
        """What is known after these results."""
        return find(list(differences(played)), self.test)


def differences(played: Sequence[PlayedTable]) -> Iterator[float]:
    """By block, by how much more of its opponents the new version outranked, in the mean of the rotations.

    A pair of matches of which one is void is left out, and so is a block without a pair.
    """
    for each in played:
        gains = [
            outranked(new, seating.index(NEW)) - outranked(old, seating.index(NEW))
            for seating, old, new in zip(
                each.table.seatings[NEW::2], each.ranks[OLD::2], each.ranks[NEW::2], strict=True
            )
            if old is not None and new is not None
        ]
        if gains:
            yield sum(gains) / len(gains)


def _seated(seating: Seating, version: int) -> Seating:
    """A table of the gauntlet with a version as the hero; the field's numbers begin after both versions."""
    return tuple(bot + 1 if bot else version for bot in seating)


def _test(plan: Plan) -> SequentialTest:
    given = {name: value for name, value in plan.settings.items() if value is not None}
    try:
        return SequentialTest(given.get("gain", GAIN), given.get("confidence", CONFIDENCE))
    except GoalError as error:
        raise ScheduleError(str(error)) from error


def _outlook(finding: Finding, blocks: int, seatings: int) -> Outlook:
    text = f"LLR {finding.llr:+.2f} of ±{finding.bound:.2f}"
    more = (finding.growth - 1) * blocks * seatings
    return Outlook(text, math.ceil(more) if math.isfinite(more) else None)
