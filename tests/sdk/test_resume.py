"""The SDK on lines that break: real sockets, real gateway, connections cut at any moment."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import grpc
import pytest
from botarena import Bot, Match, Result, Turn
from botarena.runner import Conversation
from botarena.table import Table

from arena.bots.conversation import Guest
from arena.bots.gateway import Gateway
from arena.bots.launcher import SOCKET
from arena.games.chance import deal_seed
from arena.match.host import Absent, Lane, TableHost
from arena.match.match import Match as ArenaMatch
from arena.match.record import identity
from tests.bots.streams import Line, line, until
from tests.match.fakes import FakeBot, spec


class Counting(Bot):
    """Plays by its own dice, and counts what happens to each instance."""

    seen: ClassVar[Counter[str]] = Counter()

    def start(self, match: Match) -> None:
        self.asked = 0
        self.seen["starts"] += 1

    def choose(self, turn: Turn) -> int:
        self.asked += 1
        self.seen["decisions"] += 1
        return turn.random.randrange(len(turn.actions))

    def end(self, result: Result) -> None:
        assert self.asked
        assert result.ranks
        self.seen["ends"] += 1


class Desk:
    """A gateway with one SDK bot behind a line that can be cut."""

    def __init__(self, guest: Guest, gateway: Gateway, host: TableHost, line: Line, bot: Table) -> None:
        self.guest, self.gateway, self.host, self.line = guest, gateway, host, line
        self.faults: list[Absent | None] = []
        address = f"unix:{guest.folder.parent}/line"
        self.bot = asyncio.create_task(Conversation(address, guest.token, bot, (), 64).hold())
        self.lane: Lane | None = None
        self.closed = False

    async def ask(self, decisions: int, playing: asyncio.Task[list[bytes]]) -> None:
        """Wait until so many more have been asked, or none are any more."""
        assert self.lane is not None
        most = self.lane.asked + decisions
        while self.lane.asked < most and not playing.done():
            await asyncio.sleep(0)

    async def close(self) -> None:
        if not self.closed:
            self.closed = True
            await self.gateway.stop()


@asynccontextmanager
async def desk(bot: type[Bot]) -> AsyncIterator[Desk]:
    host = TableHost()
    gateway = Gateway(host)
    faults: list[Absent | None] = []
    guest = await gateway.expect("talker", faults.append, lambda: None)
    async with line(guest.folder.parent / "line", guest.folder / SOCKET) as made:
        table = Desk(guest, gateway, host, made, Table(bot))
        table.faults = faults
        _, table.lane = await asyncio.wait_for(guest.greeted, 30)
        try:
            yield table
        finally:
            await table.close()
            table.bot.cancel()
            await asyncio.gather(table.bot, return_exceptions=True)


async def play(desk: Desk, matches: int) -> list[bytes]:
    """Matches of the SDK's bot against a scripted one."""
    other = FakeBot(desk.host, "other")
    assert desk.lane is not None
    lanes = [desk.lane, other.lane]
    desk.bot.add_done_callback(lambda _: desk.host.close(lanes[0], None))  # rather fail than hang
    base = spec(("talker", "other"), move_us=60_000_000)
    specs = [replace(base, seed=deal_seed(bytes(32), "koffer", number)) for number in range(matches)]
    return await asyncio.gather(*(desk.host.play(ArenaMatch(one), lanes) for one in specs))


async def test_a_bot_whose_line_breaks_again_and_again_plays_what_it_plays_on_a_good_one() -> None:
    records, counts = [], []
    for cuts in (0, 8):
        Counting.seen.clear()
        async with desk(Counting) as table:
            playing = asyncio.create_task(play(table, 60))
            dice = random.Random(5)
            await until(lambda: Counting.seen["starts"] == 60)  # before its welcome it knows no session
            for _ in range(cuts):
                await table.ask(dice.randrange(60), playing)
                table.line.cut()
            records.append([identity(record) for record in await playing])
            # What the last break has cost is made up for, too.
            await until(lambda: Counting.seen["ends"] == 60 or table.bot.done())
            assert table.faults == []
            assert table.line.connections >= (2 if cuts else 1)
        counts.append(Counting.seen.copy())
    assert records[0] == records[1]
    assert counts[0] == counts[1]


async def test_an_arena_that_closes_is_not_dialled_again() -> None:
    async with desk(Counting) as table:
        await table.close()
        await asyncio.wait_for(table.bot, 30)
        assert table.line.connections == 1


async def test_an_arena_that_is_gone_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(Counting) as table:
        (table.guest.folder.parent / "line").unlink()
        table.line.cut()
        with pytest.raises(grpc.aio.AioRpcError):
            await asyncio.wait_for(table.bot, 30)


async def test_a_bot_that_is_refused_does_not_try_again(tmp_path: Path) -> None:
    async with desk(Counting) as table:
        wrong = Conversation(f"unix:{table.guest.folder.parent}/line", "guessed", Table(Counting), (), 1)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wrong.hold()
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert table.line.connections == 2
        records = await play(table, 1)
        assert len(records) == 1
