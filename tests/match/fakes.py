"""A scripted bot for the table host, and matches to try things with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from botarena.v1.bot_pb2 import BotError, Decision, FromArena, FromBot, MatchEnd, MatchStart, Reply

from arena.games import find_game
from arena.match.host import Lane, TableHost
from arena.match.match import Match
from arena.match.spec import MatchSpec

SEED = bytes(range(32))
KOFFER = find_game("koffer")

Answer = Callable[[Decision], "int | str | None"]
"""Index to answer with, None for silence, or a text for an error."""


def first(_decision: Decision) -> int:
    return 0


def last(decision: Decision) -> int:
    return len(decision.turn.koffer.actions) - 1


class FakeBot:
    """Answers every decision by a function, within the call that asks it or when told to."""

    def __init__(self, host: TableHost, name: str, answer: Answer = first, at_once: bool = True) -> None:
        self.host = host
        self.answer = answer
        self.at_once = at_once
        self.starts: list[MatchStart] = []
        self.asked: list[Decision] = []
        self.waiting: list[Decision] = []
        self.ends: list[MatchEnd] = []
        self.frames = 0
        self.given_up = False
        self.lane = Lane(name, self, self._give_up)

    def send(self, data: bytes) -> None:
        frame = FromArena.FromString(data)
        self.frames += 1
        self.starts.extend(frame.starts)
        self.asked.extend(frame.decisions)
        self.waiting.extend(frame.decisions)
        self.ends.extend(frame.ends)
        if self.at_once:
            self.answer_all()

    def answer_all(self) -> None:
        waiting, self.waiting = self.waiting, []
        answers = FromBot()
        for decision in waiting:
            choice = self.answer(decision)
            if isinstance(choice, str):
                answers.errors.append(BotError(decision=decision.id, text=choice))
            elif choice is not None:
                answers.replies.append(Reply(decision=decision.id, action=choice))
        self.host.receive(self.lane, answers)

    def _give_up(self) -> None:
        self.given_up = True


def spec(
    bots: Sequence[str] = ("a", "b"),
    move_us: int = 1_000_000,
    bank_us: int = 60_000_000,
    faults_allowed: int = 0,
    seed: bytes = SEED,
    options: dict[str, str] | None = None,
) -> MatchSpec:
    return MatchSpec(
        game=KOFFER,
        options=KOFFER.options(options or {}),
        deal=0,
        seed=seed,
        seating=0,
        bots=tuple((name, "1") for name in bots),
        move_us=move_us,
        bank_us=bank_us,
        faults_allowed=faults_allowed,
    )


def play_out(match: Match, choose: Callable[[int, int], int] = lambda seat, count: 0) -> Match:
    """Play a match to its end without any time passing."""
    asks = match.start(0)
    while asks:
        ask = asks[0]
        asks = match.reply(ask.seat, choose(ask.seat, match.legal(ask.seat)), 0)
    return match
