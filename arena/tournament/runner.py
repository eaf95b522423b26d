"""The run loop: plays what is missing of a tournament and stores each block when it is done.

It can be killed anywhere. What is stored is stored once, in one transaction per block; whoever
runs the tournament again plays the rest, and the records come out as if nothing had happened.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from botarena.v1 import record_pb2
from botarena.v1.bot_pb2 import TimeControl
from botarena.v1.record_pb2 import Block, BlockResult, MatchRecord, SeatedBot

from arena.games import find_game
from arena.games.chance import deal_seed
from arena.match.record import unseal
from arena.store.stored import StoredLoss, StoredMatch, StoredPairing, StoredSeat, StoredTournament
from arena.tournament.formats import Format, Outlook, Plan, PlayedTable, Stopping, make_format
from arena.tournament.schedule import Table

if TYPE_CHECKING:
    from arena.store.store import Along, Store

T = TypeVar("T")


class Executor(Protocol):
    """Whatever plays blocks."""

    def run(self, blocks: Iterator[Block | None]) -> AsyncGenerator[list[BlockResult], None]:
        """Play blocks; results come in any order, each once, as many together as there are.

        A None among the blocks means that there is nothing to play now: whoever plays asks again when results
        were taken from it, since the next blocks depend on them.
        """
        ...


@dataclass(frozen=True, slots=True)
class Seating:
    """Who may not sit where in the rounds that a run decides.

    Attributes:
        resting: indexes of bots that sit out.
        same_owner: whether bots of one owner may meet in a league.
    """

    resting: frozenset[int] = frozenset()
    same_owner: bool = False


def commitment(seed: bytes) -> str:
    """What is published of a seed before a tournament: its SHA-256 in hex. The seed itself follows after."""
    return hashlib.sha256(seed).hexdigest()


def schedule_of(tournament: StoredTournament, terms: Seating | None = None) -> Format:
    """The format that a tournament is played by.

    Args:
        tournament: as stored.
        terms: who may not sit where, if that matters: for what is still to be decided alone.
    """
    t = tournament
    owners: Mapping[int, str] = {}
    # When an adaptive format is over, the tournament's number of deals is that of those played.
    deals = t.settings.get("deals", t.deals)
    retired = {index for index, bot in enumerate(t.bots) if bot.retired}
    if terms is not None:
        retired |= terms.resting
        owners = {} if terms.same_owner else owners_of(t)
    plan = Plan(len(t.bots), t.seats, deals, t.seed, t.rotate, t.settings, retired, owners)
    return make_format(t.format, plan)


def owners_of(tournament: StoredTournament) -> dict[int, str]:
    """Whose bots are, by their indexes; those that nobody submitted are not there."""
    return {index: bot.owner for index, bot in enumerate(tournament.bots) if bot.owner is not None}


class Pairings(Protocol):
    """Whoever knows what was decided."""

    def pairings(self, number: int) -> Sequence[StoredPairing]:
        """The tables of a tournament that were decided, in the order of their blocks."""
        ...


def tables_of(store: Pairings, tournament: StoredTournament) -> Sequence[Table] | Mapping[int, Table]:
    """The tables of a tournament by block, as far as they are decided."""
    schedule = schedule_of(tournament)
    if not schedule.adaptive:
        return schedule.round(0, ())
    return {pairing.block: _table(pairing) for pairing in store.pairings(tournament.id)}


def played_tables(store: Store, tournament: StoredTournament, first: int = 0) -> list[PlayedTable]:
    """The tables of a tournament of which all matches are stored.

    Args:
        store: where they are.
        tournament: an adaptive one, as stored.
        first: block to begin with.
    """
    tables = {pairing.block: _table(pairing) for pairing in store.pairings(tournament.id, first)}
    played = []
    for block, matches in groupby(store.ranks(tournament.id, first), key=lambda match: match[0]):
        ranks = tuple(match[2] for match in matches)
        if len(ranks) == len(tables[block].seatings):
            played.append(PlayedTable(tables[block], ranks))
    return played


def places_of(store: Store, tournament: StoredTournament) -> list[list[int]]:
    """The format's own places of the bots, best first and by index; none if its ratings are all there is."""
    schedule = schedule_of(tournament)
    return schedule.places(played_tables(store, tournament)) if schedule.adaptive else []


def _table(pairing: StoredPairing) -> Table:
    return Table(pairing.block, pairing.deal, pairing.seatings)


class Keeper(Protocol):
    """Does work of the database, perhaps on another thread."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]:
        """Do it; what it gives."""
        ...


async def at_once(work: Callable[[], T]) -> T:
    """Do work here and now."""
    return work()


class Run:
    """A tournament being played, perhaps not for the first time.

    Args:
        store: where its records go.
        tournament: the tournament, as stored.
        rounds: how many it may decide this time; None: until it ends.
        seating: who may not sit where, if that matters.
        most: how many matches may be handed out this time; None: any number.

    Attributes:
        changed: whether bots came or went since it began, so that the next round is another run's.
        played: number of matches that are stored.
        over: whether there is nothing left to play this time.
        rounds: how many it may still decide.
        failures: why blocks could not be played this time, by block.
        is_full: whether it stopped because no more may be handed out.
    """

    def __init__(
        self,
        store: Store,
        tournament: StoredTournament,
        rounds: int | None = None,
        seating: Seating | None = None,
        most: int | None = None,
    ) -> None:
        self.tournament = tournament
        self.rounds = rounds
        self.changed = False
        self.failures: dict[int, str] = {}
        self.played = 0
        self.over = False
        self.is_full = False
        self._most = most
        self._is_halted = False
        game = find_game(tournament.game)
        self._options = game.options_message(game.options(tournament.options))
        self._bots = {bot.name: index for index, bot in enumerate(tournament.bots)}
        self._store = store
        self._format = schedule_of(tournament, seating)
        self._past: list[PlayedTable] = []
        self._tables: Sequence[Table] = ()
        # By block, a bit for each of its matches that is stored: there may be a million.
        self._done: list[int] = []
        self._lacking = 0
        self._first = self._round = 0
        if self._format.adaptive:
            self._take_up()
        else:
            self._begin(self._format.round(0, ()))
        self._advance()  # it may have been killed between its last match and this

    @property
    def missing_matches(self) -> int:
        """Matches that are decided and not stored."""
        return min(self._lacking, self.tournament.matches - self.played)

    @property
    def losses(self) -> list[StoredLoss]:
        """The blocks that could not be played, in this run or one before it."""
        return self._store.lost(self.tournament.id)

    @property
    def outlook(self) -> Outlook | None:
        """How near it is to an answer, if it ends with one."""
        return self._format.outlook if isinstance(self._format, Stopping) else None

    def missing(self) -> Iterator[Block | None]:
        """What is still to be played, in the order of the schedule; None while results in hand decide it."""
        while not self._is_stopped():
            tables = self._tables
            for index in range(len(tables)):
                block = self._block(index)
                if block.seatings:
                    self._hand_out(len(block.seatings))
                    if self._is_stopped():
                        return
                    yield block
            while (
                self._tables is tables
                and self._format.adaptive
                and not self.failures
                and not self._is_stopped()
            ):
                yield None
            if self._tables is tables:
                return

    def halt(self) -> None:
        """Hand out nothing more; what is in hand is still finished and stored."""
        self._is_halted = True

    def _is_stopped(self) -> bool:
        return self.over or self._is_halted or self.is_full

    def _hand_out(self, matches: int) -> None:
        """Count what is about to be handed out, if it still may be."""
        if self._most is not None:
            self.is_full = matches > self._most
            self._most -= matches

    async def play(
        self, executor: Executor, keeper: Keeper = at_once, along: Along | None = None
    ) -> AsyncGenerator[list[MatchRecord], None]:
        """Play what is missing; the records of whole blocks once they are stored.

        Args:
            executor: plays it.
            keeper: stores results and decides rounds, perhaps on another thread; the executor waits for it.
            along: what else is written when matches are stored, with the number of them.
        """
        playing = executor.run(self.missing())
        try:
            async for results in playing:
                records = await keeper(partial(self._take, results, along))
                if records:
                    yield records
        finally:
            await playing.aclose()

    def _take(self, results: Sequence[BlockResult], along: Along | None) -> list[MatchRecord]:
        """Store what was played and what was lost, and go on."""
        if lost := {result.block: result.failure for result in results if result.failure}:
            self.failures |= lost
            self._store.lose(self.tournament.id, lost)
        played = [result for result in results if not result.failure]
        records = self._keep(played, along) if played else []
        if played:
            self._advance()
        return records

    def _take_up(self) -> None:
        """Go on where the rounds that are stored end."""
        stored = self._store.pairings(self.tournament.id)
        if not stored:
            return
        last = stored[-1].round
        current = [_table(pairing) for pairing in stored if pairing.round == last]
        self._past = [
            each
            for each in played_tables(self._store, self.tournament)
            if each.table.block < current[0].block
        ]
        self.played = sum(len(each.ranks) for each in self._past)
        self._begin(current)
        self._round = last + 1

    def _begin(self, tables: Sequence[Table]) -> None:
        """Have the tables of a round to play, but for those matches of it that are stored."""
        self._tables = tables
        self._first = tables[0].block
        # Of a round that decided itself some blocks may be missing: those that were dropped when a bot left.
        last = tables[-1].block if self._format.adaptive else len(tables) - 1
        self._done = [0] * (last + 1 - self._first)
        self._lacking = len(tables) * self._format.seatings
        for block, seating in self._store.done(self.tournament.id, self._first):
            self._done[block - self._first] |= 1 << seating
            self._count(1)

    def _count(self, matches: int) -> None:
        self.played += matches
        self._lacking -= matches

    def _advance(self) -> None:
        """When a round is stored, decide the next, or finish."""
        while not self.over and not self.missing_matches:
            if self._format.adaptive:
                self._decide()
            else:
                self._finish()

    def _decide(self) -> None:
        number = self.tournament.id
        # As stored, not as played: another run may have stored it first.
        past = played_tables(self._store, self.tournament, self._first) if self._tables else []
        self._past += past[: len(self._tables)]
        self._tables = ()
        self.changed = self._store.tournament(self.tournament.name).bots != self.tournament.bots
        if self.changed or self.rounds == 0:
            self.over = True
            return
        self.rounds = None if self.rounds is None else self.rounds - 1
        tables = self._format.round(self._round, self._past)
        if not tables:
            self._finish(len(self._past), sum(len(each.ranks) for each in self._past))
            return
        pairings = [StoredPairing(t.block, self._round, t.deal, t.seatings) for t in tables]
        self._begin([_table(pairing) for pairing in self._store.pair(number, pairings)])
        self._round += 1

    def _finish(self, deals: int | None = None, matches: int | None = None) -> None:
        self.over = True
        self._store.finish(self.tournament.id, deals, matches)

    def _block(self, index: int) -> Block:
        table = self._tables[index]
        t, first = self.tournament, table.block * len(table.seatings)
        return Block(
            index=table.block,
            game=t.game,
            deal=table.deal,
            seed=deal_seed(t.seed, t.game, table.deal),
            seatings=[
                record_pb2.Seating(index=number, bots=[self._seated(bot) for bot in seating])
                for number, seating in enumerate(table.seatings)
                if not self._done[table.block - self._first] >> number & 1 and first + number < t.matches
            ],
            time=TimeControl(move_us=t.move_us, bank_us=t.bank_us),
            faults_allowed=t.faults_allowed,
            options=self._options,
        )

    def _seated(self, index: int) -> SeatedBot:
        bot = self.tournament.bots[index]
        return SeatedBot(name=bot.name, version=bot.version)

    def _keep(self, results: Sequence[BlockResult], along: Along | None) -> list[MatchRecord]:
        """Store blocks in one transaction and count them."""
        records, rows = [], []
        for result in results:
            for data in result.records:
                record = unseal(data)
                seats = seats_of(record, self._bots)
                rows.append(StoredMatch(result.block, record.seating, record.verdict, data, seats))
                records.append(record)
        self._store.add(self.tournament.id, rows, along)
        self._count(len(rows))
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
