"""What a decision costs, stage by stage, each measured alone in this process."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

from botarena import lazy
from botarena.table import Table
from botarena.v1.bot_pb2 import FromBot

from arena.games.chance import deal_seed
from arena.games.game import AnyGame
from arena.match.host import Lane, TableHost
from arena.match.match import Match
from arena.match.record import unseal
from arena.match.spec import MatchSpec
from arena.runs.definition import Definition
from arena.store.store import Store, sqlite_url
from arena.store.stored import StoredMatch
from arena.tournament.runner import seats_of
from tests.bench.null_bot import NullBot
from tests.bench.sampling import Sample

NAMES = ("null_bot", "null_bot-2", "null_bot-3", "null_bot-4")
MATCHES = 64
"""Matches in play at once, as a worker has them."""


class _AtOnce:
    """A port whose bot answers action 0 as soon as the loop gets to it; it may keep what it was sent."""

    def __init__(self, host: TableHost, name: str) -> None:
        self.lane = Lane(name, self, lambda: None)
        self.frames: list[bytes] = []
        self.spent = 0.0
        self._host = host

    def send(self, frame: bytes) -> None:
        self.frames.append(frame)
        asyncio.get_running_loop().call_soon(self._answer, frame)

    def _answer(self, frame: bytes) -> None:
        begin = time.perf_counter()
        answers = FromBot()
        for decision in lazy.FromArena.FromString(frame).decisions:
            answers.replies.add(decision=decision.id, action=0)
        self.spent += time.perf_counter() - begin
        if answers.replies:
            self._host.receive(self.lane, answers)


async def _play(game: AnyGame, first: int) -> tuple[list[bytes], list[_AtOnce]]:
    """Play as many matches as a worker has in play: their records, and what was sent."""
    host, options = TableHost(), game.options({})
    ports = [_AtOnce(host, name) for name in NAMES]

    def spec(number: int, seating: list[_AtOnce]) -> MatchSpec:
        bots = tuple((port.lane.name, "1") for port in seating)
        seed = deal_seed(bytes(32), game.name, number)
        return MatchSpec(game, options, number, seed, 0, bots, 5_000_000, 60_000_000)

    async def one(number: int) -> bytes:
        turn = number % len(ports)
        seating = ports[turn:] + ports[:turn]
        return await host.play(Match(spec(number, seating)), [port.lane for port in seating])

    return await asyncio.gather(*(one(first + number) for number in range(MATCHES))), ports


def host_rates(game: AnyGame) -> Iterator[Sample]:
    """Rules, views, match and table host together, records sealed: all of a worker but the network."""
    for number in count(0, MATCHES):
        begin = time.perf_counter()
        records, ports = asyncio.run(_play(game, number))
        spent = time.perf_counter() - begin - sum(port.spent for port in ports)
        yield sum(len(unseal(record).seats) for record in records), spent


def bot_rates(game: AnyGame) -> Iterator[Sample]:
    """The SDK's side: frames of the arena taken apart, a null bot asked, replies serialised."""
    _, ports = asyncio.run(_play(game, 0))
    while True:
        table, decisions, begin = Table(NullBot), 0, time.perf_counter()
        for frame in ports[0].frames:
            for answer in table.handle(frame):
                answer.SerializeToString()
                decisions += len(answer.replies)
        yield decisions, time.perf_counter() - begin


def record_rates(game: AnyGame) -> Iterator[Sample]:
    """Records read and stored, as many together as come at one time."""
    records, _ = asyncio.run(_play(game, 0))
    bots = {name: index for index, name in enumerate(NAMES)}
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Store(sqlite_url(Path(folder) / "arena.db"))) as store,
    ):
        new = Definition(game.name, ["house:first"], seats=len(NAMES), deals=10**6, seed="1").build()
        number = store.create(new).id
        for batch in count():
            begin, decisions, rows = time.perf_counter(), 0, []
            for at, data in enumerate(records):
                record = unseal(data)
                decisions += len(record.seats)
                place = batch * MATCHES + at
                rows.append(StoredMatch(place, 0, record.verdict, data, seats_of(record, bots)))
            store.add(number, rows)
            yield decisions, time.perf_counter() - begin
