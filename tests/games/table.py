"""A match played in the test itself, with everything kept that a seat was ever shown."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from botarena.v1.game_pb2 import GameClaim, GameTurn

from arena.games import GAMES
from arena.games.chance import Chance
from arena.games.game import AnyGame, Outcome, Seat
from tests.games.claims import index_of, talk
from tests.games.option_sets import OPTION_SETS, OptionSet, label


class Case(NamedTuple):
    """A game with a number of seats and options."""

    game: AnyGame
    seats: int
    options: Any
    name: str


def case(game: str, seats: int, options: OptionSet) -> Case:
    """A case by names, as a person gives them."""
    played = GAMES[game]
    return Case(played, seats, played.options(options), f"{game}-{seats}-{label(options)}")


CASES = [
    case(name, seats, options)
    for name, game in GAMES.items()
    for seats in game.seats
    for options in OPTION_SETS.get(name, ())
]
"""Every registered game with every number of seats and every option set."""


class Table:
    """A match from its deal on.

    Args:
        seed: of the deal.
        deal: a given deal in place of the drawn one.
    """

    def __init__(self, case: Case, seed: bytes, deal: Any = None) -> None:
        self.game, self.seats, self.options, _ = self.case = case
        self.seed = seed
        chance = Chance(seed)
        drawn = self.game.deal(case.seats, case.options, chance)
        self.deal = drawn if deal is None else deal
        self.state, events = self.game.start(case.seats, case.options, self.deal, chance)
        self.events: list[Any] = []
        self.moves: list[dict[Seat, Any]] = []
        self.indexes: list[int] = []
        self.claims: list[GameClaim | None] = []
        self.turns: list[tuple[Seat, bytes]] = []
        self._seen = [0] * case.seats
        self._pieces: list[tuple[tuple[Seat, ...] | None, bytes]] = []
        self._note(events)

    @property
    def to_move(self) -> tuple[Seat, ...]:
        return self.game.to_move(self.state)

    def ask(self) -> dict[Seat, GameTurn]:
        """Show each seat that is to move its turn."""
        return {seat: self._show(seat, self.game.actions(self.state, seat)) for seat in self.to_move}

    def play(self, moves: Mapping[Seat, Any]) -> None:
        """Let the seats to move act; shows everybody the end once it is reached."""
        self.moves.append(dict(moves))
        for seat in sorted(moves):
            index = index_of(self.game, self.state, seat, moves[seat])
            assert index is not None, f"{moves[seat]} is not among the actions of seat {seat}"
            self.indexes.append(index)
            self.claims.append(self.game.claim_of(moves[seat]))
        self._note(self.game.apply(self.state, moves))
        if not self.to_move:
            for seat in range(self.seats):
                self._show(seat, ())

    def shown(self, seat: Seat) -> list[bytes]:
        """All turns that a seat has been shown."""
        return [turn for shown_seat, turn in self.turns if shown_seat == seat]

    def seen(self, seat: Seat | None) -> list[Any]:
        """All event messages for a seat, or for a spectator."""
        return [self.game.event_message(event) for event in self.events if self._sees(seat, event)]

    def _sees(self, seat: Seat | None, event: Any) -> bool:
        audience = self.game.audience(event)
        return audience is None or (seat is not None and seat in audience)

    def digest(self) -> str:
        """SHA-256 of all turns of all seats, in order."""
        return hashlib.sha256(b"".join(turn for _, turn in self.turns)).hexdigest()

    def outcome(self) -> Outcome:
        return self.game.outcome(self.state)

    def _show(self, seat: Seat, actions: Sequence[Any]) -> GameTurn:
        events = [
            piece
            for audience, piece in self._pieces[self._seen[seat] :]
            if audience is None or seat in audience
        ]
        self._seen[seat] = len(self._pieces)
        turn = GameTurn.FromString(self.game.turn_bytes(self.state, seat, actions, events))
        self.turns.append((seat, turn.SerializeToString(deterministic=True)))
        return turn

    def _note(self, events: Sequence[Any]) -> None:
        self.events.extend(events)
        self._pieces.extend((self.game.audience(event), self.game.event_bytes(event)) for event in events)


def bytes_of(message: Any) -> bytes:
    """A message as bytes, equal ones alike."""
    return bytes(message.SerializeToString(deterministic=True))


def random_moves(game: AnyGame, state: Any, rng: Random) -> dict[Seat, Any]:
    """A uniformly random legal action for each seat to move, with a claim where there is table talk."""
    return {
        seat: talk(game, state, seat, rng.choice(game.actions(state, seat)), rng)
        for seat in game.to_move(state)
    }


def positions(table: Table, rng: Random) -> Iterator[int]:
    """Play a match at random; yields the number of moves so far at each position, the last one included."""
    while table.to_move:
        table.ask()
        yield len(table.moves)
        table.play(random_moves(table.game, table.state, rng))
    yield len(table.moves)


def play_out(table: Table, choose: Callable[[Table], Mapping[Seat, Any]]) -> Table:
    """Play a match to its end."""
    while table.to_move:
        table.ask()
        table.play(choose(table))
    return table


def play_at_random(case: Case, seed: bytes, choices: int) -> Table:
    """A whole match of random choices."""
    rng = Random(choices)
    return play_out(Table(case, seed), lambda table: random_moves(table.game, table.state, rng))
