"""Who sits at tables: what a table needs of a bot, and the bots that are started when they are needed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

from botarena.v1.record_pb2 import Evidence, FaultKind

from arena.bots.gateway import Gateway
from arena.bots.launcher import Launcher, LaunchError
from arena.bots.life import KilledError, Life
from arena.bots.reference import BotSpec
from arena.match.host import Absent, Lane, TableHost
from arena.match.verdicts import MAX_FAILURES, MAX_TROUBLES


class Places:
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


class Player(Protocol):
    """A bot as a table sees it: it is there, or comes, or cannot be had.

    Attributes:
        on_probation: whether it is not pardoned if it is killed now.
    """

    on_probation: bool

    @property
    def name(self) -> str:
        """Its name in the tournament."""
        ...

    @property
    def ready(self) -> bool:
        """Whether it is there, as far as is known."""
        ...

    @property
    def places(self) -> Places | None:
        """How many matches it plays at once; None: it plays none itself.

        Another object means another conversation, which may play more or fewer.
        """
        ...

    @property
    def was_killed(self) -> bool:
        """Whether it was pardoned when it ended last."""
        ...

    async def lane(self) -> Lane | Absent:
        """Its lane, once it has come, or why it does not play."""
        ...

    async def lane_for(self, game: str) -> Lane | Absent:
        """Its lane, or why it does not play this game."""
        ...

    def played(self) -> None:
        """It played a match to its end."""
        ...

    async def stop(self) -> None:
        """It is not needed any more."""
        ...


def check_game(lane: Lane | Absent, games: tuple[str, ...], game: str) -> Lane | Absent:
    """A bot's lane, or why it does not play a game.

    Args:
        lane: its lane.
        games: names of those that it plays; empty: any.
        game: name of the one in question.
    """
    if not games or game in games:
        return lane
    return Absent(
        FaultKind.FAULT_KIND_START_FAILED, f"its hello names the games {', '.join(games)}, not {game}"
    )


class StartedPlayer:
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
        self._life: Life | None = None
        self.places: Places | None = None
        self._games: tuple[str, ...] = ()
        self._out: Absent | None = None
        self._stopped = False

    @property
    def name(self) -> str:
        """Its name in the tournament."""
        return self.spec.name

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
        return check_game(await self.lane(), self._games, game)

    def played(self) -> None:
        """It played a match to its end: what failed before is no row of failures."""
        self.failures = self.troubles = 0

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
        life = Life(self._gateway, self._launcher, self._host.watch, self)
        try:
            begun = await life.begin(self.spec, self._log, self._start_us)
        except KilledError as killed:
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
            self.places = Places(hello.concurrency)

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
