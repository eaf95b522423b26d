"""Remote bots: they dial in at a door that all of them share, come and go, and play while there.

Nobody here starts them or sees them end: all that is known of one is its conversation. It keeps what it has
seen, so it is never dealt the same cards again for a fault of its own (`Lane.remembers`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import grpc
from botarena.v1.bot_pb2 import Hello
from botarena.v1.record_pb2 import FaultKind

from arena.bots.conversation import Context, Conversations, Guest, ProtocolError, RefusedError, Stream
from arena.bots.flood import Refusals
from arena.bots.launcher import LaunchError
from arena.bots.players import Places, check_game
from arena.match.host import Absent, Lane, TableHost
from arena.match.lag import LagWatch, margin_us
from arena.match.verdicts import MAX_FAILURES, fault_name

GRACE_S = 30.0
"""How long after a break a remote bot's conversation may be resumed: networks need their time."""


_FAREWELL_S = 0.5


class Changes:
    """Tells those who wait for it that a bot came or went."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def tell(self) -> None:
        """Something changed."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self) -> None:
        """Wait for the next change."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    async def until(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Wait until something is so; whether it is, after so many seconds at most."""
        try:
            async with asyncio.timeout(within_s):
                while not condition():
                    await self.wait()
        except TimeoutError:
            return condition()
        return True


class Visitor:
    """A remote bot, whether it is there or not.

    Args:
        entry: row number of its version.
        name: what it is called in tournaments.

    Attributes:
        guest: its conversation; None: it has none.
        places: how many matches it plays at once; None likewise.
        games: names of the games that it plays; empty: any.
        failures: times in a row that it did not answer in time.
    """

    def __init__(self, entry: int, name: str) -> None:
        self.entry = entry
        self.name = name
        self.guest: Guest | None = None
        self.places: Places | None = None
        self.games: tuple[str, ...] = ()
        self.failures = 0

    @property
    def present(self) -> bool:
        """Whether it is connected now."""
        return self.guest is not None and self.guest.stream is not None

    @property
    def lane(self) -> Lane | None:
        """Its decisions; None while it has no conversation."""
        return self.guest.lane if self.guest is not None else None


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A bot that has said hello.

    Attributes:
        visitor: the bot.
        hello: what it said.
        welcomed: called once it is let in.
    """

    visitor: Visitor
    hello: Hello
    welcomed: Callable[[], None]


class Visitors:
    """All remote bots of one host.

    Args:
        host: plays their matches.
        grace_s: how long after a break a conversation may be resumed, in seconds.

    Attributes:
        changes: tells when one of them came or went.
    """

    def __init__(self, host: TableHost, grace_s: float = GRACE_S) -> None:
        self.host = host
        self.changes = Changes()
        self._grace_s = grace_s
        self._conversations = Conversations(host)
        self._visitors: dict[int, Visitor] = {}
        self._streams = 0

    def visitor(self, entry: int, name: str) -> Visitor:
        """The bot with this row number."""
        return self._visitors.setdefault(entry, Visitor(entry, name))

    def present(self) -> frozenset[int]:
        """Row numbers of the bots that are connected now."""
        return frozenset(visitor.entry for visitor in self._visitors.values() if visitor.present)

    def player(self, name: str, entry: int, start_us: int) -> RemotePlayer:
        """A bot for the tables of a tournament.

        Args:
            name: what it is called there.
            entry: its row number.
            start_us: how long it is waited for when a match begins, in microseconds.
        """
        return RemotePlayer(self.visitor(entry, name), self.changes, self.host.watch, start_us)

    # what comes in

    async def attend(
        self,
        door: str,
        refusals: Refusals,
        find: Callable[[Context], Awaitable[Newcomer | None]],
        context: Context,
    ) -> None:
        """One stream, from its opening to its end.

        Args:
            door: what it is called in logs.
            refusals: counts those at it.
            find: finds out whose stream it is; None: it ended before. It raises RefusedError.
            context: the stream.
        """

        async def let_in(context: Context) -> tuple[Guest, Stream] | None:
            found = await find(context)
            if found is None:
                return None
            entered = self._enter(found.visitor, found.hello)
            found.welcomed()
            return entered

        self._streams += 1
        try:
            await self._conversations.attend(door, refusals, let_in, context)
        finally:
            self._streams -= 1
            self.changes.tell()

    def _enter(self, visitor: Visitor, hello: Hello) -> tuple[Guest, Stream]:
        """Greet a bot, or go on with its conversation."""
        guest = visitor.guest
        if guest is not None and guest.stream is None and not hello.session:
            # It was started anew, and knows nothing of what it was asked: no grace can help that.
            why = RefusedError(grpc.StatusCode.ABORTED, "the bot has begun another conversation")
            detail = "it came back and had forgotten what it was asked"
            self._conversations.dismiss(guest, why, Absent(FaultKind.FAULT_KIND_DISCONNECTED, detail))
            guest = visitor.guest
        if guest is None:
            if hello.session:
                raise RefusedError(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    "this conversation is over: begin another one by a hello without a session",
                )
            return self._begin(visitor, hello)
        try:
            return guest, self._conversations.enter(guest, hello)
        except ProtocolError as error:
            self._conversations.rule(guest, Absent(error.kind, str(error)))
            raise
        finally:
            self.changes.tell()

    def _begin(self, visitor: Visitor, hello: Hello) -> tuple[Guest, Stream]:
        greeted = asyncio.get_running_loop().create_future()
        lost, stuck = partial(self._lost, visitor), partial(self._stuck, visitor)
        visitor.guest = guest = Guest(
            visitor.name, Path(), lost, stuck, greeted, grace_s=self._grace_s, hold_s=0.0, entry=visitor.name
        )
        stream = self._conversations.enter(guest, hello)
        assert guest.lane is not None
        guest.lane.remembers = True
        visitor.places = Places(guest.concurrency)
        visitor.games = tuple(hello.games)
        visitor.failures = 0
        self.changes.tell()
        return guest, stream

    # how it ends

    def dismiss(self, visitor: Visitor, why: RefusedError, detail: str) -> None:
        """End a bot's conversation: its matches are forfeited as DISCONNECTED.

        Args:
            visitor: the bot.
            why: what it is told.
            detail: what is kept of it.
        """
        if visitor.guest is not None:
            fault = Absent(FaultKind.FAULT_KIND_DISCONNECTED, detail)
            self._conversations.dismiss(visitor.guest, why, fault)

    async def close(self, reason: str) -> None:
        """Say goodbye to all, and wait until it is said; what they play is given up, and nobody is blamed."""
        for visitor in list(self._visitors.values()):
            guest = visitor.guest
            if guest is not None:
                self._conversations.say_goodbye(guest, reason)
                self._conversations.part(guest)
                self._lost(visitor, None)
        await self.changes.until(lambda: not self._streams, _FAREWELL_S)

    def _lost(self, visitor: Visitor, fault: Absent | None) -> None:
        """A bot's conversation is over."""
        lane, visitor.guest, visitor.places = visitor.lane, None, None
        if lane is not None:
            self.host.close(lane, fault)
        self.changes.tell()

    def _stuck(self, visitor: Visitor) -> None:
        """A bot lost a match by not answering: if it does nothing else, it is not asked any more."""
        visitor.failures += 1
        if visitor.failures < MAX_FAILURES or visitor.guest is None:
            return
        kind = FaultKind.FAULT_KIND_TIMEOUT
        detail = (
            f"{fault_name(kind)} in {visitor.failures} matches in a row: it is seated again when it is back"
        )
        self._conversations.dismiss(
            visitor.guest, RefusedError(grpc.StatusCode.ABORTED, detail), Absent(kind, detail)
        )


class RemotePlayer:
    """A bot that is there while it is connected.

    Args:
        visitor: the bot.
        changes: tells when it came or went.
        lag: how late the arena is.
        start_us: how long it is waited for when a match begins, in microseconds.
    """

    def __init__(self, visitor: Visitor, changes: Changes, lag: LagWatch, start_us: int) -> None:
        self.on_probation = False
        self.was_killed = False  # nobody here would see it
        self._visitor = visitor
        self._changes = changes
        self._lag = lag
        self._start_us = start_us

    @property
    def name(self) -> str:
        """Its name in the tournament."""
        return self._visitor.name

    @property
    def ready(self) -> bool:
        """Whether it is connected."""
        return self._visitor.present

    @property
    def places(self) -> Places | None:
        """How many matches it plays at once, of all tournaments together; None: it is not there."""
        return self._visitor.places

    async def lane(self) -> Lane | Absent:
        """Its lane once it is connected, or that it did not come in time.

        Raises:
            LaunchError: the arena was late itself when its time ran out.
        """
        began = self._lag.clock()
        with self._lag.on():
            came = await self._changes.until(lambda: self.ready, self._start_us / 1e6)
            late_us = self._lag.worst_us(began, self._lag.clock())
        if came and (lane := self._visitor.lane) is not None:
            return lane
        if late_us > margin_us(self._start_us):
            raise LaunchError("the arena was too busy to tell whether the bot connected in time")
        detail = f"it was not connected, and did not come within {self._start_us / 1e6:g} s"
        return Absent(FaultKind.FAULT_KIND_START_FAILED, detail)

    async def lane_for(self, game: str) -> Lane | Absent:
        """Its lane, or why it does not play this game."""
        return check_game(await self.lane(), self._visitor.games, game)

    def played(self) -> None:
        """It played a match to its end: what failed before is no row of failures."""
        self._visitor.failures = 0

    async def stop(self) -> None:
        """It stays for others."""
