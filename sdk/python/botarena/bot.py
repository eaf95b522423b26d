"""What a bot author sees: a bot, the match it plays, and one turn of it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

from google.protobuf.message import Message

from botarena.v1 import bot_pb2, game_pb2


class Say(NamedTuple):
    """A choice with table talk, in games that have it: return it from `choose`.

    Attributes:
        choice: an index into `turn.actions`, or one of its elements.
        claim: what is said, a message of the game such as `KamozzaClaim`. The others hear it, and
            nothing checks it.
    """

    choice: int | Message
    claim: Message


Choice: TypeAlias = "int | Message | Say"
"""What `choose` returns: an index into `turn.actions`, or one of its elements, perhaps with table talk."""


class Match:
    """What a bot is told when a match begins.

    Attributes:
        game: name of the game, such as "koffer".
        game_version: version of its rules.
        seat: the bot's seat, from 0.
        names: names of the bots by seat.
        options: the game's options, a message of its own type.
        move_time: longest time for one decision, in seconds.
        bank: longest time for all decisions of the match together, in seconds.
        random: a generator seeded by the arena: a bot that draws from it alone repeats itself
            exactly when the same deal is played from the same seat.
    """

    __slots__ = ("_turns", "bank", "game", "game_version", "move_time", "names", "options", "random", "seat")

    def __init__(self, start: bot_pb2.MatchStart) -> None:
        self.game = start.game
        self.game_version = start.game_version
        self.seat = start.seat
        self.names = tuple(start.names)
        self.options: Any = getattr(start.options, start.game, None)
        self.move_time = start.time.move_us / 1e6
        self.bank = start.time.bank_us / 1e6
        self.random = Random(start.bot_seed)
        self._turns: list[Any] = []

    def unpack(self, turn: game_pb2.GameTurn) -> Any:
        """The game's own turn message out of the one that carries any game's."""
        inner = getattr(turn, self.game)
        self._turns.append(inner)
        return inner

    def history(self) -> list[Any]:
        """All events that the bot has been shown in this match, oldest first."""
        return [event for turn in self._turns for event in turn.events]


class Turn:
    """One decision.

    Attributes:
        match: the match that it belongs to.
        seat: the seat that is asked.
        view: all that the seat may know now, a message such as `KofferView`.
        actions: the legal actions in canonical order, messages such as `KofferAction`.
        events: what happened since the seat's last decision, messages such as `KofferEvent`.
        random: the match's own seeded generator.
    """

    __slots__ = ("_deadline", "actions", "events", "match", "random", "seat", "view")

    def __init__(self, match: Match, decision: bot_pb2.Decision, began: float) -> None:
        turn = match.unpack(decision.turn)
        self.match = match
        self.seat = decision.seat
        self.view: Any = turn.view
        self.actions: Sequence[Any] = turn.actions
        self.events: Sequence[Any] = turn.events
        self.random = match.random
        self._deadline = began + decision.time_left_us / 1e6

    @property
    def game(self) -> str:
        """Name of the game."""
        return self.match.game

    @property
    def options(self) -> Any:
        """The game's options."""
        return self.match.options

    @property
    def history(self) -> list[Any]:
        """All events of the match that the bot has been shown, oldest first."""
        return self.match.history()

    @property
    def time_left(self) -> float:
        """Seconds until the arena rules a timeout, by this bot's own clock; negative if it is late."""
        return self._deadline - monotonic()


class Result:
    """How a match ended.

    Attributes:
        ranks: by seat, 1 best; empty if the match is void.
        scores: by seat, as the game counts them.
        fault: the fault by which the bot's own seat was forfeited, such as "TIMEOUT", or "".
        view: the table at the end.
        events: what happened since the seat's last decision.
    """

    __slots__ = ("events", "fault", "ranks", "scores", "view")

    def __init__(self, match: Match, end: bot_pb2.MatchEnd) -> None:
        turn = match.unpack(end.turn)
        self.ranks = tuple(end.ranks)
        self.scores = tuple(end.scores)
        self.fault = end.fault
        self.view: Any = turn.view
        self.events: Sequence[Any] = turn.events


class Bot:
    """A bot. There is one instance per match; many matches may be played at once, in turns."""

    def start(self, match: Match) -> None:
        """A match begins. Override it to prepare."""

    def choose(self, turn: Turn) -> Choice:
        """Answer a decision.

        Returns:
            An index into `turn.actions`, or one of its elements; `Say` adds table talk to it.
        """
        raise TypeError(f"{type(self).__name__} has no choose(self, turn)")

    def end(self, result: Result) -> None:
        """The match ended. Override it to learn from it."""
