"""One life of a bot that the arena starts: how it begins, how it ends, and whose doing that was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from botarena.v1.bot_pb2 import Hello
from botarena.v1.record_pb2 import Evidence, FaultKind

from arena.bots.conversation import LAST_WORDS_S, Guest
from arena.bots.gateway import Gateway
from arena.bots.launcher import Ending, Launcher, LaunchError, Place, Running
from arena.bots.reference import BotSpec
from arena.match.evidence import made_evidence
from arena.match.host import Absent, Lane
from arena.match.lag import LagWatch, margin_us


class Mourner(Protocol):
    """Who is told by whose doing a life ended."""

    def failed(self, fault: Absent | None) -> None:
        """By the bot's; None: it did not answer in time, which was ruled already."""
        ...

    def killed(self, fault: Absent) -> None:
        """By SIGKILL, perhaps by the machine's."""
        ...

    def lost(self) -> None:
        """By the machine's."""
        ...


class KilledError(LaunchError):
    """A bot was killed before it greeted, perhaps by the machine.

    Attributes:
        fault: what it did if the machine did nothing.
    """

    def __init__(self, fault: Absent) -> None:
        super().__init__(fault.detail)
        self.fault = fault


class Life:
    """One life of a bot, from the start of its process to its end.

    Args:
        gateway: where it dials in.
        launcher: starts it.
        lag: how late the arena is.
        player: whose life it is; told by whose doing it ended.
    """

    def __init__(self, gateway: Gateway, launcher: Launcher, lag: LagWatch, player: Mourner) -> None:
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
            raise KilledError(fault)
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
