"""Builds and checks what is submitted, in the background, one after another.

What a server that ended was at begins again with the next one. A bot that fails does so by its own doing,
with a log that says why; what the machine does is tried again, after a while that grows.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from arena.bots.building import BuildFailedError, BuildLog
from arena.bots.reference import BotSpec
from arena.errors import ArenaError, StateError, UsageError
from arena.games.game import GameError
from arena.runs.trial import OPPONENTS, Trial, play_trial
from arena.server.background import apart
from arena.server.catalog import Catalog
from arena.server.shelf import Shelf
from arena.store.roster import (
    BUILDING,
    CHECKING,
    FAILED,
    PENDING,
    UPLOADED,
    Roster,
    RosterVersion,
)
from arena.text import printable

_LOG = logging.getLogger(__name__)
_AGAIN_S = 5.0
_AGAIN_MOST_S = 300.0
_LINES = 2000
_LINE = 1000
_REASON = 300


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """How submissions are built and checked.

    Attributes:
        at_once: how many at a time.
        seconds: how long the check of one may take.
        log_bytes: how much is kept of the log of its build, and of that of its check.
    """

    at_once: int = 1
    seconds: float = 900.0
    log_bytes: int = 256 << 10


@dataclass(slots=True)
class _Talk:
    """What was said about a version on its way, for whoever watches.

    Attributes:
        lines: the last ones.
        said: how many there were.
        changed: set, and replaced, when there is something new.
    """

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LINES))
    said: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def since(self, seen: int) -> list[str]:
        """The lines after so many, as far as they are kept."""
        new = min(self.said - seen, len(self.lines))
        return list(self.lines)[len(self.lines) - new :]

    def note(self) -> None:
        """There is something new."""
        self.changed.set()
        self.changed = asyncio.Event()


class Checker:
    """The part of a server that builds and checks.

    Args:
        roster: where the submissions are.
        catalog: makes them ready.
        shelf: where their code lies.
        data: folder of the server, for what is written meanwhile.
        limits: how it is done.
    """

    def __init__(
        self, roster: Roster, catalog: Catalog, shelf: Shelf, data: Path, limits: CheckLimits | None = None
    ) -> None:
        self._roster = roster
        self._catalog = catalog
        self._shelf = shelf
        self._folder = data / "checks"
        self._limits = limits or CheckLimits()
        self._more = asyncio.Event()
        self._going: dict[int, asyncio.Task[None]] = {}
        self._waits: dict[int, float] = {}  # seconds, of those that the machine failed
        self._waiting: set[int] = set()
        self._talks: dict[int, _Talk] = {}
        self._worker: asyncio.Task[None] | None = None

    def register(self, server: grpc.aio.Server) -> None:
        """It offers no service of its own."""

    async def start(self) -> None:
        """Begin with what waits; what a server that ended was at waits again."""
        # What bots write in a check is nobody else's on this machine either.
        await apart(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        await apart(self._shelf.clear)
        await apart(self._roster.hand_back)
        self._worker = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """Stop; what is in hand is handed back."""
        tasks = [*self._going.values(), *([self._worker] if self._worker else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._worker is not None:
            await apart(self._roster.hand_back)
        self._worker = None
        for talk in self._talks.values():
            talk.note()

    def wake(self) -> None:
        """Something was submitted, or changed otherwise."""
        self._more.set()
        for talk in self._talks.values():
            talk.note()

    @property
    def going(self) -> int:
        """How many versions are being built or checked."""
        return len(self._going)

    async def watch(self, number: int) -> AsyncGenerator[RosterVersion | str, None]:
        """A version whenever its state changes, and what is said about it, until it is on its way no more.

        Args:
            number: row number of the version.

        Raises:
            NotFoundError: there is none.
        """
        version = await apart(self._roster.version_by_id, number)
        # Of one that is on its way no more there is nothing to say.
        talk = self._talks.setdefault(number, _Talk()) if version.state in PENDING else _Talk()
        seen, state = talk.said - len(talk.lines), ("", "")
        while True:
            changed = talk.changed
            version = await apart(self._roster.version_by_id, number)
            new, seen = talk.since(seen), talk.said
            for line in new:
                yield line
            if (version.state, version.reason) != state:
                state = (version.state, version.reason)
                yield version
            if version.state not in PENDING or self._worker is None:
                return
            await changed.wait()

    # the queue

    async def _work(self) -> None:
        while True:
            self._more.clear()
            for version in in_turn(await apart(self._roster.in_state, {UPLOADED})):
                if len(self._going) >= self._limits.at_once:
                    break
                if version.id not in self._going and version.id not in self._waiting:
                    self._begin(version)
            await self._more.wait()

    def _begin(self, version: RosterVersion) -> None:
        task = asyncio.create_task(self._attend(version))
        self._going[version.id] = task
        task.add_done_callback(lambda _: self._done(version.id))

    def _done(self, number: int) -> None:
        self._going.pop(number, None)
        self._more.set()
        if number not in self._waiting:
            self._waits.pop(number, None)
            if (talk := self._talks.pop(number, None)) is not None:
                talk.note()

    async def _attend(self, version: RosterVersion) -> None:
        """Bring one version as far as it comes."""
        try:
            with suppress(StateError):  # it was barred meanwhile, or another server has it
                await self._bring(version)
        except ArenaError as error:
            await self._try_again(version, str(error))
        except Exception as error:  # a bug of ours must not stand in everybody's way
            _LOG.exception("a version could not be checked")
            await self._try_again(version, f"the arena failed: {type(error).__name__}")

    async def _bring(self, version: RosterVersion) -> None:
        self._say(version.id, f"{version.reference} is being built")
        await apart(self._roster.set_state, version.id, UPLOADED, BUILDING)
        self._note(version.id)
        log = BuildLog(self._limits.log_bytes)
        spec = await self._build(version, log)
        if spec is None:
            return
        await apart(
            self._roster.set_state,
            version.id,
            BUILDING,
            CHECKING,
            spec=spec.to_json(),
            build_log=printable(log.text()),
        )
        self._note(version.id)
        await self._check(version, spec)

    async def _build(self, version: RosterVersion, log: BuildLog) -> BotSpec | None:
        """Build a version; None if it failed."""
        loop = asyncio.get_running_loop()

        def tell(line: str) -> None:
            loop.call_soon_threadsafe(self._say, version.id, line)

        def keep(text: str) -> None:
            log.add(text.encode())

        try:
            return await apart(self._catalog.build, version, tell, keep)
        except (UsageError, BuildFailedError, GameError) as error:
            reason = f"{error.what}: {error.why}" if isinstance(error, ArenaError) else str(error)
            log.add(f"{reason}\n".encode())
            if isinstance(error, ArenaError):
                log.add(f"{error.do}\n".encode())
            await self._fail(version, BUILDING, reason, build_log=printable(log.text()))
            return None

    async def _check(self, version: RosterVersion, spec: BotSpec) -> None:
        house = [await apart(self._catalog.house_bot, name) for name in OPPONENTS]
        self._say(version.id, f"{version.reference} is being checked")
        folder = self._folder / str(version.id)
        trial = await play_trial(
            spec, house, folder, self._limits.seconds, lambda line: self._say(version.id, line)
        )
        log = _bounded(trial, self._limits.log_bytes)
        if trial.reason:
            await self._fail(version, CHECKING, trial.reason, check_log=log)
        else:
            await apart(self._roster.finish, version.id, log)
            self._note(version.id)

    async def _fail(
        self,
        version: RosterVersion,
        state: str,
        reason: str,
        build_log: str | None = None,
        check_log: str | None = None,
    ) -> None:
        reason = printable(" ".join(reason.split()))[:_REASON]
        self._say(version.id, f"{version.reference} failed: {reason}")
        await apart(
            self._roster.set_state,
            version.id,
            state,
            FAILED,
            reason=reason,
            build_log=build_log,
            check_log=check_log,
        )
        self._note(version.id)

    async def _try_again(self, version: RosterVersion, why: str) -> None:
        """It is nobody's fault: the version waits, and is begun again after a while."""
        wait = min(_AGAIN_MOST_S, 2 * self._waits.get(version.id, _AGAIN_S / 2))
        self._waits[version.id] = wait
        self._waiting.add(version.id)
        reason = printable(" ".join(f"it is tried again: {why}".split()))[:_REASON]
        with suppress(StateError):
            await apart(self._roster.set_state, version.id, {BUILDING, CHECKING}, UPLOADED, reason=reason)
        self._say(version.id, reason)
        asyncio.get_running_loop().call_later(wait, self._retry, version.id)

    def _retry(self, number: int) -> None:
        self._waiting.discard(number)
        self._more.set()

    def _say(self, number: int, line: str) -> None:
        talk = self._talks.setdefault(number, _Talk())
        talk.lines.append(printable(line)[:_LINE])
        talk.said += 1
        talk.note()

    def _note(self, number: int) -> None:
        if (talk := self._talks.get(number)) is not None:
            talk.note()


def in_turn(waiting: Sequence[RosterVersion]) -> list[RosterVersion]:
    """Versions in the order in which they are attended to: one of each owner, then a second one, and so on.

    Args:
        waiting: in the order in which they were submitted.
    """
    before: Counter[int] = Counter()
    turns = []
    for version in waiting:
        turns.append((before[version.owner_id], version.id, version))
        before[version.owner_id] += 1
    return [version for *_, version in sorted(turns, key=lambda turn: turn[:2])]


def _bounded(trial: Trial, most: int) -> str:
    log = BuildLog(most)
    for line in trial.log:
        log.add(f"{line}\n".encode())
    return log.text()
