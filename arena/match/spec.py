"""What a match is made of before it is played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from botarena.v1.bot_pb2 import TimeControl
from botarena.v1.game_pb2 import GameOptions
from botarena.v1.record_pb2 import Block, MatchRecord, SeatedBot

from arena.games import find_game
from arena.games.game import AnyGame


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """All that decides how a match begins; with the bots' choices, all that decides how it goes.

    Attributes:
        game: the game.
        options: its options.
        deal: index of the deal within the tournament.
        seed: seed of the deal, 32 bytes.
        seating: index of the seating within the block.
        bots: (name, version) by seat.
        move_us: longest time for one decision, in microseconds.
        bank_us: longest time for all decisions of a seat together, in microseconds.
        faults_allowed: timeouts and illegal actions that each seat may commit before forfeit.
    """

    game: AnyGame
    options: Any
    deal: int
    seed: bytes
    seating: int
    bots: tuple[tuple[str, str], ...]
    move_us: int
    bank_us: int
    faults_allowed: int = 0

    def options_message(self) -> GameOptions:
        """The game's options on the wire."""
        return self.game.options_message(self.options)

    def time_message(self) -> TimeControl:
        """The clock on the wire."""
        return TimeControl(move_us=self.move_us, bank_us=self.bank_us)


def specs_of(block: Block) -> Iterator[MatchSpec]:
    """The matches of a block, in the order of its seatings.

    Raises:
        GameError: its game or options are not known here.
    """
    return (_spec(block, seating.index, seating.bots) for seating in block.seatings)


def spec_of(record: MatchRecord) -> MatchSpec:
    """The match that a record tells of.

    Raises:
        GameError: its game or options are not known here.
    """
    return _spec(record, record.seating, record.bots)


def _spec(source: Block | MatchRecord, seating: int, bots: Iterable[SeatedBot]) -> MatchSpec:
    game = find_game(source.game)
    return MatchSpec(
        game=game,
        options=game.options_from(source.options),
        deal=source.deal,
        seed=source.seed,
        seating=seating,
        bots=tuple((bot.name, bot.version) for bot in bots),
        move_us=source.time.move_us,
        bank_us=source.time.bank_us,
        faults_allowed=source.faults_allowed,
    )
