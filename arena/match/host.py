"""The table host: plays many matches at once with bots that answer through frames.

It owns its matches and one `Lane` per bot. A match is stepped inline when a reply arrives; what
goes out to a bot is collected and leaves in one frame; all deadlines are in one heap. It knows the
event loop for wake-ups, and nothing of the network.

A frame costs ten times what a decision does, so frames are made large. While a bot is about to
answer, what is asked of others waits for what will be asked of them then; once everything is in our
hands, the bot that is asked most goes first. So matches that take turns between the same bots come
to be in step, and one frame carries a decision of nearly all of them.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from botarena.v1.bot_pb2 import BotError, Decision, FromArena, FromBot, MatchEnd, MatchStart
from botarena.v1.record_pb2 import Evidence, FaultKind

from arena.games.chance import bot_seed
from arena.games.pieces import submessage, varint
from arena.match.lag import LagWatch, margin_us
from arena.match.match import Ask, Match
from arena.match.verdicts import FAULTS, Kind

_PATIENCE_US = (5_000, 300)
"""Others wait for a bot that answers a frame within this, and this for each decision, in microseconds."""
_SLOW_US = 500_000
"""A bot that others waited for in vain is not waited for again for so long, in microseconds."""
_WAITED_US = 50_000
"""What has waited for so long goes before what is most, in microseconds."""
_ENDS_KEPT = 1024
"""So many ends of matches are kept for a bot that has not shown yet that it heard of them."""

_DECISION_KEY = submessage(FromArena.DECISIONS_FIELD_NUMBER, b"")[:1]
_TURN_KEY = submessage(Decision.TURN_FIELD_NUMBER, b"")[:1]
_ID_KEY = bytes((Decision.ID_FIELD_NUMBER << 3,))
_MATCH_KEY = bytes((Decision.MATCH_FIELD_NUMBER << 3,))
_SEAT_KEY = bytes((Decision.SEAT_FIELD_NUMBER << 3,))
_TIME_KEY = bytes((Decision.TIME_LEFT_US_FIELD_NUMBER << 3,))


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


class OverloadError(Exception):
    """The match was given up since the arena was late itself when a bot's time ran out."""

    def __init__(self) -> None:
        super().__init__("the arena was too busy to tell whether a bot answered in time")


@dataclass(frozen=True, slots=True)
class Absent:
    """In a seat's place: a bot that cannot play at all.

    Attributes:
        kind: the fault by which its seat is forfeited from the start.
        detail: what its author should know.
        evidence: how it came about, as far as that is known.
    """

    kind: Kind
    detail: str
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(slots=True, eq=False)
class _Game:
    """A match in play.

    Attributes:
        places: by seat what all its decisions have in common on the wire: match and seat.
    """

    match: Match
    handle: int
    lanes: tuple[Lane | None, ...]
    done: asyncio.Future[bytes]
    places: tuple[bytes, ...]


@dataclass(slots=True, eq=False)
class _Open:
    """A decision that a bot owes, in the order in which it was asked.

    Attributes:
        ahead: how many it owed already.
        parts: the question as it stands in a frame, kept to be sent again on a stream that resumes.
        sent_us: when it left; 0 before.
    """

    game: _Game
    ask: Ask
    ahead: int
    parts: tuple[bytes, ...]
    sent_us: int = 0


@dataclass(slots=True, eq=False)
class Lane:
    """One bot's stream as the host sees it: the decisions that it owes, first asked first.

    A bot attends to one decision at a time, so only the oldest one's clock runs: from the later
    of its sending and the bot's previous reply. A bot that answers others first cannot hold the
    oldest back for ever: it never has longer than its own limit for each decision ahead of it.

    Attributes:
        name: the bot's name.
        port: where its frames go.
        stuck: called when the bot did not answer in time. The host has closed the lane, but for one of a bot
            that remembers.
        asked: decisions that were sent.
        dropped: replies that came late, twice or for no decision.
        lost: it is over, and how is being found out: no clock runs any more.
        remembers: whether the bot keeps what it has seen, whatever becomes of it here, as one on another
            machine does. It is never dealt the same cards again for a fault of its own.
    """

    name: str
    port: Port
    stuck: Callable[[], None]
    asked: int = 0
    dropped: int = 0
    lost: bool = False
    remembers: bool = False
    closed: bool = False
    _open: dict[int, _Open] = field(default_factory=dict)
    _games: dict[int, _Game] = field(default_factory=dict)
    _out: list[bytes] = field(default_factory=list)
    _unsent: list[_Open] = field(default_factory=list)
    _told: deque[tuple[int, bytes]] = field(default_factory=lambda: deque(maxlen=_ENDS_KEPT))
    _last: int = 0
    _heard: int = 0
    _unsure_until_us: int = 0
    _owed: int = 0
    _patience_us: int = 0
    _slow_until_us: int = 0
    _free_us: int = 0
    _deadline_us: int = 0

    def due_us(self) -> int | None:
        """When the oldest open decision runs out; None if the bot owes nothing, or is lost."""
        if self.lost:
            return None
        for oldest in self._open.values():
            if not oldest.sent_us:  # nor are those after it: no clock runs
                return None
            limit = oldest.ask.limit_us
            due = min(self.since_us(oldest) + limit, oldest.sent_us + limit * (oldest.ahead + 1))
            return due if due > self._unsure_until_us else self._unsure_until_us
        return None

    def since_us(self, owed: _Open) -> int:
        """Since when the bot can have been at a decision."""
        sent = owed.sent_us or owed.ask.sent_us
        return sent if sent > self._free_us else self._free_us


def monotonic_us() -> int:
    """The arena's clock in microseconds."""
    return time.monotonic_ns() // 1000


class TableHost:
    """Plays any number of matches at once on the running event loop.

    Args:
        worker: number of the worker, for the records.
        clock: the time in microseconds.

    Attributes:
        watch: how late the loop was.
    """

    def __init__(self, worker: int = 0, clock: Callable[[], int] = monotonic_us) -> None:
        self.watch = LagWatch(clock)
        self._worker = worker
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._handles = itertools.count(1)
        self._decisions = itertools.count(1)
        self._waiting: dict[Lane, int] = {}
        self._now = 0
        self._busy: dict[Lane, bool] = {}
        self._quick = 0
        self._holding: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Handle | None = None
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
            OverloadError: it must be played again, when there is less to do.
        """
        seated = tuple(lane if isinstance(lane, Lane) else None for lane in lanes)
        for lane in seated:
            if lane is not None and lane.closed:
                raise AbandonedError(lane.name)
        handle = next(self._handles)
        places = tuple(_MATCH_KEY + varint(handle) + _SEAT_KEY + varint(seat) for seat in range(len(lanes)))
        game = _Game(match, handle, seated, self._loop.create_future(), places)
        self._now = now = self._clock()
        self._announce(game)
        asks = match.start(now, time.time_ns() // 1000)
        for seat, absent in enumerate(lanes):
            if isinstance(absent, Absent):
                asks = [ask for ask in asks if ask.seat != seat]
                asks += match.fault(
                    seat, absent.kind, now, absent.detail, evidence=absent.evidence, gone=True
                )
        self._go_on(game, asks)
        self._wake()
        try:
            with self.watch.on():
                return await game.done
        except asyncio.CancelledError:
            self._abandon(game, AbandonedError(""))  # the bots may be wanted for others
            self._wake()
            raise

    def _announce(self, game: _Game) -> None:
        """Tell the bots that a match begins."""
        all_are_told = _start_for_all(game)
        for seat, lane in enumerate(game.lanes):
            if lane is not None:
                lane._games[game.handle] = game
                self._say(lane, FromArena.STARTS_FIELD_NUMBER, all_are_told + _start_for(game, seat))

    def _go_on(self, game: _Game, asks: Sequence[Ask]) -> None:
        for ask in asks:
            self._put(game, ask)
        if game.match.done:
            self._end(game)

    def _put(self, game: _Game, ask: Ask) -> None:
        """Write a question into its bot's next frame."""
        seat = ask.seat
        lane = game.lanes[seat]
        assert lane is not None  # the seat of an absent bot is forfeited before anything is asked
        turn = game.match.turn_bytes(seat)
        if game.match.done:  # the rules failed to show it
            return
        number = lane._last = next(self._decisions)
        head = _ID_KEY + varint(number) + game.places[seat] + _time_left(ask.limit_us) + varint(len(turn))
        parts = (_DECISION_KEY, varint(len(head) + len(turn)), head, turn)
        lane._out += parts
        lane._open[number] = owed = _Open(game, ask, len(lane._open), parts)
        lane._unsent.append(owed)
        self._waiting.setdefault(lane, self._now)

    def _end(self, game: _Game) -> None:
        match = game.match
        told = {
            seat: lane
            for seat, lane in enumerate(game.lanes)
            if lane is not None and lane._games.pop(game.handle, None) is not None
        }
        # Before anything is said about the end: the rules may fail to show it, and then there is none.
        turns = {seat: match.turn_bytes(seat) for seat in told if not match.void}
        all_are_told = MatchEnd(match=game.handle, ranks=match.ranks, scores=match.scores).SerializeToString()
        for seat, lane in told.items():
            end = all_are_told
            if (kind := match.forfeit_of(seat)) is not None:
                end += MatchEnd(fault=FAULTS[kind].name).SerializeToString()
            if match.void:
                self._forget(lane, game)
            else:
                end += submessage(MatchEnd.TURN_FIELD_NUMBER, turns[seat])
            self._say_end(lane, end)
        if not game.done.done():
            game.done.set_result(match.record(self._worker))

    # what bots send

    def receive(self, lane: Lane, frame: FromBot) -> None:
        """A frame of a bot that has been welcomed."""
        self._now = now = self._clock()
        late = self.watch.last_us(now)
        for reply in frame.replies:
            owed = self._take(lane, reply.decision)
            if owed is None:
                continue
            since, lane._free_us = lane.since_us(owed), now
            if since < late:  # the reply may have waited for us, and that time is not the bot's
                since += self.watch.total_us(since, now)
            action = reply.action if reply.HasField("action") else None
            claim = reply.claim if reply.HasField("claim") else None
            game = owed.game
            self._go_on(game, game.match.reply(owed.ask.seat, action, now, since, claim))
        for error in frame.errors:
            self._error(lane, error, now)
        if not lane._owed and self._rest(lane) and now <= lane._patience_us:
            lane._slow_until_us = 0
        self._watch(lane)
        if self._flushing is None:
            self._flush()

    def _error(self, lane: Lane, error: BotError, now: int) -> None:
        owed = self._take(lane, error.decision)
        if owed is not None:
            since, lane._free_us = lane.since_us(owed), now
            kind, seat = FaultKind.FAULT_KIND_CRASHED, owed.ask.seat
            self._go_on(owed.game, owed.game.match.fault(seat, kind, now, error.text, since))

    def _take(self, lane: Lane, number: int) -> _Open | None:
        """An open decision that is answered; None if there is none that was sent."""
        owed = lane._open.get(number)
        if owed is None or not owed.sent_us:
            lane.dropped += 1
            return None
        del lane._open[number]
        lane._owed -= 1
        if number > lane._heard:
            lane._heard = number
        return owed

    # streams that break

    def pause(self, lane: Lane, unsure_us: int) -> None:
        """A bot's stream broke; it may come back. Its clocks run on.

        Args:
            unsure_us: for so long no deadline is ruled, in microseconds: if the bot's process has ended
                as well, that is what counts. What is due by then is ruled then, or when it comes back.
        """
        lane._unsure_until_us = self._clock() + unsure_us

    def resume(self, lane: Lane) -> bytes:
        """A bot is back on a new stream, and has nothing ahead of it.

        Returns:
            The first frame for it: all matches that it plays, ends that it may not have heard of, and the
            decisions that it owes, as they were first sent.
        """
        self._now = now = self._clock()
        lane._unsure_until_us = 0
        while (due := lane.due_us()) is not None and due <= now:
            self._expire(lane, now)
        if lane in self._waiting:
            self._send(lane)  # to nowhere: all of it is in what follows
        self._watch(lane)
        self._wake()
        return _state_of(lane)

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
        games = _undecided(lane)
        since = max((lane.since_us(owed) for owed in lane._open.values()), default=lane._free_us)
        self._shut(lane)
        now = self._clock()
        for game in games:
            if fault is None or (len(games) > 1 and not lane.remembers):
                self._abandon(game, AbandonedError(lane.name))
                continue
            seat = game.lanes.index(lane)
            asks = game.match.fault(seat, fault.kind, now, fault.detail, since, fault.evidence, gone=True)
            self._go_on(game, asks)
        self._wake()

    def _shut(self, lane: Lane) -> None:
        """Nothing goes out to a lane any more, and nothing is owed by it."""
        lane.closed = True
        lane._open.clear()
        lane._games.clear()
        lane._out.clear()
        lane._unsent.clear()
        lane._told.clear()
        lane._owed = 0
        self._rest(lane)
        self._waiting.pop(lane, None)
        # A deadline may be far off, and would keep the lane until then.
        self._deadlines = [entry for entry in self._deadlines if entry[2] is not lane]
        heapq.heapify(self._deadlines)

    def _abandon(self, game: _Game, error: Exception) -> None:
        end = MatchEnd(match=game.handle).SerializeToString()
        for lane in game.lanes:
            if lane is not None and lane._games.pop(game.handle, None) is not None:
                self._forget(lane, game)
                self._say_end(lane, end)
        if not game.done.done():
            game.done.set_exception(error)

    def _forget(self, lane: Lane, game: _Game) -> None:
        """Drop what a lane owes to a match."""
        for number in [number for number, owed in lane._open.items() if owed.game is game]:
            owed = lane._open.pop(number)
            if owed.sent_us:
                lane._owed -= 1
            else:
                lane._unsent.remove(owed)
        if not lane._owed:
            self._rest(lane)

    def _expire(self, lane: Lane, now: int) -> None:
        """The oldest open decision of a bot ran out of time."""
        owed = next(iter(lane._open.values()))
        since, limit = lane.since_us(owed), owed.ask.limit_us
        if self.watch.worst_us(since, now) > margin_us(limit):
            # Its reply may be waiting for us. Nobody is blamed, and the match is played again.
            lane._free_us = now
            self._abandon(owed.game, OverloadError())
            return
        if len(_undecided(lane)) > 1 and not lane.remembers:
            self.close(lane, None)
            lane.stuck()
            return
        lane._free_us = now
        self._forget(lane, owed.game)
        match, seat = owed.game.match, owed.ask.seat
        self._go_on(owed.game, match.expire(seat, now, since))
        if match.forfeit_of(seat) is not None:
            if not lane.remembers:  # else its other matches go on: there is no process to end
                self.close(lane, None)
            lane.stuck()

    # wake-ups

    def _say(self, lane: Lane, number: int, part: bytes) -> None:
        """Put a part into a bot's next frame."""
        if not lane.closed:
            lane._out.append(submessage(number, part))
            self._waiting.setdefault(lane, self._now)

    def _say_end(self, lane: Lane, end: bytes) -> None:
        """Tell a bot that a match ended, and keep it until the bot answers something that came later."""
        if lane.closed:
            return
        told = lane._told
        while told and told[0][0] < lane._heard:
            told.popleft()
        told.append((lane._last, submessage(FromArena.ENDS_FIELD_NUMBER, end)))
        self._say(lane, FromArena.ENDS_FIELD_NUMBER, end)

    def _wake(self) -> None:
        """See to it that what waits leaves: now, or when others have added to it."""
        if not self._waiting or self._flushing is not None:
            return
        if self._quick:
            self._hold()
        else:
            self._flushing = self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Send what waits; if no bot owes us anything, to the one that is asked most first."""
        self._flushing = None
        if self._waiting and not self._busy:
            oldest, since = next(iter(self._waiting.items()))
            waited = self._clock() - since > _WAITED_US
            self._send(oldest if waited else max(self._waiting, key=lambda lane: len(lane._unsent)))
        if self._quick:
            self._hold()
        else:
            self.send_all()

    def _hold(self) -> None:
        """Let what waits wait on while a quick bot is about to answer, but not for ever."""
        if self._holding is None and self._waiting:
            until = min(lane._patience_us for lane, quick in self._busy.items() if quick)
            self._holding = self._loop.call_later(max(0, until - self._clock()) / 1e6, self._lose_patience)

    def _lose_patience(self) -> None:
        """Whoever should have answered by now is slow, and nobody waits for it any more."""
        self._holding = None
        now = self._clock()
        for lane, quick in self._busy.items():
            if quick and lane._patience_us <= now:
                lane._slow_until_us = now + _SLOW_US
                self._busy[lane] = False
                self._quick -= 1
        self._wake()

    def send_all(self) -> None:
        """Send all that waits, with nothing more to wait for."""
        for lane in list(self._waiting):
            if lane in self._waiting:
                self._send(lane)

    def _send(self, lane: Lane) -> None:
        del self._waiting[lane]
        frame = b"".join(lane._out)
        lane._out.clear()
        if lane._unsent:
            now = self._clock()
            for owed in lane._unsent:
                owed.sent_us = now  # the wait until here was ours
            if not lane._owed:
                lane._patience_us = now + _PATIENCE_US[0]
                self._busy[lane] = quick = lane._slow_until_us <= now
                self._quick += quick
            lane._owed += len(lane._unsent)
            lane.asked += len(lane._unsent)
            lane._patience_us += _PATIENCE_US[1] * len(lane._unsent)
            lane._unsent.clear()
            self._watch(lane)
        lane.port.send(frame)

    def _rest(self, lane: Lane) -> bool:
        """Note that a bot owes nothing any more; whether it did."""
        quick = self._busy.pop(lane, None)
        if quick:
            self._quick -= 1
        return quick is not None

    # deadlines

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
        self._now = now = self._clock()
        while self._deadlines and self._deadlines[0][0] <= now:
            lane = heapq.heappop(self._deadlines)[2]
            lane._deadline_us = 0
            due = lane.due_us()
            if due is not None and due <= now:
                self._expire(lane, now)
            self._watch(lane)
        if self._deadlines and self._timer is None:
            self._set_timer(self._deadlines[0][0])
        self._wake()


def _start_for_all(game: _Game) -> bytes:
    """What all seats are told alike when a match begins."""
    spec = game.match.spec
    return MatchStart(
        match=game.handle,
        game=spec.game.name,
        game_version=spec.game.version,
        names=[name for name, _ in spec.bots],
        time=spec.time_message(),
        options=spec.options_message(),
    ).SerializeToString()


def _start_for(game: _Game, seat: int) -> bytes:
    """What only one seat is told."""
    return MatchStart(seat=seat, bot_seed=bot_seed(game.match.spec.seed, seat)).SerializeToString()


def _state_of(lane: Lane) -> bytes:
    """All that a bot must know of its matches to go on after a break: a FromArena."""
    parts = [
        submessage(
            FromArena.STARTS_FIELD_NUMBER, _start_for_all(game) + _start_for(game, game.lanes.index(lane))
        )
        for game in lane._games.values()
    ]
    parts += [end for mark, end in lane._told if mark >= lane._heard]
    for owed in lane._open.values():
        parts += owed.parts
    return b"".join(parts)


@lru_cache(maxsize=4096)
def _time_left(limit_us: int) -> bytes:
    """The time of a decision on the wire, and the key of what follows it: the turn."""
    return _TIME_KEY + varint(limit_us) + _TURN_KEY


def _undecided(lane: Lane) -> list[_Game]:
    """A bot's matches in which it was not forfeited; in the others the rest play on without it."""
    return [game for game in lane._games.values() if game.match.forfeit_of(game.lanes.index(lane)) is None]
