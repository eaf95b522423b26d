"""The run loop: plays what is missing of a tournament and stores each block when it is done.

It can be killed anywhere. What is stored is stored once, in one transaction per block; whoever
runs the tournament again plays the rest, and the records come out as if nothing had happened.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Iterator
from typing import Any, Protocol

from botarena.v1.bot_pb2 import TimeControl
from botarena.v1.record_pb2 import Block, BlockResult, MatchRecord, SeatedBot, Seating

from arena.games import find_game
from arena.games.chance import deal_seed
from arena.match.record import unseal
from arena.store.store import Store, StoredMatch, StoredSeat, StoredTournament
from arena.tournament.schedule import RoundRobin


class Executor(Protocol):
    """Whatever plays blocks."""

    def run(self, blocks: Iterator[Block]) -> AsyncGenerator[BlockResult, None]:
        """Play blocks; results come in any order, each once."""
        ...


def commitment(seed: bytes) -> str:
    """What is published of a seed before a tournament: its SHA-256 in hex. The seed itself follows after."""
    return hashlib.sha256(seed).hexdigest()


def schedule_of(tournament: StoredTournament) -> RoundRobin:
    """The schedule that a tournament is played by."""
    return RoundRobin(
        len(tournament.bots), tournament.seats, tournament.deals, tournament.seed, tournament.rotate
    )


class Run:
    """A tournament being played, perhaps not for the first time.

    Args:
        store: where its records go.
        tournament: the tournament, as stored.

    Attributes:
        played: number of matches that are stored.
        failures: why blocks could not be played this time, by block.
    """

    def __init__(self, store: Store, tournament: StoredTournament) -> None:
        self.tournament = tournament
        self.failures: dict[int, str] = {}
        self._store = store
        self._schedule = schedule_of(tournament)
        self._done = store.done(tournament.id)
        self.played = len(self._done)
        self._finish()  # it may have been killed between its last match and this
        game = find_game(tournament.game)
        self._options = game.options_message(game.options(tournament.options))
        self._bots = {bot.name: index for index, bot in enumerate(tournament.bots)}

    def missing(self) -> Iterator[Block]:
        """What is still to be played, in the order of the schedule."""
        for index in range(self._schedule.blocks):
            block = self._block(index)
            if block.seatings:
                yield block

    async def play(self, executor: Executor) -> AsyncGenerator[list[MatchRecord], None]:
        """Play what is missing; the records of each block once it is stored."""
        results = executor.run(self.missing())
        try:
            async for result in results:
                if result.failure:
                    self.failures[result.block] = result.failure
                    continue
                yield self._keep(result)
        finally:
            await results.aclose()
        self._finish()

    def _finish(self) -> None:
        if self.played == self.tournament.matches:
            self._store.finish(self.tournament.id)

    def _block(self, index: int) -> Block:
        table = self._schedule.table(index)
        t, first = self.tournament, index * len(table.seatings)
        return Block(
            index=index,
            game=t.game,
            deal=table.deal,
            seed=deal_seed(t.seed, t.game, table.deal),
            seatings=[
                Seating(index=number, bots=[self._seated(bot) for bot in seating])
                for number, seating in enumerate(table.seatings)
                if (index, number) not in self._done and first + number < t.matches
            ],
            time=TimeControl(move_us=t.move_us, bank_us=t.bank_us),
            faults_allowed=t.faults_allowed,
            options=self._options,
        )

    def _seated(self, index: int) -> SeatedBot:
        bot = self.tournament.bots[index]
        return SeatedBot(name=bot.name, version=bot.version)

    def _keep(self, result: BlockResult) -> list[MatchRecord]:
        """Store a block and count it."""
        records = [unseal(data) for data in result.records]
        rows = [
            StoredMatch(result.block, record.seating, record.verdict, data, self._seats(record))
            for record, data in zip(records, result.records, strict=True)
        ]
        self._store.add(self.tournament.id, rows)
        self.played += len(rows)
        return records

    def _seats(self, record: MatchRecord) -> tuple[StoredSeat, ...]:
        return seats_of(record, self._bots)


def seats_of(record: MatchRecord, bots: dict[str, int]) -> tuple[StoredSeat, ...]:
    """What the store keeps of a record's seats.

    Args:
        bots: index in the tournament by name.
    """
    faults: dict[int, Any] = {fault.seat: fault.kind for fault in record.faults if fault.forfeit}
    ranked = bool(record.ranks)
    return tuple(
        StoredSeat(
            bot=bots[bot.name],
            rank=record.ranks[seat] if ranked else None,
            score=record.scores[seat] if ranked else None,
            fault=faults.get(seat),
        )
        for seat, bot in enumerate(record.bots)
    )
