"""Plays the hosted tournaments and leagues by itself, whatever comes between.

There are as many slots as worker processes may be. What waits gets a turn, who has waited longest first; a
turn ends when others wait and it has lasted for a while, so that nobody starves. Whatever is killed at any
time, the state in the database says what goes on at the next start, and what was stored is stored.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import grpc
import structlog
from botarena.v1.record_pb2 import MatchRecord

from arena.errors import ArenaError, StateError
from arena.runs.definition import bots_of
from arena.runs.executor import Workers, make_executor
from arena.runs.names import is_open
from arena.server.background import apart
from arena.server.catalog import Catalog
from arena.server.conducting import Progress
from arena.server.hosts import LEAGUE
from arena.server.lobby import Lobby
from arena.server.members import Members, away, with_specs
from arena.server.news import News
from arena.server.turn import Plan, Turn
from arena.store.hosting import (
    CANCELLED,
    FAILED,
    FINISHED,
    PAUSED,
    RUNNING,
    SCHEDULED,
    WAITING,
    Hosted,
    Hosting,
    day_of,
)
from arena.store.store import Store
from arena.store.stored import StoredTournament
from arena.tournament.formats import ENDLESS, LADDER
from arena.tournament.local import IN_FLIGHT, ROOMS, worker_cpus
from arena.tournament.runner import Executor, Run, Seating
from arena.tournament.schedule import ScheduleError

CHANGED: Final = "changed"
"""What is told to those who watch a tournament."""
Stored: TypeAlias = Callable[[StoredTournament, Sequence[MatchRecord]], object]
"""Is told what was stored of a tournament."""
_log = structlog.get_logger("arena.conductor")


@dataclass(frozen=True, slots=True)
class ConductorLimits:
    """How a server plays.

    Attributes:
        slots: worker processes of all turns together.
        in_flight: matches that each of them has in play at once.
        slice_s: how long a turn lasts at least when others wait, in seconds.
        drain_s: how long matches in hand may go on when the server ends, in seconds.
        look_s: how often it is looked whether something is due, in seconds.
        lacks_s: after how long it is looked again whether a league has the bots that it needs, in seconds.
        waits_s: how long it is waited after each failure of the machine until it is tried again, in seconds;
            after one more it is given up until somebody resumes it.
        now_us: tells the time, in microseconds since 1970 UTC.
    """

    slots: int
    in_flight: int = IN_FLIGHT
    slice_s: float = 30.0
    drain_s: float = 20.0
    look_s: float = 0.5
    lacks_s: float = 1.0
    waits_s: Sequence[float] = (5.0, 20.0, 60.0)
    now_us: Callable[[], int] = lambda: time.time_ns() // 1000


@dataclass(slots=True)
class _Place:
    """A tournament's place in the queue.

    Attributes:
        served: when its last turn ended, as time goes on; 0: it had none.
        failures: of the machine, in a row.
        not_before: when it may have a turn again, likewise.
        full_day: the UTC day of which too little is left for a table; -1: none.
    """

    served: float = 0.0
    failures: int = 0
    not_before: float = 0.0
    full_day: int = -1


@dataclass(slots=True)
class _Hand:
    """What is in hand.

    Attributes:
        hosted: which.
        slots: numbers of the slots that it has.
        task: what plays it.
        turn: its turn; None while that is made ready.
        lineup: what told who is to play when its turn was made ready.
        resting: indexes of the bots that were not connected then.
        is_remote: whether it plays with bots that dial in.
        is_stopping: whether nothing more begins.
    """

    hosted: Hosted
    slots: Sequence[int]
    task: asyncio.Task[None] | None = None
    turn: Turn | None = None
    lineup: frozenset[int | str] = frozenset()
    resting: frozenset[int] = frozenset()
    is_remote: bool = False
    is_stopping: bool = False

    def stop(self) -> None:
        """Begin nothing more."""
        self.is_stopping = True
        if self.turn is not None:
            self.turn.stop()


class Conductor:
    """The part of a server that plays.

    Args:
        store: where the tournaments are.
        hosting: which of them are hosted, and how.
        catalog: knows the bots.
        lobby: has the remote ones.
        db: the database, beside which the logs of bots go.
        limits: how it plays.
        stored: is told what was stored of a tournament.
    """

    def __init__(
        self,
        store: Store,
        hosting: Hosting,
        catalog: Catalog,
        lobby: Lobby,
        db: str,
        limits: ConductorLimits,
        stored: Stored = lambda tournament, records: None,
    ) -> None:
        self.store = store
        self.hosting = hosting
        self.catalog = catalog
        self.news: News[str] = News()
        self._lobby = lobby
        self._db = db
        self._limits = limits
        self._stored = stored
        self._members = Members(store, hosting, catalog)
        self._cores = worker_cpus(limits.slots)
        self._hands: dict[int, _Hand] = {}
        self._places: defaultdict[int, _Place] = defaultdict(_Place)
        self._awake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    # as a part

    def register(self, server: grpc.aio.Server) -> None:
        """It offers no service of its own."""

    async def start(self) -> None:
        """Play what is to be played; what a server that ended was at goes on."""
        self._tasks = [asyncio.create_task(self._conduct()), asyncio.create_task(self._watch_lobby())]

    async def stop(self) -> None:
        """Begin nothing more, finish what is in hand, and hand back what takes too long."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        hands = list(self._hands.values())
        for hand in hands:
            hand.stop()
        playing = [hand.task for hand in hands if hand.task is not None]
        if playing:
            _, late = await asyncio.wait(playing, timeout=self._limits.drain_s)
            for hand in hands:
                if hand.task in late and hand.turn is not None:
                    hand.turn.end()
            await asyncio.gather(*playing, return_exceptions=True)
        self.news.close()

    @property
    def workers(self) -> int:
        """Worker processes that play now."""
        return sum(len(hand.slots) for hand in self._hands.values())

    # what others ask of it

    def wake(self) -> None:
        """Something was created, entered or activated: look again."""
        self._awake.set()

    def progress(self, hosted: Hosted) -> Progress:
        """How far a tournament or league is. Reads the database."""
        tournament = self.store.tournament(hosted.name)
        played = self.hosting.stored([hosted.tournament]).get(hosted.tournament, 0)
        hand = self._hands.get(hosted.tournament)
        turn = hand.turn if hand is not None else None
        rate = turn.rate if turn is not None else None
        matches = None if tournament.matches == ENDLESS else tournament.matches
        outlook = turn.run.outlook if turn is not None and turn.run is not None else None
        left = None if matches is None else matches - played
        if outlook is not None and outlook.matches is not None and left is not None:
            left = min(left, outlook.matches)
        return Progress(
            played=played,
            matches=matches,
            is_at_most=is_open(tournament),
            rate=rate,
            eta_s=left / rate if rate and left is not None else None,
            outlook="" if outlook is None else outlook.text,
            today=self.hosting.matches_on(hosted.tournament, self._limits.now_us()),
        )

    async def pause(self, name: str) -> Hosted:
        """Play nothing more of one for now; what is in hand is finished and stored.

        Raises:
            NotHostedError: there is none of this name.
            StateError: it cannot be paused.
        """
        return await self._halt(name, PAUSED, "see its state: arena tournament show NAME")

    async def cancel(self, name: str) -> Hosted:
        """End one for good; what is stored stays.

        Raises:
            NotHostedError: there is none of this name.
            StateError: it is over.
        """
        return await self._halt(name, CANCELLED, "leave it as it is: it is over")

    async def resume(self, name: str) -> Hosted:
        """Go on with one that is paused or has failed.

        Raises:
            NotHostedError: there is none of this name.
            StateError: it is neither.
        """
        hosted = await apart(self.hosting.hosted, name)
        if hosted.state not in (PAUSED, FAILED):
            raise StateError(
                f"{name} cannot be resumed",
                f"it is {hosted.state}",
                "resume one that is paused or has failed",
            )
        begins = hosted.terms.begins_us
        is_due = begins is None or begins <= self._limits.now_us() or hosted.state == FAILED
        state = WAITING if is_due else SCHEDULED
        moved = await apart(self.hosting.must_move, name, state, "ask for its state again")
        self._places.pop(hosted.tournament, None)
        self._tell(name)
        self.wake()
        return moved

    async def _halt(self, name: str, state: str, do: str) -> Hosted:
        hosted = await apart(self.hosting.must_move, name, state, do)
        hand = self._hands.get(hosted.tournament)
        if hand is not None:
            hand.stop()
        self._tell(name)
        self.wake()
        return hosted

    def _tell(self, name: str) -> None:
        self.news.publish(name, CHANGED)

    # whose turn it is

    async def _watch_lobby(self) -> None:
        present = self._lobby.present()
        while True:
            present = await self._lobby.wait_for_change(present)
            self.wake()

    async def _conduct(self) -> None:
        while True:
            self._awake.clear()
            try:
                await self._look()
            except ArenaError as error:  # the database, or the machine: it may be mended
                _log.error("look", what=error.what, why=error.why)
            # Not `wait_for`, which may lose a cancellation that comes as it is woken.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limits.look_s):
                    await self._awake.wait()

    async def _look(self) -> None:
        """Begin what is due, give turns, and end those that have lasted long enough."""
        for hand in list(self._hands.values()):
            await self._review(hand)
        due: list[Hosted] = []
        for hosted in await apart(self.hosting.unfinished):
            if hosted.tournament in self._hands:
                continue
            if hosted.state == CANCELLED:
                await self._close(hosted)
            elif hosted.state == SCHEDULED:
                await self._begin(hosted)
            elif time.monotonic() >= self._places[hosted.tournament].not_before:
                due.append(hosted)
        due.sort(key=lambda hosted: (self._places[hosted.tournament].served, hosted.tournament))
        await self._give_turns(due)

    async def _review(self, hand: _Hand) -> None:
        """End a turn if others are to play than it began with: with its round, or now if one has gone."""
        if hand.is_stopping or hand.turn is None or hand.turn.run is None:
            return
        tournament = hand.turn.run.tournament
        resting = frozenset(away(tournament, self._lobby.present()))
        is_other = await apart(self._members.lineup, tournament) != hand.lineup
        if resting - hand.resting or (is_other and hand.hosted.kind != LEAGUE):
            hand.stop()
        elif is_other or resting != hand.resting:
            hand.turn.end_with_round()

    async def _begin(self, hosted: Hosted) -> None:
        begins = hosted.terms.begins_us
        if begins is None or begins <= self._limits.now_us():
            await apart(self.hosting.move, hosted.tournament, WAITING)
            self._tell(hosted.name)
            self.wake()

    async def _close(self, hosted: Hosted) -> None:
        """Nothing of a cancelled one is in play any more."""
        await apart(self.hosting.close, hosted.tournament)
        self._tell(hosted.name)

    async def _give_turns(self, due: list[Hosted]) -> None:
        for place, hosted in enumerate(due):
            if not (free := self._free()):
                self._make_room(len(due) - place)
                return
            if (reason := await self._lacks(hosted)) is not None:
                await self._wait(hosted, reason)
                continue
            hand = _Hand(hosted, free[:: len(due) - place])
            self._hands[hosted.tournament] = hand
            hand.task = asyncio.create_task(self._serve(hand))
        if not due:
            self._let_grow(len(self._free()))

    def _free(self) -> list[int]:
        """Slots that nobody has."""
        taken = {slot for hand in self._hands.values() for slot in hand.slots}
        return [slot for slot in range(self._limits.slots) if slot not in taken]

    def _make_room(self, waiting: int) -> None:
        """End the turns that have lasted longest, as many as are waited for, if they have had their slice.

        Whoever has several slots has had more than his: he goes on at once with fewer.
        """
        hands = [hand for hand in self._hands.values() if hand.turn is not None]
        waiting -= sum(len(hand.slots) for hand in hands if hand.is_stopping)
        playing = [(hand.turn.seconds, hand) for hand in hands if hand.turn and not hand.is_stopping]
        for seconds, hand in sorted(playing, key=lambda each: -each[0]):
            if waiting > 0 and (len(hand.slots) > 1 or seconds >= self._limits.slice_s):
                hand.stop()
                waiting -= len(hand.slots)

    def _let_grow(self, free: int) -> None:
        """End a turn that has enough to play for the slots that nobody uses: it goes on with those."""
        for hand in self._hands.values():
            if not free or hand.turn is None or hand.turn.run is None or hand.is_stopping:
                continue
            enough = ROOMS[1] * (len(hand.slots) + free)
            is_long = hand.turn.seconds >= self._limits.slice_s
            if is_long and not hand.is_remote and hand.turn.run.missing_matches >= enough:
                hand.stop()
                return

    async def _wait(self, hosted: Hosted, reason: str) -> None:
        if (hosted.state, hosted.reason) != (WAITING, reason):
            await apart(self.hosting.move, hosted.tournament, WAITING, reason, (SCHEDULED, WAITING, RUNNING))
            self._tell(hosted.name)

    async def _lacks(self, hosted: Hosted) -> str | None:
        """What one waits for before it can have a turn; None: for nothing."""
        if hosted.terms.per_day is not None:
            now = self._limits.now_us()
            is_full = self._places[hosted.tournament].full_day == day_of(now)
            if (
                is_full
                or await apart(self.hosting.matches_on, hosted.tournament, now) >= hosted.terms.per_day
            ):
                most = hosted.terms.per_day
                return f"its matches of this UTC day are played, {most} at most; it goes on the next"
        if hosted.kind == LEAGUE:
            return None
        tournament = await apart(self.store.tournament, hosted.name)
        missing = sorted(away(tournament, self._lobby.present()).values())
        return f"until {', '.join(missing)} dial in" if missing else None

    # a turn

    async def _serve(self, hand: _Hand) -> None:
        hosted, place = hand.hosted, self._places[hand.hosted.tournament]
        try:
            await self._play(hand)
            place.failures = 0
        except Exception as error:
            await self._failed(hosted, place, error)
        finally:
            del self._hands[hosted.tournament]
            place.served = time.monotonic()
            self._tell(hosted.name)
            self.wake()

    async def _play(self, hand: _Hand) -> None:
        hosted, place = hand.hosted, self._places[hand.hosted.tournament]
        plan = await self._plan(hand)
        if plan is None:
            place.not_before = time.monotonic() + self._limits.lacks_s
            return
        if not await apart(self.hosting.move, hosted.tournament, RUNNING, "", (WAITING, RUNNING)):
            return  # somebody has paused or cancelled it
        self._tell(hosted.name)
        hand.turn = turn = Turn(plan, partial(self._on_stored, hosted.name))
        if hand.is_stopping:
            turn.stop()
        run = await turn.play()
        if run.failures:
            block, reason = next(iter(run.failures.items()))
            raise ArenaError(
                f"{hosted.name} cannot be played",
                f"block {block} was {reason}",
                "mend the machine, and resume it",
            )
        if run.is_full and not turn.played:
            place.full_day = day_of(self._limits.now_us())
        if run.over and hosted.kind != LEAGUE:
            await apart(self.hosting.move, hosted.tournament, FINISHED)
        else:
            await apart(self.hosting.move, hosted.tournament, WAITING, "", (RUNNING,))

    def _on_stored(self, name: str, records: Sequence[MatchRecord]) -> None:
        hand = next((hand for hand in self._hands.values() if hand.hosted.name == name), None)
        if hand is not None and hand.turn is not None and hand.turn.run is not None:
            self._stored(hand.turn.run.tournament, records)
        self._tell(name)

    async def _failed(self, hosted: Hosted, place: _Place, error: Exception) -> None:
        """The machine failed: it is tried again after a while, a few times."""
        _log.error("turn", tournament=hosted.name, exc_info=error)
        reason = (
            f"{error.what}: {error.why}"
            if isinstance(error, ArenaError)
            else "the server failed, see its log"
        )
        if place.failures >= len(self._limits.waits_s):
            place.failures = 0
            state = FAILED
        else:
            wait = self._limits.waits_s[place.failures]
            place.failures += 1
            place.not_before = time.monotonic() + wait
            state, reason = WAITING, f"{reason}; it is tried again"
        try:
            await apart(self.hosting.move, hosted.tournament, state, reason, (WAITING, RUNNING))
        except ArenaError as again:  # the database itself; its state there is right enough to go on from
            _log.error("state", tournament=hosted.name, what=again.what, why=again.why)

    async def _plan(self, hand: _Hand) -> Plan | None:
        """What a turn plays; None if a league lacks bots, which it then says."""
        hosted, present = hand.hosted, self._lobby.present()
        tournament = await apart(self.store.tournament, hosted.name)
        hand.lineup = await apart(self._members.lineup, tournament)
        if tournament.format == LADDER:
            tournament = await apart(self._members.renew, tournament)
            hand.resting = frozenset(away(tournament, present))
            if (reason := _too_few(tournament, hand.resting, hosted.terms.same_owner)) is not None:
                await self._wait(hosted, reason)
                return None
            await apart(self._drop_impossible, tournament, hand.resting)
        playing = await apart(with_specs, tournament, self.catalog)
        seating = Seating(hand.resting, hosted.terms.same_owner)
        most = await self._left_today(hosted)
        return Plan(
            run=partial(_make_run, self.store, tournament, seating, most),
            executor=partial(self._executor, playing, hand),
            along=self.hosting.note(hosted.tournament, self._limits.now_us),
        )

    def _executor(self, playing: StoredTournament, hand: _Hand) -> Executor:
        bots = bots_of(playing)
        sit = [bot for i, bot in enumerate(bots) if i not in hand.resting and not playing.bots[i].retired]
        if any(bot.is_remote for bot in sit):
            hand.slots, hand.is_remote = hand.slots[:1], True  # it is played here: more are of no use to it
            return self._lobby.executor(playing, bots, self._limits.in_flight)
        jobs = max(1, len(hand.slots) // max(bot.threads for bot in sit))
        cores = [
            [core for slot in hand.slots[job::jobs] for core in self._cores[slot]] for job in range(jobs)
        ]
        return make_executor(playing, self._db, Workers(jobs, self._limits.in_flight, cores=cores))

    async def _left_today(self, hosted: Hosted) -> int | None:
        if hosted.terms.per_day is None:
            return None
        played = await apart(self.hosting.matches_on, hosted.tournament, self._limits.now_us())
        return max(0, hosted.terms.per_day - played)

    def _drop_impossible(self, league: StoredTournament, resting: frozenset[int]) -> None:
        """Of a round that was interrupted take back what cannot be played by those who are there."""
        gone = resting | {index for index, bot in enumerate(league.bots) if bot.retired}
        played = set(self.store.done(league.id))
        for table in self.store.pairings(league.id):
            undone = any((table.block, seating) not in played for seating in range(len(table.seatings)))
            if undone and gone & set(table.seatings[0]):
                self.store.drop_undone(league.id)
                return


def _make_run(store: Store, tournament: StoredTournament, seating: Seating, most: int | None) -> Run:
    try:
        return Run(store, tournament, seating=seating, most=most)
    except ScheduleError as error:
        raise ArenaError(f"{tournament.name} cannot be played", str(error), "change its bots") from error


def _too_few(league: StoredTournament, resting: frozenset[int], same_owner: bool) -> str | None:
    """Why a league cannot play now; None: it can."""
    there = [bot for index, bot in enumerate(league.bots) if not bot.retired and index not in resting]
    if len(there) < league.seats:
        rest = f", and {len(resting)} are not connected" if resting else ""
        return f"{league.seats} bots are needed at a table, and {len(there)} are there{rest}"
    # No two of one owner sit at one table.
    owners = {bot.owner for bot in there if bot.owner is not None}
    apart = len(owners) + sum(bot.owner is None for bot in there)
    if apart < league.seats and not same_owner:
        return f"bots of {league.seats} owners are needed at a table, or house bots, and {apart} are there"
    return None
