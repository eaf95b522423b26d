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
    """

    __slots__ = (
        "_random",
        "_seed",
        "_shown",
        "bank",
        "game",
        "game_version",
        "move_time",
        "names",
        "options",
        "seat",
    )

    def __init__(self, start: bot_pb2.MatchStart) -> None:
        self.game = start.game
        self.game_version = start.game_version
        self.seat = start.seat
        self.names = tuple(start.names)
        self.options: Any = getattr(start.options, start.game, None)
        self.move_time = start.time.move_us / 1e6
        self.bank = start.time.bank_us / 1e6
        self._seed = start.bot_seed
        self._random: Random | None = None
        self._shown: list[_Shown] = []

    @property
    def random(self) -> Random:
        """A generator seeded by the arena.

        A bot that draws from it alone repeats itself exactly when the same deal is played from the
        same seat.
        """
        if self._random is None:  # seeding one takes longer than many a decision
            self._random = Random(self._seed)
        return self._random

    def history(self) -> list[Any]:
        """All events that the bot has been shown in this match, oldest first."""
        return [event for shown in self._shown for event in shown.events]

    def take_back(self, shown: _Shown) -> None:
        """Forget a turn that will be shown again."""
        self._shown.remove(shown)


class _Shown:
    """What a seat is shown; taken apart when it is first looked at."""

    __slots__ = ("_message", "_wire", "match")

    def __init__(self, match: Match, wire: bytes) -> None:
        self.match = match
        self._wire = wire
        self._message: Any = None
        match._shown.append(self)

    def _turn(self) -> Any:
        if self._message is None:
            self._message = getattr(game_pb2.GameTurn.FromString(self._wire), self.match.game)
            self._wire = b""
        return self._message

    @property
    def view(self) -> Any:
        """All that the seat may know now, a message such as `KofferView`."""
        return self._turn().view

    @property
    def events(self) -> Sequence[Any]:
        """What happened since the seat's last decision, messages such as `KofferEvent`."""
        turn: Any = self._turn()
        events: Sequence[Any] = turn.events
        return events


class Turn(_Shown):
    """One decision.

    Attributes:
        match: the match that it belongs to.
        bot: the match's own instance of the bot.
        seat: the seat that is asked.
    """

    __slots__ = ("_deadline", "bot", "seat")

    def __init__(self, match: Match, bot: Bot, wire: bytes, deadline: float) -> None:
        _Shown.__init__(self, match, wire)
        self.bot = bot
        self.seat = match.seat
        self._deadline = deadline

    @property
    def actions(self) -> Sequence[Any]:
        """The legal actions in canonical order, messages such as `KofferAction`."""
        actions: Sequence[Any] = self._turn().actions
        return actions

    @property
    def random(self) -> Random:
        """The match's own seeded generator."""
        return self.match.random

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


class Result(_Shown):
    """How a match ended, with the table and the last events.

    Attributes:
        ranks: by seat, 1 best; empty if the match is void.
        scores: by seat, as the game counts them.
        fault: the fault by which the bot's own seat was forfeited, such as "TIMEOUT", or "".
    """

    __slots__ = ("fault", "ranks", "scores")

    def __init__(self, match: Match, end: Any) -> None:
        super().__init__(match, end.turn)
        self.ranks = tuple(end.ranks)
        self.scores = tuple(end.scores)
        self.fault: str = end.fault


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

    @classmethod
    def choose_many(cls, turns: Sequence[Turn]) -> Sequence[Choice]:
        """Answer all decisions that are open now, of as many matches. Override it to think in batches.

        A neural network evaluates a hundred positions in little more time than one. Each turn has the
        instance of its match as `turn.bot`. If it raises, it is called again with each turn alone,
        so that an error costs the match that it is about.

        Returns:
            A choice for each turn, as `choose` returns it.
        """
        return [turn.bot.choose(turn) for turn in turns]

    def end(self, result: Result) -> None:
        """The match ended. Override it to learn from it."""
