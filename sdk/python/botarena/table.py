"""The bot's side of all its matches, without any network: frames in, frames out."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from time import monotonic

from google.protobuf.message import Message

from botarena.bot import Bot, Choice, Match, Result, Say, Turn
from botarena.v1 import bot_pb2, game_pb2

MAX_ERROR_TEXT = 4096
FLUSH_AFTER = 0.002
"""Replies wait for company no longer than this, in seconds: the arena's clock runs until one arrives."""

NewBot = Callable[[], Bot]


class FunctionBot(Bot):
    """A bot made of a plain function."""

    def __init__(self, function: Callable[[Turn], Choice]) -> None:
        self._function = function

    def choose(self, turn: Turn) -> Choice:
        """Ask the function."""
        return self._function(turn)


class _Seat:
    """One match as the bot plays it."""

    __slots__ = ("bot", "error", "match")

    def __init__(self, new_bot: NewBot, start: bot_pb2.MatchStart) -> None:
        self.match = Match(start)
        self.bot: Bot | None = None
        self.error = ""
        try:
            self.bot = new_bot()
            self.bot.start(self.match)
        except Exception:  # the author's code: whatever it raises is theirs to see
            self.error = _report("at the start of a match")

    def choose(self, decision: bot_pb2.Decision, began: float) -> bot_pb2.Reply | None:
        """The answer to a decision; None if the bot's code failed, with `error` set."""
        if self.bot is None or self.error:
            return None
        try:
            turn = Turn(self.match, decision, began)
            return _reply(decision.id, self.bot.choose(turn), turn)
        except Exception:
            self.error = _report("in choose")
            return None

    def end(self, end: bot_pb2.MatchEnd) -> None:
        """Tell the bot how the match ended; its errors cost nothing any more."""
        if self.bot is None:
            return
        try:
            self.bot.end(Result(self.match, end))
        except Exception:
            _report("at the end of a match")


class Table:
    """All matches of one bot."""

    def __init__(self, new_bot: NewBot) -> None:
        self._new_bot = new_bot
        self._seats: dict[int, _Seat] = {}

    def handle(self, frame: bot_pb2.FromArena) -> Iterator[bot_pb2.FromBot]:
        """Play one frame of the arena; yields the frames to answer with as they get due."""
        # One match may end in a frame and the next one begin: no more are played at once than was said.
        self._end(frame)
        for start in frame.starts:
            self._seats[start.match] = _Seat(self._new_bot, start)
        yield from self._decide(frame)
        self._end(frame)  # of matches that began in it as well

    def _end(self, frame: bot_pb2.FromArena) -> None:
        for end in frame.ends:
            seat = self._seats.pop(end.match, None)
            if seat is not None:
                seat.end(end)

    def _decide(self, frame: bot_pb2.FromArena) -> Iterator[bot_pb2.FromBot]:
        ended = {end.match for end in frame.ends}
        answers = bot_pb2.FromBot()
        began = flushed = monotonic()
        for decision in frame.decisions:
            if decision.match in ended or decision.match not in self._seats:
                continue
            self._answer(decision, began, answers)
            began = monotonic()
            if began - flushed > FLUSH_AFTER:
                yield answers
                answers = bot_pb2.FromBot()
                flushed = began
        if answers.replies or answers.errors:
            yield answers

    def _answer(self, decision: bot_pb2.Decision, began: float, answers: bot_pb2.FromBot) -> None:
        seat = self._seats[decision.match]
        reply = seat.choose(decision, began)
        if reply is None:
            answers.errors.add(decision=decision.id, text=seat.error)
        else:
            answers.replies.append(reply)


def _reply(decision: int, choice: Choice, turn: Turn) -> bot_pb2.Reply:
    if isinstance(choice, Say):
        reply = _reply(decision, choice.choice, turn)
        reply.claim.CopyFrom(_claim(turn.game, choice.claim))
        return reply
    index = _index(choice, turn)
    if 0 <= index < 1 << 32:
        return bot_pb2.Reply(decision=decision, action=index)
    # No such index fits the wire: the arena is told that an answer came without an action.
    return bot_pb2.Reply(decision=decision)


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
