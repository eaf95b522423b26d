"""A fuzzer at tables with honest bots: each of its lives ends by a fault, and must disturb nobody else."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, Protocol

from botarena import lazy
from botarena.v1.bot_pb2 import FromBot
from botarena.v1.record_pb2 import MatchRecord, Verdict

from arena.bots.conversation import Guest
from arena.games import find_game
from arena.match.host import AbandonedError, Absent, Lane, TableHost
from arena.match.match import Match
from arena.match.record import unseal
from arena.match.replay import verify
from arena.match.verdicts import fault_name
from tests.fuzz import frames
from tests.match.fakes import spec

GAMES = ("koffer", "koffer", "koffer", "kamozza", "hochstapler")
FRAMES_A_LIFE = 400
"""A life that is not over by then ends by hanging up."""
VERIFIED = 10
"""One record in so many is replayed from its deal."""


class Honest:
    """Answers the first action, as soon as the loop gets to it."""

    def __init__(self, host: TableHost, name: str) -> None:
        self._host = host
        self.stuck = 0
        self.lane = Lane(name, self, self._count)

    def send(self, frame: bytes) -> None:
        answers = FromBot()
        for decision in lazy.FromArena.FromString(frame).decisions:
            answers.replies.add(decision=decision.id, action=0)
        if answers.replies:
            asyncio.get_running_loop().call_soon(self._host.receive, self.lane, answers)

    def _count(self) -> None:
        self.stuck += 1


class Findings(logging.Handler):
    """What was found to be wrong, whoever noticed it: the loop, a log, or a check."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.wrong: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.wrong.append(f"logged: {self.format(record)}")

    def of_the_loop(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.wrong.append(f"escaped: {context['message']}: {context.get('exception')!r}")


class Table:
    """A host with honest bots, and what its matches came to.

    Attributes:
        outcomes: matches by what became of them.
    """

    def __init__(self, findings: Findings, seed: int) -> None:
        self.host = TableHost()
        self.findings = findings
        self.outcomes: Counter[str] = Counter()
        self.dice = Random(seed)
        self._honest = [Honest(self.host, name) for name in ("a", "b")]
        self._deals = 0

    async def play(self, lane: Lane) -> None:
        """A match with the fuzzer in a random seat."""
        self._deals += 1
        game = find_game(self.dice.choice(GAMES))
        seat = self.dice.randrange(3)
        lanes = [honest.lane for honest in self._honest]
        lanes.insert(seat, lane)
        base = spec([lane.name for lane in lanes], move_us=600_000_000, bank_us=600_000_000)
        dealt = replace(base, game=game, options=game.options({}), seed=self._deals.to_bytes(32, "big"))
        try:
            record = unseal(await self.host.play(Match(dealt), lanes))
        except AbandonedError:
            self.outcomes["abandoned, to be played again"] += 1
            return
        self._judge(record, seat)

    def _judge(self, record: MatchRecord, seat: int) -> None:
        """Nobody but the fuzzer is at fault, and the others played what they always play."""
        kinds = [fault_name(fault.kind) for fault in record.faults]
        self.outcomes[", ".join(kinds) or Verdict.Name(record.verdict).removeprefix("VERDICT_")] += 1
        played = Verdict.VERDICT_BOT_FAULT if kinds else Verdict.VERDICT_PLAYED
        self.check(record.verdict == played, f"verdict {record.verdict}: {record.engine_error}")
        self.check(all(fault.seat == seat for fault in record.faults), "another bot is at fault")
        moves = zip(record.seats, record.actions, strict=True)
        self.check(
            all(action == 0 for mover, action in moves if mover != seat), "another's answer is changed"
        )
        if self._deals % VERIFIED == 0:
            verify(record)

    def check(self, good: bool, what: str) -> None:
        if not good:
            self.findings.wrong.append(what)

    def check_that_nothing_is_left(self) -> None:
        host = self.host
        for honest in self._honest:
            self.check(not honest.stuck, f"{honest.lane.name} was given up")
            self.check(not honest.lane._open, f"{honest.lane.name} owes something")
            self.check(not honest.lane._games, f"{honest.lane.name} is in a match")
        self.check(not host._waiting and not host._busy and not host._quick, "the host waits for somebody")
        lanes = {lane for _, _, lane in host._deadlines}
        self.check(lanes <= {honest.lane for honest in self._honest}, "the host keeps lanes that are closed")


class Fuzz:
    """Lives of one fuzzer at a table.

    Attributes:
        sent: frames so far.
        lives: by how they ended.
    """

    def __init__(self, table: Table, most: int, progress: Callable[[int], None]) -> None:
        self.table = table
        self.most = most
        self.sent = 0
        self.lives: Counter[str] = Counter()
        self._progress = progress

    async def live(self, bot: Fuzzer) -> None:
        """Greet, or not, and send frames until the conversation is over."""
        dice, table = self.table.dice, self.table
        if dice.random() < 0.05:
            await self._send(bot)
        await bot.send(frames.hello())
        await _until(lambda: bot.guest.lane is not None or bot.faults)
        if (lane := bot.guest.lane) is not None:
            matches: set[asyncio.Task[None]] = set()
            await self._pester(bot, lane, matches)
            while not bot.faults:
                if bot.guest.stream is None:
                    await bot.reopen(frames.hello(bot.guest.session))
                await bot.send(b"\xff")
                await asyncio.sleep(0)
            table.host.close(lane, bot.faults[0])
            for result in await asyncio.gather(*matches, return_exceptions=True):
                table.check(result is None, f"a match failed: {result!r}")
        fault = bot.faults[0]
        table.check(
            fault is not None and len(bot.faults) == 1, f"the arena failed, or ruled twice: {bot.faults}"
        )
        self.lives[fault_name(fault.kind) if fault is not None else "none"] += 1
        self._progress(self.sent)

    async def _pester(self, bot: Fuzzer, lane: Lane, matches: set[asyncio.Task[None]]) -> None:
        dice = self.table.dice
        for number in range(FRAMES_A_LIFE):
            if bot.faults or self.sent >= self.most:
                return
            if all(match.done() for match in matches):
                matches |= {asyncio.create_task(self.table.play(lane)) for _ in range(dice.choice((1, 3, 8)))}
            if dice.random() < 0.005:
                if dice.random() < 0.5:
                    await bot.hang_up()
                await bot.reopen(frames.hello(dice.choice((bot.guest.session,) * 3 + ("", "guessed"))))
            await self._send(bot)
            if number % 4 == 0:
                await asyncio.sleep(0)

    async def _send(self, bot: Fuzzer) -> None:
        self.sent += 1
        await bot.send(frames.frame(self.table.dice, bot.ids))


class Fuzzer(Protocol):
    """One life of a bot that sends anything.

    Attributes:
        guest: as what the arena knows it.
        faults: what was ruled about it.
        ids: the decisions that it was asked last.
    """

    guest: Guest
    faults: list[Absent | None]
    ids: list[int]

    async def send(self, frame: bytes) -> None:
        """Send a frame on the stream that is open."""

    async def reopen(self, hello: bytes) -> None:
        """Open another stream, and go on with it if it is let in."""

    async def hang_up(self) -> None:
        """End the stream that is open."""


def see(ids: list[int], frame: bytes) -> None:
    """Remember the last decisions in a frame."""
    ids += [decision.id for decision in lazy.FromArena.FromString(frame).decisions]
    del ids[:-4]


async def _until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0)
