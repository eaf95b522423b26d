"""The run loop: plays what is missing of a tournament and stores each block when it is done.

It can be killed anywhere. What is stored is stored once, in one transaction per block; whoever
runs the tournament again plays the rest, and the records come out as if nothing had happened.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from botarena.v1.bot_pb2 import TimeControl
from botarena.v1.record_pb2 import Block, BlockResult, MatchRecord, SeatedBot, Seating

from arena.games import find_game
from arena.games.chance import deal_seed
from arena.match.record import unseal
from arena.store.stored import StoredMatch, StoredSeat, StoredTournament
from arena.tournament.schedule import RoundRobin

if TYPE_CHECKING:
    from arena.store.store import Store


class Executor(Protocol):
    """Whatever plays blocks."""

    def run(self, blocks: Iterator[Block]) -> AsyncGenerator[list[BlockResult], None]:
        """Play blocks; results come in any order, each once, as many together as there are."""
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
        # By block, a bit for each of its matches that is stored: there may be a million.
        self._done = [0] * self._schedule.blocks
        self.played = 0
        for block, seating in store.done(tournament.id):
            self._done[block] |= 1 << seating
            self.played += 1
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
        """Play what is missing; the records of whole blocks once they are stored."""
        playing = executor.run(self.missing())
        try:
            async for results in playing:
                self.failures |= {result.block: result.failure for result in results if result.failure}
                played = [result for result in results if not result.failure]
                if played:
                    yield self._keep(played)
        finally:
            await playing.aclose()
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
                if not self._done[index] >> number & 1 and first + number < t.matches
            ],
            time=TimeControl(move_us=t.move_us, bank_us=t.bank_us),
            faults_allowed=t.faults_allowed,
            options=self._options,
        )

    def _seated(self, index: int) -> SeatedBot:
        bot = self.tournament.bots[index]
        return SeatedBot(name=bot.name, version=bot.version)

    def _keep(self, results: Sequence[BlockResult]) -> list[MatchRecord]:
        """Store blocks in one transaction and count them."""
        records, rows = [], []
        for result in results:
            for data in result.records:
                record = unseal(data)
                seats = seats_of(record, self._bots)
                rows.append(StoredMatch(result.block, record.seating, record.verdict, data, seats))
                records.append(record)
        self._store.add(self.tournament.id, rows)
        self.played += len(rows)
        return records


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
