"""The table host: plays many matches at once with bots that answer through frames.

It owns its matches and one `Lane` per bot. A match is stepped inline when a reply arrives; what
goes out to a bot is collected and leaves in one frame per wake-up; all deadlines are in one heap.
It knows the event loop for wake-ups, and nothing of the network.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from botarena.v1.bot_pb2 import BotError, Decision, FromArena, FromBot, MatchEnd, MatchStart, Reply
from botarena.v1.record_pb2 import FaultKind

from arena.games.chance import bot_seed
from arena.games.pieces import submessage
from arena.match.match import Ask, Match
from arena.match.verdicts import FAULTS, Kind

_FEW = 16
"""Up to so many matches in play, what a bot is sent leaves at once; with more, others will add to it."""
_GATHER_S = 0.0015
"""How long a frame then waits for more, in seconds: measured to play half as fast again or more."""


class Port(Protocol):
    """The narrow interface at the network: where a bot's frames go."""

    def send(self, frame: bytes) -> None:
        """Take a FromArena to the bot, now or with the next one; never waits."""
        ...


class AbandonedError(Exception):
    """The match was given up, and counts for nothing: it is to be played again.

    Attributes:
        bot: name of the bot that failed, perhaps in another of its matches. While it plays only
            this one, there is no doubt.
    """

    def __init__(self, bot: str) -> None:
        super().__init__(bot)
        self.bot = bot


@dataclass(frozen=True, slots=True)
class Absent:
    """In a seat's place: a bot that cannot play at all.

    Attributes:
        kind: the fault by which its seat is forfeited from the start.
        detail: what its author should know.
    """

    kind: Kind
    detail: str


@dataclass(slots=True)
class _Game:
    """A match in play."""

    match: Match
    handle: int
    lanes: tuple[Lane | None, ...]
    done: asyncio.Future[bytes]


@dataclass(slots=True)
class _Open:
    """A decision that a bot owes, in the order in which it was asked.

    Attributes:
        ahead: how many it owed already.
        sent_us: when it left; until then, when it was asked.
    """

    game: _Game
    ask: Ask
    ahead: int
    sent_us: int


@dataclass(slots=True, eq=False)
class Lane:
    """One bot's stream as the host sees it: the decisions that it owes, first asked first.

    A bot attends to one decision at a time, so only the oldest one's clock runs: from the later
    of its sending and the bot's previous reply. A bot that answers others first cannot hold the
    oldest back for ever: it never has longer than its own limit for each decision ahead of it.

    Attributes:
        name: the bot's name.
        port: where its frames go.
        stuck: called when the host closed the lane because the bot did not answer in time.
        dropped: replies that came late, twice or for no decision.
        lost: its stream or its process has ended, and how is being found out: no clock runs any more.
    """

    name: str
    port: Port
    stuck: Callable[[], None]
    dropped: int = 0
    lost: bool = False
    closed: bool = False
    _open: dict[int, _Open] = field(default_factory=dict)
    _games: dict[int, _Game] = field(default_factory=dict)
    _out: list[bytes] = field(default_factory=list)
    _unsent: list[_Open] = field(default_factory=list)
    _free_us: int = 0
    _deadline_us: int = 0

    def due_us(self) -> int | None:
        """When the oldest open decision runs out; None if the bot owes nothing, or is lost."""
        oldest = next(iter(self._open.values()), None)
        if oldest is None or self.lost:
            return None
        limit = oldest.ask.limit_us
        return min(self.since_us(oldest) + limit, oldest.sent_us + limit * (oldest.ahead + 1))

    def since_us(self, owed: _Open) -> int:
        """Since when the bot can have been at a decision."""
        return max(owed.sent_us, self._free_us)


def monotonic_us() -> int:
    """The arena's clock in microseconds."""
    return time.monotonic_ns() // 1000


class TableHost:
    """Plays any number of matches at once on the running event loop.

    Args:
        worker: number of the worker, for the records.
        clock: the time in microseconds.
    """

    def __init__(self, worker: int = 0, clock: Callable[[], int] = monotonic_us) -> None:
        self._worker = worker
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._handles = itertools.count(1)
        self._decisions = itertools.count(1)
        self._playing = 0
        self._dirty: dict[Lane, None] = {}
        self._deadlines: list[tuple[int, int, Lane]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_us = 0

    # matches

    async def play(self, match: Match, lanes: Sequence[Lane | Absent]) -> bytes:
        """Play a match to its record.

        Args:
            match: a match that has not been started.
            lanes: by seat the bot's lane, or why it cannot play at all.

        Raises:
            AbandonedError: it must be played again.
        """
        seated = tuple(lane if isinstance(lane, Lane) else None for lane in lanes)
        for lane in seated:
            if lane is not None and lane.closed:
                raise AbandonedError(lane.name)
        game = _Game(match, next(self._handles), seated, self._loop.create_future())
        now = self._clock()
        for seat, lane in enumerate(seated):
            if lane is not None:
                self._announce(game, seat, lane)
        asks = match.start(now, time.time_ns() // 1000)
        for seat, absent in enumerate(lanes):
            if isinstance(absent, Absent):
                asks = [ask for ask in asks if ask.seat != seat]
                asks += match.fault(seat, absent.kind, now, absent.detail)
        self._playing += 1
        try:
            self._go_on(game, asks)
            return await game.done
        finally:
            self._playing -= 1

    def _announce(self, game: _Game, seat: int, lane: Lane) -> None:
        spec = game.match.spec
        lane._games[game.handle] = game
        start = MatchStart(
            match=game.handle,
            game=spec.game.name,
            game_version=spec.game.version,
            seat=seat,
            names=[name for name, _ in spec.bots],
            bot_seed=bot_seed(spec.seed, seat),
            time=spec.time_message(),
            options=spec.options_message(),
        )
        self._say(lane, FromArena.STARTS_FIELD_NUMBER, start.SerializeToString())

    def _go_on(self, game: _Game, asks: Sequence[Ask]) -> None:
        if game.match.done:
            self._end(game)
            return
        for ask in asks:
            self._put(game, ask)

    def _put(self, game: _Game, ask: Ask) -> None:
        """Send a question to its bot."""
        lane = game.lanes[ask.seat]
        assert lane is not None  # the seat of an absent bot is forfeited before anything is asked
        number = next(self._decisions)
        head = Decision(id=number, match=game.handle, seat=ask.seat, time_left_us=ask.limit_us)
        turn = submessage(Decision.TURN_FIELD_NUMBER, game.match.turn_bytes(ask.seat))
        self._say(lane, FromArena.DECISIONS_FIELD_NUMBER, head.SerializeToString() + turn)
        lane._open[number] = owed = _Open(game, ask, len(lane._open), ask.sent_us)
        lane._unsent.append(owed)
        self._watch(lane)

    def _end(self, game: _Game) -> None:
        match = game.match
        for seat, lane in enumerate(game.lanes):
            if lane is None or lane._games.pop(game.handle, None) is None:
                continue
            kind = match.forfeit_of(seat)
            end = MatchEnd(
                match=game.handle,
                ranks=match.ranks,
                scores=match.scores,
                fault=FAULTS[kind].name if kind is not None else "",
            ).SerializeToString()
            if match.void:
                _forget(lane, game)
            else:
                end += submessage(MatchEnd.TURN_FIELD_NUMBER, match.turn_bytes(seat))
            self._say(lane, FromArena.ENDS_FIELD_NUMBER, end)
        if not game.done.done():
            game.done.set_result(match.record(self._worker))

    # what bots send

    def receive(self, lane: Lane, frame: FromBot) -> None:
        """A frame of a bot that has been welcomed."""
        for reply in frame.replies:
            self._reply(lane, reply)
        for error in frame.errors:
            self._error(lane, error)

    def _reply(self, lane: Lane, reply: Reply) -> None:
        action = reply.action if reply.HasField("action") else None
        owed, now, since = self._take(lane, reply.decision)
        if owed is not None:
            claim = reply.claim if reply.HasField("claim") else None
            self._go_on(owed.game, owed.game.match.reply(owed.ask.seat, action, now, since, claim))
            self._watch(lane)

    def _error(self, lane: Lane, error: BotError) -> None:
        owed, now, since = self._take(lane, error.decision)
        if owed is not None:
            kind, seat = FaultKind.FAULT_KIND_CRASHED, owed.ask.seat
            self._go_on(owed.game, owed.game.match.fault(seat, kind, now, error.text, since))
            self._watch(lane)

    def _take(self, lane: Lane, number: int) -> tuple[_Open | None, int, int]:
        """An open decision that was answered just now, the time, and since when its clock could run."""
        owed = lane._open.pop(number, None)
        if owed is None:
            lane.dropped += 1
            return None, 0, 0
        now, since = self._clock(), lane.since_us(owed)
        lane._free_us = now
        return owed, now, since

    # what goes wrong

    def close(self, lane: Lane, fault: Absent | None) -> None:
        """A bot's stream is over before its matches are.

        If it was in one match, that has the fault. If it was in several, nobody can tell which: it
        may have answered decisions that never arrived. So all of them are abandoned, to be played
        again one at a time, and a fault costs one match, however many were in play.

        Args:
            fault: what the bot did; None if its fault has been ruled already.
        """
        if lane.closed:
            return
        lane.closed = True
        games = _undecided(lane)
        since = max((lane.since_us(owed) for owed in lane._open.values()), default=lane._free_us)
        lane._open.clear()
        lane._games.clear()
        if len(games) == 1 and fault is not None:
            (game,) = games
            seat, now = game.lanes.index(lane), self._clock()
            self._go_on(game, game.match.fault(seat, fault.kind, now, fault.detail, since))
            return
        for game in games:
            self._abandon(game, lane)

    def _abandon(self, game: _Game, failed: Lane) -> None:
        for lane in game.lanes:
            if lane is not None and lane._games.pop(game.handle, None) is not None:
                _forget(lane, game)
                end = MatchEnd(match=game.handle).SerializeToString()
                self._say(lane, FromArena.ENDS_FIELD_NUMBER, end)
        if not game.done.done():
            game.done.set_exception(AbandonedError(failed.name))

    def _expire(self, lane: Lane, now: int) -> None:
        """The oldest open decision of a bot ran out of time."""
        if len(_undecided(lane)) > 1:
            self.close(lane, None)
            lane.stuck()
            return
        number, owed = next(iter(lane._open.items()))
        del lane._open[number]
        since = lane.since_us(owed)
        lane._free_us = now
        match, seat = owed.game.match, owed.ask.seat
        self._go_on(owed.game, match.expire(seat, now, since))
        if match.forfeit_of(seat) is not None:
            self.close(lane, None)
            lane.stuck()

    # wake-ups

    def _say(self, lane: Lane, number: int, part: bytes) -> None:
        """Put a part into a bot's next frame."""
        if lane.closed:
            return
        lane._out.append(submessage(number, part))
        if not self._dirty:
            if self._playing > _FEW:
                self._loop.call_later(_GATHER_S, self._flush)
            else:
                self._loop.call_soon(self._flush)
        self._dirty[lane] = None

    def _flush(self) -> None:
        lanes = list(self._dirty)
        self._dirty.clear()
        now = self._clock()
        for lane in lanes:
            for owed in lane._unsent:
                owed.sent_us = now  # the wait until here was ours
            lane._unsent.clear()
            frame = b"".join(lane._out)
            lane._out.clear()
            if not lane.closed:
                lane.port.send(frame)

    def _watch(self, lane: Lane) -> None:
        """Have the timer look at a lane when its oldest decision is due."""
        due = lane.due_us()
        if due is None or 0 < lane._deadline_us <= due:
            return
        lane._deadline_us = due
        heapq.heappush(self._deadlines, (due, next(self._order), lane))
        if self._timer is None or due < self._timer_us:
            self._set_timer(due)

    def _set_timer(self, due: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_us = due
        self._timer = self._loop.call_later(max(0, due - self._clock()) / 1e6, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now = self._clock()
        while self._deadlines and self._deadlines[0][0] <= now:
            lane = heapq.heappop(self._deadlines)[2]
            lane._deadline_us = 0
            due = lane.due_us()
            if due is not None and due <= now:
                self._expire(lane, now)
            self._watch(lane)
        if self._deadlines and self._timer is None:
            self._set_timer(self._deadlines[0][0])


def _undecided(lane: Lane) -> list[_Game]:
    """A bot's matches in which it was not forfeited; in the others the rest play on without it."""
    return [game for game in lane._games.values() if game.match.forfeit_of(game.lanes.index(lane)) is None]


def _forget(lane: Lane, game: _Game) -> None:
    """Drop what a lane owes to a match."""
    for number in [number for number, owed in lane._open.items() if owed.game is game]:
        del lane._open[number]
