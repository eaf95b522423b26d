"""Seats started bots at tables: the one place where bots' processes, the gateway and the host meet."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from botarena.v1.bot_pb2 import Hello
from botarena.v1.record_pb2 import Evidence, FaultKind

from arena.bots.conversation import LAST_WORDS_S, Guest
from arena.bots.gateway import Gateway
from arena.bots.launcher import Ending, Launcher, LaunchError, Place, Running
from arena.bots.process import Processes, log_name
from arena.bots.reference import BotSpec
from arena.match.evidence import made_evidence
from arena.match.host import AbandonedError, Absent, Lane, OverloadError, TableHost
from arena.match.lag import LagWatch, margin_us
from arena.match.match import Match
from arena.match.spec import MatchSpec
from arena.match.verdicts import MAX_FAILURES, MAX_OVERLOADS, MAX_TROUBLES

_TROUBLE_S = 1.0  # seconds after which a bot that the machine could not start is tried again
_RECOVER_S = 10.0  # seconds after which as many matches are in play again as before an overload


class Tables:
    """Plays matches with bots that it starts when they are first needed, and keeps.

    Use it as an asynchronous context manager; at its end no bot is left.

    Args:
        bots: all bots that may be seated, with names of their own.
        logs: folder for their output.
        start_us: how long a bot may take to greet, in microseconds.
        worker: number of this worker.
        in_flight: matches in play at once; what comes beyond them waits.
        launcher: starts the bots.
    """

    def __init__(
        self,
        bots: Sequence[BotSpec],
        logs: Path,
        start_us: int,
        worker: int = 0,
        in_flight: int = 64,
        launcher: Launcher | None = None,
    ) -> None:
        launcher = launcher or Processes()
        self._host = TableHost(worker)
        self._flow = Flow(in_flight)
        self._gateway = Gateway(self._host)
        self._early: list[asyncio.Task[Lane | Absent]] = []
        self._players = {
            bot.name: _Player(
                bot, self._host, self._gateway, launcher, logs / log_name(bot.name, worker), start_us
            )
            for bot in bots
        }

    async def __aenter__(self) -> Tables:
        return self

    async def __aexit__(self, *_: object) -> None:
        for starting in self._early:
            starting.cancel()
        await asyncio.gather(*self._early, return_exceptions=True)
        self._host.send_all()  # bots are told how their last matches ended
        await asyncio.gather(*(player.stop() for player in self._players.values()))
        await self._gateway.stop()

    def start_all(self) -> None:
        """Start every bot now, since all will be needed, and not only when a match needs it."""
        self._early = [asyncio.create_task(player.lane()) for player in self._players.values()]

    async def play(self, spec: MatchSpec) -> bytes:
        """Play a match to its record, again from the start as often as it is abandoned.

        It waits until fewer matches than the limit are in play. A bot that is killed in it may have been
        killed by the machine (see `Ending.is_doubtful`): once for each bot the match is given up and nobody
        blamed; if the same bot is killed in it again, it crashed.

        Raises:
            OverloadError: the arena was too busy to judge a timeout, each time that it was tried.
            LaunchError: the machine could not start a bot, each time that it was tried.
        """
        players = [self._players[name] for name, _ in spec.bots]
        alone: set[str] = set()
        pardoned: set[str] = set()
        overloads = troubles = 0
        while True:
            async with self._flow:
                try:
                    return await self._play_once(spec, players, alone, pardoned)
                except AbandonedError as abandoned:
                    alone.add(abandoned.bot)
                    if self._players[abandoned.bot].was_killed:
                        pardoned.add(abandoned.bot)
                except OverloadError:
                    overloads += 1
                    self._flow.back_off()
                    if overloads == MAX_OVERLOADS:
                        raise
                except LaunchError:
                    troubles += 1
                    if troubles == MAX_TROUBLES:
                        raise
                    await asyncio.sleep(_TROUBLE_S)

    async def _play_once(
        self, spec: MatchSpec, players: Sequence[_Player], alone: set[str], pardoned: set[str]
    ) -> bytes:
        held: list[tuple[_Places, int]] = []
        try:
            if missing := [player for player in players if not player.ready]:
                await asyncio.gather(*(player.lane() for player in missing))
            # Always in one order, so that no two matches wait for each other's bots.
            for player in sorted(players, key=lambda player: player.spec.name):
                if player.places is not None:  # else it plays none itself
                    count = await player.places.take(player.spec.name in alone)
                    held.append((player.places, count))
            for player in players:
                # One that was pardoned plays this match alone, and nothing else that this could hold for.
                player.on_probation = player.spec.name in pardoned
            lanes = [await player.lane_for(spec.game.name) for player in players]
            match = Match(spec)
            record = await self._host.play(match, lanes)
        finally:
            for places, count in held:
                places.release(count)
        for seat, player in enumerate(players):
            if match.forfeit_of(seat) is None:
                player.failures = player.troubles = 0
        return record


class Flow:
    """How many matches are in play at once: fewer for a while after the arena was too busy.

    Args:
        most: how many if nothing is amiss.
    """

    def __init__(self, most: int) -> None:
        self._limit = most
        self._playing = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self._playing < self._limit:  # nobody waits while there is room
            self._playing += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was admitted and never came
                await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._playing -= 1
        self._admit()

    def back_off(self) -> None:
        """Halve the limit, and raise it again step by step."""
        less = self._limit // 2
        self._limit -= less
        for step in range(less):
            asyncio.get_running_loop().call_later(_RECOVER_S * (step + 1) / less, self._recover)

    def _recover(self) -> None:
        self._limit += 1
        self._admit()

    def _admit(self) -> None:
        while self._queue and self._playing < self._limit:
            turn = self._queue.popleft()
            if not turn.cancelled():
                self._playing += 1
                turn.set_result(None)


class _KilledError(LaunchError):
    """A bot was killed before it greeted, perhaps by the machine.

    Attributes:
        fault: what it did if the machine did nothing.
    """

    def __init__(self, fault: Absent) -> None:
        super().__init__(fault.detail)
        self.fault = fault


class _Places:
    """Places in matches that a bot plays at once, and the right to have it in one match alone."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._taken = 0
        self._want_alone = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def take(self, alone: bool) -> int:
        """Wait for a place beside others, or for all of them; how many were taken."""
        return await self._all() if alone else await self._one()

    def release(self, count: int) -> None:
        """Give places back."""
        self._taken -= count
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def _one(self) -> int:
        while self._taken >= self._count or self._want_alone:
            await self._change()
        self._taken += 1
        return 1

    async def _all(self) -> int:
        # Those who want one place wait until nobody wants all any more.
        self._want_alone += 1
        try:
            while self._taken:
                await self._change()
            self._taken = self._count
        finally:
            self._want_alone -= 1
        return self._count

    async def _change(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future


class _Player:
    """A bot that is started when it is needed, and again when it failed.

    Attributes:
        failures: in a row, by its own doing.
        troubles: likewise, by the machine's.
        was_killed: whether it was pardoned when it ended last.
        on_probation: whether it is not pardoned if it is killed now.
    """

    def __init__(
        self,
        spec: BotSpec,
        host: TableHost,
        gateway: Gateway,
        launcher: Launcher,
        log: Path,
        start_us: int,
    ) -> None:
        self.spec = spec
        self.failures = 0
        self.troubles = 0
        self.was_killed = False
        self.on_probation = False
        self._killed_at_start = False
        self._host = host
        self._gateway = gateway
        self._launcher = launcher
        self._log = log
        self._start_us = min(start_us, spec.limits.start_us or start_us)
        self._starting = asyncio.Lock()
        self._lane: Lane | None = None
        self._life: _Life | None = None
        self.places: _Places | None = None
        self._games: tuple[str, ...] = ()
        self._out: Absent | None = None
        self._stopped = False

    @property
    def ready(self) -> bool:
        """Whether it is there, as far as is known."""
        return self._out is None and self._lane is not None and not self._lane.closed

    async def lane(self) -> Lane | Absent:
        """Its lane, or why it plays no more."""
        if self.ready and self._lane is not None:
            return self._lane
        async with self._starting:
            if self._out is None and (self._lane is None or self._lane.closed):
                await self._start()
            if self._out is not None:
                return self._out
            assert self._lane is not None
            return self._lane

    async def lane_for(self, game: str) -> Lane | Absent:
        """Its lane, or why it does not play this game."""
        lane = await self.lane()
        if self._games and game not in self._games:
            named = ", ".join(self._games)
            return Absent(FaultKind.FAULT_KIND_START_FAILED, f"its hello names the games {named}, not {game}")
        return lane

    async def stop(self) -> None:
        """End it."""
        self._stopped = True
        if self._life is not None:
            await self._life.stop()

    async def _start(self) -> None:
        if self._life is not None:
            await self._life.stop()
        if self.troubles >= MAX_TROUBLES:
            self.troubles = 0  # whoever asks again later may find the machine mended
            raise LaunchError(f"{self.spec.name} was lost {MAX_TROUBLES} times in a row")
        life = _Life(self._gateway, self._launcher, self._host.watch, self)
        try:
            begun = await life.begin(self.spec, self._log, self._start_us)
        except _KilledError as killed:
            if not self._killed_at_start:
                self._killed_at_start = True
                raise
            begun = killed.fault
        if isinstance(begun, Absent):
            self._out = begun
            return
        hello, self._lane = begun
        self._killed_at_start = False
        self._life = life
        self._games = tuple(hello.games)
        if self.places is None:
            self.places = _Places(hello.concurrency)

    def failed(self, fault: Absent | None) -> None:
        """Its life is over: blame it, and give it up if it only ever fails."""
        self.was_killed = False
        if self._stopped or self._lane is None:
            return
        self.failures += 1
        if self.failures >= MAX_FAILURES and self._out is None:
            kind = fault.kind if fault is not None else FaultKind.FAULT_KIND_TIMEOUT
            last = fault.detail if fault is not None else "it did not answer in time"
            known = fault.evidence if fault is not None else Evidence()
            self._out = Absent(
                kind, f"not started again after {self.failures} failures in a row; the last: {last}", known
            )
        self._host.close(self._lane, fault)

    def killed(self, fault: Absent) -> None:
        """It was killed, perhaps by the machine: a fault only in a match that was given up for it before."""
        if self.on_probation:
            self.failed(fault)
        else:
            self.lost()
            self.was_killed = True

    def lost(self) -> None:
        """The machine ended its life: nobody is to blame, and its matches are played again."""
        self.was_killed = False
        self.troubles += 1
        if not self._stopped and self._lane is not None:
            self._host.close(self._lane, None)


class _Life:
    """One life of a bot, from the start of its process to its end.

    Args:
        gateway: where it dials in.
        launcher: starts it.
        lag: how late the arena is.
        player: whose life it is; told by whose doing it ended.
    """

    def __init__(self, gateway: Gateway, launcher: Launcher, lag: LagWatch, player: _Player) -> None:
        self._gateway = gateway
        self._launcher = launcher
        self._lag = lag
        self._player = player
        self._guest: Guest | None = None
        self._process: Running | None = None
        self._hung_up: asyncio.Future[Absent | None] = asyncio.get_running_loop().create_future()
        self._watch: asyncio.Task[None] | None = None
        self._over = False
        self._ending: asyncio.Task[None] | None = None

    async def begin(self, spec: BotSpec, log: Path, start_us: int) -> tuple[Hello, Lane] | Absent:
        """Start it and wait for its hello, no longer than its start budget.

        Raises:
            LaunchError: the machine cannot start it.
        """
        try:
            guest, process = await self._launch(spec, log)
            await self._wait_for_hello(guest, process, start_us)
        except BaseException:  # it cannot be started, or is not needed any more
            await self.stop()
            raise
        if guest.greeted.done():
            hello, lane = guest.greeted.result()
            self._watch = asyncio.create_task(self._watch_over(process, lane))
            return hello, lane
        return await self._why_not(process, start_us)

    async def _launch(self, spec: BotSpec, log: Path) -> tuple[Guest, Running]:
        try:
            self._guest = guest = await self._gateway.expect(spec.name, self._hang_up, self._stuck)
            place = Place(guest.folder, guest.token, log)
            self._process = process = await self._launcher.start(spec, spec.limits, place)
        except OSError as error:
            raise LaunchError(f"it cannot be started: {error}") from error
        return guest, process

    async def _wait_for_hello(self, guest: Guest, process: Running, start_us: int) -> None:
        """Wait until it has greeted, cannot any more, or is out of time.

        Raises:
            LaunchError: the arena was late itself when its time ran out.
        """
        began = self._lag.clock()
        waiting: list[asyncio.Future[Any]] = [guest.greeted, process.ended, self._hung_up]
        with self._lag.on():
            done, _ = await asyncio.wait(waiting, timeout=start_us / 1e6, return_when=asyncio.FIRST_COMPLETED)
            if not done and self._lag.worst_us(began, self._lag.clock()) > margin_us(start_us):
                raise LaunchError("the arena was too busy to tell whether it greeted in time")

    async def stop(self) -> None:
        """End it, whatever it does."""
        self._over = True
        if self._watch is not None and self._watch is not asyncio.current_task():
            self._watch.cancel()
        if self._guest is not None:
            await self._gateway.dismiss(self._guest)
        if self._process is not None:
            await self._process.stop()

    async def _why_not(self, process: Running, start_us: int) -> Absent:
        """Why there was no hello; it is ended, if it has not ended by itself.

        Raises:
            LaunchError: it is the machine's fault, or may be.
        """
        if self._hung_up.done():
            await asyncio.wait([process.ended], timeout=LAST_WORDS_S)
        by_itself = process.ended.done()
        if self._hung_up.done():
            fault = self._hung_up.result()
            reason = fault.detail if fault is not None else "the arena failed on what it sent"
        elif by_itself:
            reason = process.ended.result().text
        else:
            reason = f"it did not greet within {start_us / 1e6:g} s"
        await self.stop()
        ending = process.ended.result()
        if ending.infra:
            raise LaunchError(ending.infra)
        kind = FaultKind.FAULT_KIND_START_FAILED
        if by_itself and ending.out_of_memory:
            kind = FaultKind.FAULT_KIND_MEMORY_EXCEEDED
        fault = Absent(kind, reason, evidence_of(ending, by_itself))
        if by_itself and ending.is_doubtful:
            raise _KilledError(fault)
        return fault

    def _hang_up(self, fault: Absent | None) -> None:
        if not self._hung_up.done():
            self._hung_up.set_result(fault)

    def _stuck(self) -> None:
        """The host gave it up: its process is ended, since nothing else would free it."""
        if not self._over:
            self._end(lambda: self._player.failed(None))

    def _end(self, tell: Callable[[], None]) -> None:
        self._over = True
        tell()
        self._ending = asyncio.create_task(self.stop())

    def _stayed_away(self) -> bool:
        """Whether its stream ended, and all its time of grace went by."""
        fault = self._hung_up.result() if self._hung_up.done() else None
        return fault is not None and fault.kind == FaultKind.FAULT_KIND_DISCONNECTED

    async def _watch_over(self, process: Running, lane: Lane) -> None:
        """Wait until the conversation or the process ends, and a moment for the other to follow."""
        assert self._guest is not None
        ends: list[asyncio.Future[Any]] = [self._hung_up, process.ended]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        lane.lost = True
        if process.ended.done():
            self._gateway.expect_no_return(self._guest)
        await asyncio.wait(ends, timeout=LAST_WORDS_S if not self._stayed_away() else 0)
        if self._over:
            return
        ending = process.ended.result() if process.ended.done() else None
        if (ending is not None and ending.infra) or (self._hung_up.done() and self._hung_up.result() is None):
            self._end(self._player.lost)
            return
        fault = self._hung_up.result() if self._hung_up.done() else None
        if ending is not None and (fault is None or fault.kind == FaultKind.FAULT_KIND_DISCONNECTED):
            kind = FaultKind.FAULT_KIND_CRASHED
            if ending.out_of_memory:
                kind = FaultKind.FAULT_KIND_MEMORY_EXCEEDED
            fault = crash = Absent(kind, ending.text, evidence_of(ending))
            if ending.is_doubtful:
                self._end(lambda: self._player.killed(crash))
                return
        self._end(lambda: self._player.failed(fault))


def evidence_of(ending: Ending, by_itself: bool = True) -> Evidence:
    """What a bot's end tells about its fault.

    Args:
        by_itself: whether the bot ended before the arena ended it: else how it ended is the arena's doing.
    """
    return made_evidence(
        stderr=ending.tail,
        exit_code=ending.exit_code if by_itself else None,
        signal=ending.signal if by_itself else "",
        memory_peak_bytes=ending.memory_peak_bytes,
    )
