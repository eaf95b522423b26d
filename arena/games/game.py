"""What a game promises.

A game is an object that fulfils `Game`. Its rules are pure: they know no clock, network, bot or
database. All that leaves them for a seat is what `view` shows, the legal actions and the events
whose audience includes the seat.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, Self, TypeVar

from botarena.v1.game_pb2 import GameClaim, GameOptions

from arena.games.chance import Chance

Seat = int


class GameError(ValueError):
    """Something that a game was given does not fit its rules."""


class UnknownGameError(GameError):
    """No game of this name is registered."""


class PlayersError(GameError):
    """The game cannot be played with this number of seats (`E_PLAYERS`)."""


class OptionError(GameError):
    """An option is malformed or out of range (`E_OPTION`)."""


class SpecialUnknownError(OptionError):
    """A special card that does not exist (`E_SPECIAL_UNKNOWN`)."""


class SpecialUnprintedError(OptionError):
    """A special card whose text no rulebook prints (`E_SPECIAL_UNPRINTED`)."""


class IllegalActionError(GameError):
    """An action that is not legal, or not by a seat that is to move (`E_ILLEGAL`). The state is unchanged."""


class Ties(enum.Enum):
    """What a shared rank of a game means to a rating."""

    SHARED = "shared"
    """The game names one loser or one winner; the order among the others is unknown."""
    DRAW = "draw"
    """Equal scores: the players were equally good in this match."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a match ended by its rules.

    Attributes:
        scores: by seat, as the game counts them.
        ranks: by seat, competition ranks: 1 + number of seats strictly better.
        details: by seat, for people.
    """

    scores: tuple[int, ...]
    ranks: tuple[int, ...]
    details: tuple[str, ...]


def competition_ranks(scores: Sequence[int]) -> tuple[int, ...]:
    """Ranks of scores of which the highest is best; equal scores share a rank (1, 1, 3)."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


class GameState(Protocol):
    """The complete state of a match, hidden information included."""

    def copy(self) -> Self:
        """An independent state: whatever is applied to one leaves the other as it is."""
        ...


S = TypeVar("S", bound=GameState)
A = TypeVar("A")
D = TypeVar("D")
E = TypeVar("E")
O = TypeVar("O")  # noqa: E741 - options, beside state, action, deal and event
V = TypeVar("V")


class Game(Protocol[S, A, D, E, O, V]):
    """A game: state S, action A, deal D, event E, options O, view message V."""

    name: str
    """Name on the wire and on the command line, such as "koffer"."""
    title: str
    """Name for people."""
    version: int
    """Raised whenever old records would replay differently."""
    seats: range
    """Numbers of seats that the rules allow."""
    ties: Ties
    """How ratings read shared ranks."""

    # rules

    def options(self, values: Mapping[str, str]) -> O:
        """Options from text, as a person gives them; what is not given has its default.

        Raises:
            OptionError: what was given and what is allowed.
        """
        ...

    @property
    def option_help(self) -> Mapping[str, str]:
        """For each option a line for people: values, default, meaning."""
        ...

    def decision_bound(self, seats: int, options: O) -> int:
        """No match of these options takes more decisions than this."""
        ...

    def deal(self, seats: int, options: O, chance: Chance) -> D:
        """All initial randomness of a match as data.

        Raises:
            PlayersError: the game has no such table.
            OptionError: the options do not fit.
        """
        ...

    def start(self, seats: int, options: O, deal: D, chance: Chance) -> tuple[S, Sequence[E]]:
        """The state before the first decision, and what happened up to there.

        Args:
            chance: continues where the deal left it, for games that draw during play.
        """
        ...

    def to_move(self, state: S) -> tuple[Seat, ...]:
        """Seats that owe a decision now: several if they decide simultaneously, none if the match is over."""
        ...

    def actions(self, state: S, seat: Seat) -> Sequence[A]:
        """Legal actions of a seat that is to move, in canonical order; never empty."""
        ...

    def apply(self, state: S, moves: Mapping[Seat, A]) -> Sequence[E]:
        """Let exactly the seats that are to move act; changes the state.

        Raises:
            IllegalActionError: the state is unchanged.
        """
        ...

    def outcome(self, state: S) -> Outcome:
        """The result of a match that is over."""
        ...

    def audience(self, event: E) -> tuple[Seat, ...] | None:
        """Seats that learn of an event; None: everybody."""
        ...

    # wire: what may leave the rules, as messages

    def view(self, state: S, seat: Seat | None) -> V:
        """All that a seat may know now; None: a spectator, public information only."""
        ...

    def turn_bytes(self, state: S, seat: Seat | None, actions: Sequence[A], events: Sequence[bytes]) -> bytes:
        """A turn as the seat is shown it, a serialised GameTurn: its view, its actions, its events.

        Args:
            events: each as `event_bytes` gives it.
        """
        ...

    def event_bytes(self, event: E) -> bytes:
        """An event as a serialised piece of the game's turn message."""
        ...

    def event_message(self, event: E) -> Any:
        """An event on the wire. To be read only: equal events may be one message."""
        ...

    def options_message(self, options: O) -> GameOptions:
        """Options on the wire."""
        ...

    def options_from(self, message: GameOptions) -> O:
        """The options that `options_message` wrote.

        Raises:
            OptionError: the message holds no valid options of this game.
        """
        ...

    # table talk: what a seat says with an action, which binds nobody

    def with_claim(self, state: S, seat: Seat, action: A, claim: GameClaim) -> A:
        """A legal action of a seat that is to move, with a claim of that seat.

        Args:
            action: one of `actions`, which lists none with a claim.

        Raises:
            IllegalActionError: the claim is malformed, or no claim may go with this action.
        """
        ...

    def claim_of(self, action: A) -> GameClaim | None:
        """The claim that goes with an action; None if none does."""
        ...

    # for search bots and proofs

    def imagine(self, view: V, events: Sequence[Any], rng: Random) -> S:
        """A full state that the seat which was shown this view cannot tell from the real one.

        Args:
            events: event messages that the seat has seen so far.
        """
        ...

    def redeal(self, deal: D, state: S, seat: Seat, rng: Random) -> D:
        """Another deal under which the same actions would have shown this seat the same so far."""
        ...

    # text for people

    def table_text(self, view: V) -> str:
        """The table as a view shows it, in a few lines of plain text."""
        ...

    def private_text(self, view: V) -> str:
        """What the view's own seat sees and the others do not, in a few words; "" if there is nothing."""
        ...

    def action_text(self, action: A) -> str:
        """An action in a few words."""
        ...


class NoPrivateEvents:
    """The part of a game in which all that happens is seen by everybody."""

    def audience(self, event: Any) -> tuple[Seat, ...] | None:
        """Everybody learns of everything."""
        return None


class NoTableTalk:
    """The part of a game in which nobody says anything."""

    def with_claim(self, state: Any, seat: Seat, action: Any, claim: GameClaim) -> Any:
        """No claim is legal.

        Raises:
            IllegalActionError: always.
        """
        raise IllegalActionError(f"seat {seat} made a claim, and this game has no table talk")

    def claim_of(self, action: Any) -> GameClaim | None:
        """No action has a claim."""
        return None


AnyGame = Game[Any, Any, Any, Any, Any, Any]
