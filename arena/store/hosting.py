"""What a server plays by itself: tournaments and leagues with an owner, a state and terms.

    scheduled ──► waiting ◄──► running ──► finished
        │            │            │
        └────────────┼────────────┼──► paused ──► scheduled, waiting
                     └────────────┴──► failed ──► waiting
        any but finished ─────────────► cancelled

It is waiting while something is lacking that it says, or for its first turn, and running from then on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from arena.errors import StateError, TooMuchError
from arena.store.roster import PLAYABLE
from arena.store.schema import bot, bot_version, hosted, hosted_bot, hosted_day, tournament, user
from arena.store.store import NotStoredError, Store
from arena.store.stored import StoredTournament

SCHEDULED = "scheduled"
WAITING = "waiting"
RUNNING = "running"
PAUSED = "paused"
FINISHED = "finished"
CANCELLED = "cancelled"
FAILED = "failed"

BEFORE: Mapping[str, Collection[str]] = {
    WAITING: (SCHEDULED, RUNNING, PAUSED, FAILED),
    SCHEDULED: (PAUSED,),
    RUNNING: (WAITING,),
    # Blocks that were in hand when it was paused may have been the last.
    FINISHED: (WAITING, RUNNING, PAUSED),
    PAUSED: (SCHEDULED, WAITING, RUNNING),
    CANCELLED: (SCHEDULED, WAITING, RUNNING, PAUSED, FAILED),
    FAILED: (WAITING, RUNNING),
}
"""From which states each is reached."""
STATES = tuple(BEFORE)
OVER = (FINISHED, CANCELLED)
"""States that nothing leads out of."""

NONE, MIXED, ONLY = REMOTES = ("none", "mixed", "only")
"""Whether bots take part that dial in: none, those who agree to play beside others too, or nobody else."""

_MAY_PLAY = bot.c.disabled_us.is_(None) & bot_version.c.state.in_(PLAYABLE)
_DAY_US = 24 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Terms:
    """How a tournament or league is hosted.

    Attributes:
        begins_us: when, in microseconds since 1970 UTC; None: at once.
        per_day: matches per UTC day of a league; None: any number.
        rated: whether it counts for leaderboards over several tournaments.
        same_owner: whether bots of one owner may sit at one table.
        remote: whether bots take part that dial in, one of REMOTES.
        is_open: whether owners of bots may enter them into the league.
    """

    begins_us: int | None = None
    per_day: int | None = None
    rated: bool = True
    same_owner: bool = False
    remote: str = NONE
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Hosted:
    """A hosted tournament or league.

    Attributes:
        tournament: its row number.
        name: its name.
        kind: "tournament", "play", "compare" or "league".
        game: name of its game.
        owner: name of the user whose it is.
        owner_id: row number of that user.
        state: one of STATES.
        reason: of its state, in a line; may be empty.
        terms: how it is hosted.
        changed_us: when its state changed, in microseconds since 1970 UTC.
        finished_us: when all was played, or it was cancelled; None before.
    """

    tournament: int
    name: str
    kind: str
    game: str
    owner: str
    owner_id: int
    state: str
    reason: str
    terms: Terms
    changed_us: int
    finished_us: int | None


class NotHostedError(NotStoredError):
    """The server hosts no such tournament or league."""


class Hosting:
    """The hosted tournaments and leagues of a store.

    Args:
        store: where they are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(
        self,
        new: StoredTournament,
        owner: int,
        terms: Terms,
        most: int | None = None,
        bots: Sequence[int] = (),
    ) -> Hosted:
        """Store a tournament or league that is to be played.

        Args:
            new: the tournament.
            owner: row number of the user whose it is.
            terms: how it is hosted.
            most: how many that are not over one user may have; None: any number.
            bots: row numbers of the bots that enter a league.

        Raises:
            NameTakenError: its name is taken.
            TooMuchError: its owner has too many.
        """

        def host(connection: sa.Connection, number: int) -> None:
            _check_room(connection, owner, most)
            values: dict[str, Any] = {
                "tournament": number,
                "owner": owner,
                "state": WAITING if terms.begins_us is None else SCHEDULED,
                "changed_us": _now_us(),
            }
            values |= {name: getattr(terms, name) for name in Terms.__slots__}
            connection.execute(sa.insert(hosted).values(values))
            for number_of_bot in bots:
                connection.execute(sa.insert(hosted_bot).values(tournament=number, bot=number_of_bot))

        self._store.create(new, host)
        return self.hosted(new.name)

    def hosted(self, name: str) -> Hosted:
        """The hosted tournament or league of this name.

        Raises:
            NotHostedError: there is none.
        """
        found = self._find(tournament.c.name == name)
        if not found:
            raise NotHostedError(
                f"there is no tournament {name!r}",
                "the server hosts none of this name",
                "see what there is: arena tournament list",
            )
        return found[0]

    def page(
        self,
        size: int,
        before: int | None = None,
        *,
        game: str | None = None,
        states: Collection[str] = (),
        owner: str | None = None,
        kinds: Collection[str] = (),
    ) -> list[Hosted]:
        """Hosted tournaments and leagues, newest first.

        Args:
            size: most of them.
            before: only those with smaller row numbers.
            game: only those of this game; None: of any.
            states: only those in one of these; empty: in any.
            owner: only those of this user; None: of any.
            kinds: only those of one of these kinds; empty: of any.
        """
        conditions: list[sa.ColumnElement[bool]] = []
        if before is not None:
            conditions.append(tournament.c.id < before)
        if game is not None:
            conditions.append(tournament.c.game == game)
        if states:
            conditions.append(hosted.c.state.in_(states))
        if owner is not None:
            conditions.append(user.c.name == owner)
        if kinds:
            conditions.append(tournament.c.kind.in_(kinds))
        return self._find(*conditions, newest=size)

    def unfinished(self) -> list[Hosted]:
        """Those that something is still to be done about, oldest first."""
        # A cancelled one is not done with before its seed may be told.
        return self._find(
            hosted.c.state.in_((SCHEDULED, WAITING, RUNNING))
            | ((hosted.c.state == CANCELLED) & tournament.c.finished_us.is_(None))
        )

    def counts(self) -> dict[str, int]:
        """How many are in each state."""
        with self._store.reading() as connection:
            rows = connection.execute(sa.select(hosted.c.state, sa.func.count()).group_by(hosted.c.state))
            return {row[0]: row[1] for row in rows}

    def move(self, number: int, state: str, reason: str = "", only: Collection[str] | None = None) -> bool:
        """Bring one into another state, if it is in one that this is reached from.

        Args:
            number: its row number.
            state: one of STATES.
            reason: of that state, in a line.
            only: the states that it may be in, if not all of BEFORE.

        Returns:
            Whether it was, or was in that state already: then it has the reason now.
        """
        begun = [*(BEFORE[state] if only is None else only), state]
        values: dict[str, Any] = {"state": state, "reason": reason, "changed_us": _now_us()}
        with self._store.writing() as connection:
            changed = connection.execute(
                sa.update(hosted)
                .where(hosted.c.tournament == number, hosted.c.state.in_(begun))
                .values(values)
            )
            return changed.rowcount == 1

    def must_move(self, name: str, state: str, do: str, reason: str = "") -> Hosted:
        """Bring one into another state because somebody wants it.

        Args:
            name: its name.
            state: one of STATES.
            do: what to do if it cannot be.
            reason: of that state.

        Returns:
            It, in that state.

        Raises:
            NotHostedError: there is none of this name.
            StateError: that state is not reached from where it is.
        """
        is_moved = self.move(self.hosted(name).tournament, state, reason)
        now = self.hosted(name)
        if not is_moved:
            why = f": {now.reason}" if now.reason else ""
            raise StateError(f"{name} cannot be {state}", f"it is {now.state}{why}", do)
        return now

    def close(self, number: int) -> None:
        """Note of a cancelled one that nothing of it is in play any more: its seed may be told."""
        self._store.finish(number)

    # what a league plays in a day

    def note(self, number: int, clock: Callable[[], int]) -> DayCount:
        """What counts the matches of a tournament for their day, in the transaction that stores them.

        Args:
            number: its row number.
            clock: tells the time, in microseconds since 1970 UTC.
        """
        return DayCount(number, clock)

    def matches_on(self, number: int, now_us: int) -> int:
        """Matches of a tournament that were stored on a UTC day.

        Args:
            number: its row number.
            now_us: a time of that day, in microseconds since 1970 UTC.
        """
        query = sa.select(hosted_day.c.matches).where(
            hosted_day.c.tournament == number, hosted_day.c.day == day_of(now_us)
        )
        with self._store.reading() as connection:
            return connection.execute(query).scalar() or 0

    def stored(self, numbers: Sequence[int]) -> dict[int, int]:
        """How many matches of tournaments are stored, by row number."""
        query = (
            sa.select(hosted_day.c.tournament, sa.func.sum(hosted_day.c.matches))
            .where(hosted_day.c.tournament.in_(numbers))
            .group_by(hosted_day.c.tournament)
        )
        with self._store.reading() as connection:
            return {row[0]: int(row[1]) for row in connection.execute(query)}

    # who takes part in a league

    def members(self, number: int) -> list[str]:
        """Names of the bots that have entered a league, in the order of their row numbers."""
        query = (
            sa.select(bot.c.name)
            .join(hosted_bot, hosted_bot.c.bot == bot.c.id)
            .where(hosted_bot.c.tournament == number)
            .order_by(bot.c.id)
        )
        with self._store.reading() as connection:
            return list(connection.execute(query).scalars())

    def seated(self, number: int) -> frozenset[int]:
        """Row numbers of the versions that may play for the members of a league now."""
        query = (
            sa.select(bot_version.c.id)
            .join(bot, (bot.c.id == bot_version.c.bot) & (bot.c.active == bot_version.c.number))
            .join(hosted_bot, hosted_bot.c.bot == bot.c.id)
            .where(hosted_bot.c.tournament == number, _MAY_PLAY)
        )
        with self._store.reading() as connection:
            return frozenset(connection.execute(query).scalars())

    def barred(self, entries: Collection[int]) -> frozenset[int]:
        """Those of these row numbers of versions that may not play now."""
        query = (
            sa.select(bot_version.c.id)
            .join(bot, bot.c.id == bot_version.c.bot)
            .where(bot_version.c.id.in_(entries), _MAY_PLAY)
        )
        with self._store.reading() as connection:
            return frozenset(entries) - frozenset(connection.execute(query).scalars())

    def enter(self, number: int, bot_id: int) -> bool:
        """Let a bot take part in a league; whether it did not before."""
        mine = (hosted_bot.c.tournament == number) & (hosted_bot.c.bot == bot_id)
        with self._store.writing() as connection:
            if connection.execute(sa.select(hosted_bot).where(mine)).first() is not None:
                return False
            connection.execute(sa.insert(hosted_bot).values(tournament=number, bot=bot_id))
            return True

    def leave(self, number: int, bot_id: int) -> bool:
        """Let a bot take part no longer; whether it did before."""
        mine = (hosted_bot.c.tournament == number) & (hosted_bot.c.bot == bot_id)
        with self._store.writing() as connection:
            return connection.execute(sa.delete(hosted_bot).where(mine)).rowcount == 1

    def _find(self, *conditions: sa.ColumnElement[bool], newest: int | None = None) -> list[Hosted]:
        columns = tournament.c
        query = (
            sa.select(
                hosted,
                columns.name,
                columns.kind,
                columns.game,
                columns.format,
                columns.finished_us,
                user.c.name.label("owner_name"),
            )
            .join(tournament, tournament.c.id == hosted.c.tournament)
            .join(user, user.c.id == hosted.c.owner)
            .where(*conditions)
        )
        order = columns.id if newest is None else columns.id.desc()
        with self._store.reading() as connection:
            return [_read(row) for row in connection.execute(query.order_by(order).limit(newest)).mappings()]


@dataclass(frozen=True, slots=True)
class DayCount:
    """Counts stored matches of a tournament for the day on which they are stored."""

    number: int
    clock: Callable[[], int]

    def __call__(self, connection: sa.Connection, matches: int) -> None:
        """Count as many more, in this transaction."""
        day = day_of(self.clock())
        mine = (hosted_day.c.tournament == self.number) & (hosted_day.c.day == day)
        more = sa.update(hosted_day).where(mine).values(matches=hosted_day.c.matches + matches)
        if connection.execute(more).rowcount == 0:
            values = {"tournament": self.number, "day": day, "matches": matches}
            connection.execute(sa.insert(hosted_day).values(values))


def day_of(now_us: int) -> int:
    """The UTC day of a time in microseconds since 1970, counted from then."""
    return now_us // _DAY_US


def next_day_us(now_us: int) -> int:
    """When the UTC day after a time begins; both in microseconds since 1970."""
    return (day_of(now_us) + 1) * _DAY_US


def _check_room(connection: sa.Connection, owner: int, most: int | None) -> None:
    if most is None:
        return
    mine = (hosted.c.owner == owner) & hosted.c.state.not_in(OVER)
    count = connection.execute(sa.select(sa.func.count()).select_from(hosted).where(mine)).scalar_one()
    if count >= most:
        raise TooMuchError(
            "there can be no further tournament",
            f"{count} of yours are not over, and a user may have {most}",
            "wait until one is over, or cancel one: arena tournament cancel NAME",
        )


def _read(row: sa.RowMapping) -> Hosted:
    return Hosted(
        tournament=row["tournament"],
        name=row["name"],
        kind=row["kind"],
        game=row["game"],
        owner=row["owner_name"],
        owner_id=row["owner"],
        state=row["state"],
        reason=row["reason"],
        terms=Terms(**{name: row[name] for name in Terms.__slots__}),
        changed_us=row["changed_us"],
        finished_us=row["finished_us"],
    )


def _now_us() -> int:
    return time.time_ns() // 1000
