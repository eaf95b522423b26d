"""Formats: what decides which tables are played, from the results so far and nothing else.

A format with a fixed schedule is one round, made lazily. Any other decides its rounds one after the
other; what it decided is stored before it is played, and then counts as it was stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any, Protocol, runtime_checkable

from arena.tournament.schedule import RoundRobin, ScheduleError, Table

DEFAULT_FORMAT = "round-robin"
UNTIL = "until"
COMPARE = "compare"
ALL_SETS = "all"
"""Value of the setting "sets" of a round robin that goes through all tables that there can be."""
LADDER = "ladder"
"""The format of leagues."""
ENDLESS = 2**62
"""Number of matches of a format that never ends."""
MOST_MATCHES = 5_000
"""Matches of one pass over all sets of bots up to which they are gone through."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a format is made from.

    Attributes:
        bots: how many there are, N; a format knows them as 0..N-1.
        seats: at one table, K.
        deals: wanted; what they are counted by is the format's business.
        seed: of the tournament.
        rotate: whether a deal is played in all rotations of its seating.
        settings: the format's own, such as {"rounds": 5}; what is missing or None has its default.
        retired: those of the bots that play no further round.
        owners: whose a bot is, by its index: a ladder seats no two bots of one owner at one table. Who is not
            there is nobody's.
    """

    bots: int
    seats: int
    deals: int
    seed: bytes
    rotate: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    retired: Collection[int] = ()
    owners: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlayedTable:
    """A table all of whose matches are stored.

    Attributes:
        table: who sat where.
        ranks: per seating the ranks by seat, 1 the best; None for a void match, which is not rated.
    """

    table: Table
    ranks: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Outlook:
    """How near a tournament is to an answer.

    Attributes:
        text: a few words for people.
        matches: that are about to go, as an estimate; None if that cannot be told.
    """

    text: str
    matches: int | None


@runtime_checkable
class Stopping(Protocol):
    """A format that ends as soon as it has an answer."""

    @property
    def outlook(self) -> Outlook | None:
        """As of the last round that was decided; None before there is anything to tell."""
        ...


class Format(Protocol):
    """Decides which tables are played."""

    @property
    def seatings(self) -> int:
        """Matches per block."""
        ...

    @property
    def matches(self) -> int:
        """Matches in all; of an adaptive format the most that there can be."""
        ...

    @property
    def adaptive(self) -> bool:
        """Whether a round depends on the results of those before it.

        If not, there is one round, which does not look at results, and nothing is stored of it but what
        it is made from.
        """
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its own settings with their defaults filled in, as plain data for JSON.

        Those of an adaptive format hold the deals that it was given, as "deals".
        """
        ...

    def round(self, number: int, played: Sequence[PlayedTable]) -> Sequence[Table]:
        """The tables of a round, numbered from 0; none when the tournament is over.

        Its blocks and deals are numbered on from those played.

        Args:
            number: of the round, from 0.
            played: all tables of the rounds before, in the order of their blocks.
        """
        ...

    def places(self, played: Sequence[PlayedTable]) -> list[list[int]]:
        """The format's own final places, best first: bots in one group share theirs.

        Empty if it has none of its own: then the ratings alone say who is better.
        """
        ...


def _round_robin(plan: Plan) -> Format:
    if plan.settings.get("sets") == ALL_SETS:
        from arena.tournament.complete import CompleteRoundRobin

        return CompleteRoundRobin(plan.bots, plan.seats, plan.deals, plan.seed, plan.rotate)
    return RoundRobin(plan.bots, plan.seats, plan.deals, plan.seed, plan.rotate)


def _until(plan: Plan) -> Format:
    from arena.tournament.adaptive import Until

    return Until(plan)


def _compare(plan: Plan) -> Format:
    from arena.tournament.versions import Compare

    return Compare(plan)


def _gauntlet(plan: Plan) -> Format:
    from arena.tournament.gauntlet import Gauntlet

    return Gauntlet(plan)


def _swiss(plan: Plan) -> Format:
    from arena.tournament.swiss import Swiss

    return Swiss(plan)


def _knockout(plan: Plan) -> Format:
    from arena.tournament.knockout import Knockout

    return Knockout(plan)


def _double_knockout(plan: Plan) -> Format:
    from arena.tournament.knockout import DoubleKnockout

    return DoubleKnockout(plan)


def _ladder(plan: Plan) -> Format:
    from arena.tournament.ladder import Ladder

    return Ladder(plan)


def is_complete(bots: int, seats: int, deals: int, rotate: bool) -> bool:
    """Whether a round robin goes through all sets of bots: if they are few and the deals reach them all."""
    if not 2 <= seats < bots:
        return False
    sets = comb(bots, seats)
    return deals >= sets and sets * (seats if rotate else 1) <= MOST_MATCHES


FORMATS: Mapping[str, Callable[[Plan], Format]] = {
    DEFAULT_FORMAT: _round_robin,
    "gauntlet": _gauntlet,
    "swiss": _swiss,
    "knockout": _knockout,
    "double-knockout": _double_knockout,
    UNTIL: _until,
    COMPARE: _compare,
    LADDER: _ladder,
}
"""All formats by name: how each is made. One that is not there for every run is loaded when it is made."""


def make_format(name: str, plan: Plan) -> Format:
    """A format by its name.

    Raises:
        ScheduleError: there is none of this name, or the plan makes no tournament.
    """
    if name not in FORMATS:
        raise ScheduleError(f"there is no format {name!r}; use one of {', '.join(FORMATS)}")
    made = FORMATS[name](plan)
    if unknown := plan.settings.keys() - made.settings.keys():
        raise ScheduleError(f"{name} has no {' and no '.join(sorted(unknown))}; leave it out")
    return made
