"""The bot's side of all its matches, without any network: frames in, frames out."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any

from google.protobuf.message import Message

from botarena.bot import Bot, Choice, Match, Result, Say, Turn
from botarena.lazy import FromArena
from botarena.v1 import bot_pb2, game_pb2

MAX_ERROR_TEXT = 4096
FLUSH_AFTER = 0.002
"""Replies wait for company no longer than this, in seconds: the arena's clock runs until one arrives."""

_NO_REPLY = bot_pb2.Reply()

NewBot = Callable[[], Bot]
Many = Callable[[Sequence[Turn]], Sequence[Choice]]


class FunctionBot(Bot):
    """A bot made of a plain function."""

    def __init__(self, function: Callable[[Turn], Choice]) -> None:
        self._function = function

    def choose(self, turn: Turn) -> Choice:
        """Ask the function."""
        return self._function(turn)


class _Seat:
    """One match as the bot plays it.

    Attributes:
        answered: the decision that it answered last.
        reply: the answer, to be given again if the arena asks again: the first one was lost.
    """

    __slots__ = ("answered", "bot", "error", "match", "reply")

    def __init__(self, new_bot: NewBot, start: bot_pb2.MatchStart) -> None:
        self.match = Match(start)
        self.answered = 0
        self.reply = _NO_REPLY
        self.bot: Bot | None = None
        self.error = ""
        try:
            self.bot = new_bot()
            self.bot.start(self.match)
        except Exception:  # the author's code: whatever it raises is theirs to see
            self.error = _report("at the start of a match")

    def end(self, end: Any) -> None:
        """Tell the bot how the match ended; its errors cost nothing any more."""
        if self.bot is None:
            return
        try:
            self.bot.end(Result(self.match, end))
        except Exception:
            _report("at the end of a match")


class Table:
    """All matches of one bot.

    Args:
        new_bot: makes the instance for a match.

    Attributes:
        played: matches that have ended.
    """

    def __init__(self, new_bot: NewBot) -> None:
        self.played = 0
        self._new_bot = new_bot
        self._seats: dict[int, _Seat] = {}
        self._many = _batch_hook(new_bot)

    @property
    def idle(self) -> bool:
        """Whether no match is running."""
        return not self._seats

    def handle(self, data: bytes) -> Iterator[bot_pb2.FromBot]:
        """Play one frame of the arena; yields the frames to answer with as they get due.

        On a resumed stream the arena repeats what may have been lost. Nothing of it is played twice.
        """
        frame = FromArena.FromString(data)
        # One match may end in a frame and the next one begin: no more are played at once than was said.
        ended = {end.match for end in frame.ends}
        self._end(frame)
        for start in frame.starts:
            if start.match not in self._seats:
                self._seats[start.match] = _Seat(self._new_bot, start)
        asked = [decision for decision in frame.decisions if decision.match not in ended]
        try:
            if asked:
                yield from self._decide(asked)
        finally:  # also if the stream breaks
            self._end(frame)  # of matches that began in it as well

    def _end(self, frame: Any) -> None:
        for end in frame.ends:
            seat = self._seats.pop(end.match, None)
            if seat is not None:
                self.played += 1
                seat.end(end)

    def _decide(self, asked: Sequence[Any]) -> Iterator[bot_pb2.FromBot]:
        began = monotonic()
        answers = bot_pb2.FromBot()
        if self._many is not None and len(asked) > 1:
            asked = self._answer_many(self._many, asked, began, answers)
        flushed = began
        for decision in asked:
            self._answer(decision, began, answers)
            began = monotonic()
            if began - flushed > FLUSH_AFTER:
                yield answers
                answers = bot_pb2.FromBot()
                flushed = began
        if answers.replies or answers.errors:
            yield answers

    def _answer(self, decision: Any, began: float, answers: bot_pb2.FromBot) -> None:
        """Ask the match's bot; its code may fail."""
        seat = self._seats.get(decision.match)
        if seat is None:
            return
        number = decision.id
        if number == seat.answered:
            answers.replies.append(seat.reply)
            return
        if seat.bot is not None and not seat.error:
            turn = Turn(seat.match, seat.bot, decision.turn, began + decision.time_left_us / 1e6)
            try:
                choice = seat.bot.choose(turn) if self._many is None else _choose_many(self._many, [turn])[0]
                seat.reply = _add_reply(answers, number, choice, turn)
            except Exception:
                seat.error = _report("in choose")
            else:
                seat.answered = number
                return
        answers.errors.add(decision=number, text=seat.error)

    def _answer_many(
        self, many: Many, asked: Sequence[Any], began: float, answers: bot_pb2.FromBot
    ) -> Sequence[Any]:
        """Ask about all decisions at once; those that are still to be asked one by one."""
        turns, seats, left = {}, [], []
        for decision in asked:
            seat = self._seats.get(decision.match)
            if seat is None or seat.bot is None or seat.error or seat.answered == decision.id:
                left.append(decision)
                continue
            deadline = began + decision.time_left_us / 1e6
            turns[decision.id] = Turn(seat.match, seat.bot, decision.turn, deadline)
            seats.append(seat)
        try:
            choices = _choose_many(many, list(turns.values()))
            replies = [
                _add_reply(answers, number, choice, turn)
                for (number, turn), choice in zip(turns.items(), choices, strict=True)
            ]
        except Exception:  # whose fault it is shows when each is asked alone
            _report("in choose_many")
            for turn in turns.values():
                turn.match.take_back(turn)
            del answers.replies[:]
            return asked
        for seat, reply in zip(seats, replies, strict=True):
            seat.answered, seat.reply = reply.decision, reply
        return left


def _batch_hook(new_bot: NewBot) -> Many | None:
    """The bot's own `choose_many`, if it has one."""
    hook = getattr(new_bot, "choose_many", None)
    inherited = hook is None or getattr(hook, "__func__", None) is Bot.choose_many.__func__  # type: ignore[attr-defined]
    return None if inherited else hook


def _choose_many(many: Many, turns: Sequence[Turn]) -> Sequence[Choice]:
    """The bot's choices, one for each turn."""
    choices = many(turns)
    if len(choices) != len(turns):
        raise ValueError(
            f"choose_many returned {len(choices)} choices for {len(turns)} turns: return one for each"
        )
    return choices


def _add_reply(answers: bot_pb2.FromBot, decision: int, choice: Choice, turn: Turn) -> bot_pb2.Reply:
    claim = None
    if isinstance(choice, Say):
        claim = _claim(turn.game, choice.claim)
        choice = choice.choice
    index = choice if type(choice) is int else _index(choice, turn)
    reply = answers.replies.add()
    reply.decision = decision
    if 0 <= index < 1 << 32:  # else no such index fits the wire: the answer comes without an action
        reply.action = index
    if claim is not None:
        reply.claim.CopyFrom(claim)
    return reply


def _claim(game: str, claim: Message) -> game_pb2.GameClaim:
    if game not in game_pb2.GameClaim.DESCRIPTOR.fields_by_name:
        raise TypeError(f"choose returned {claim!r} as table talk: {game} has none")
    said = game_pb2.GameClaim()
    getattr(said, game).CopyFrom(claim)
    return said


def _index(choice: int | Message, turn: Turn) -> int:
    if isinstance(choice, int):
        return int(choice)
    if isinstance(choice, Message):
        for index, action in enumerate(turn.actions):
            if action is choice or action == choice:
                return index
        return -1
    raise TypeError(f"choose returned {choice!r}: return an index into turn.actions or one of its elements")


def _report(where: str) -> str:
    """The traceback being handled, cut to what the wire takes; also on stderr, for the bot's log."""
    text = traceback.format_exc()
    print(f"error {where}:\n{text}", file=sys.stderr, flush=True)
    return text[-MAX_ERROR_TEXT:]
