"""Verdicts: how a match went, and what each fault of a bot means.

One table for the whole arena. What it says is applied in `arena.match.match` and nowhere else.
`python -m arena.match.verdicts` prints it as docs/verdicts.md shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

Kind: TypeAlias = "FaultKind.ValueType"
"""A kind of fault."""


@dataclass(frozen=True, slots=True)
class VerdictRule:
    """What a verdict means.

    Attributes:
        meaning: what happened.
        rated: whether the match counts for ratings.
        blame: who is to blame.
        follows: what comes of it.
        advice: what to do about it.
    """

    meaning: str
    rated: bool
    blame: str
    follows: str
    advice: str


VERDICTS: dict[Verdict.ValueType, VerdictRule] = {
    Verdict.VERDICT_PLAYED: VerdictRule(
        "ended by the rules, every seat played by its bot",
        True,
        "nobody",
        "the ranks of the rules",
        "nothing",
    ),
    Verdict.VERDICT_BOT_FAULT: VerdictRule(
        "a seat was forfeited by a fault of its bot",
        True,
        "the bots in the forfeited seats",
        "a stand-in plays the seat to the end; it ranks last",
        "`arena match logs MATCH` says why",
    ),
    Verdict.VERDICT_ENGINE_FAULT: VerdictRule(
        "the arena's own rules raised an error, or did not end within their bound",
        False,
        "the arena",
        "the match is void, its record is kept and reproduces the error; the tournament goes on",
        "`arena replay MATCH` shows where the rules fail",
    ),
    Verdict.VERDICT_INFRA_FAULT: VerdictRule(
        "the machine failed: a worker died, a sandbox could not be started, the arena was late itself",
        False,
        "the machine",
        "nothing is stored; it is played again a fixed number of times, and then shown as missing",
        "mend the machine and resume the tournament",
    ),
}


@dataclass(frozen=True, slots=True)
class FaultRule:
    """What a kind of fault means. The bot is to blame for every one, and the match is rated.

    Attributes:
        name: for people and files, such as "TIMEOUT".
        meaning: what the bot did.
        tolerable: whether `faults_allowed` lets a seat go on after it.
        follows: what becomes of the bot.
        advice: what the bot's author can do about it.
    """

    name: str
    meaning: str
    tolerable: bool
    follows: str
    advice: str


_ENDED = "it is ended, and started again for its next matches"
_LIVES = "it lives on"

FAULTS: dict[Kind, FaultRule] = {
    FaultKind.FAULT_KIND_TIMEOUT: FaultRule(
        "TIMEOUT",
        "no reply within the decision's time, or the time for the match is used up",
        True,
        f"{_ENDED}; if tolerated, {_LIVES} and its late reply is dropped",
        "answer within turn.time_left, or give more time with --each time=5s",
    ),
    FaultKind.FAULT_KIND_ILLEGAL_ACTION: FaultRule(
        "ILLEGAL_ACTION",
        "a reply without an action, with one out of range, or with a claim that the game does not allow",
        True,
        _LIVES,
        "answer with an index into the decision's actions, and claim only what the game allows",
    ),
    FaultKind.FAULT_KIND_MALFORMED_MESSAGE: FaultRule(
        "MALFORMED_MESSAGE",
        "a frame that is no message of the protocol, is too large, or is not allowed now",
        False,
        _ENDED,
        "send only what bot.proto allows in the state of the conversation",
    ),
    FaultKind.FAULT_KIND_DISCONNECTED: FaultRule(
        "DISCONNECTED",
        "its stream ended while it lives on, and it was not back on another one within the time of grace",
        False,
        _ENDED,
        "keep the stream open until the arena says goodbye, or resume; the SDK does both",
    ),
    FaultKind.FAULT_KIND_CRASHED: FaultRule(
        "CRASHED",
        "its process ended, or its code reported an error",
        False,
        f"it is started again for its next matches; after an error that it reported itself, {_LIVES}",
        "its traceback or its last words on stderr say where",
    ),
    FaultKind.FAULT_KIND_START_FAILED: FaultRule(
        "START_FAILED",
        "no proper hello within the start budget, or one that does not name the game",
        False,
        "it is not started again: its seats are forfeited from the first decision",
        "run the bot's command by hand; it must greet the arena within its start budget",
    ),
    FaultKind.FAULT_KIND_MEMORY_EXCEEDED: FaultRule(
        "MEMORY_EXCEEDED",
        "it, or a process of it, was killed at its memory limit",
        False,
        "it is started again for its next matches, unless it had not greeted yet",
        "use less memory, or ask for more in [limits] of bot.toml, as far as the organiser allows",
    ),
    FaultKind.FAULT_KIND_OUTPUT_EXCEEDED: FaultRule(
        "OUTPUT_EXCEEDED",
        "it sent the arena far more than it was asked for",
        False,
        _ENDED,
        "answer each decision once, send nothing that is not asked for, and resume only when a stream broke",
    ),
}

RATED = frozenset(verdict for verdict, rule in VERDICTS.items() if rule.rated)
"""Verdicts of matches that count for ratings."""

MAX_FAILURES = 3
"""A bot that fails so often without a match played to its end in between is not started again."""

MAX_OVERLOADS = 5
"""A match that the arena was too busy for so often is given back unplayed."""

MAX_TROUBLES = 5
"""A bot that the machine could not start, or lost, so often in a row is not tried again for this match."""

MAX_TRIES = 3
"""A block that the machine lost so often is not tried again in this run."""

MAX_ENDS = 10
"""So many workers that end one after the other, and no block played in between, are no accident."""

_PATIENCE = (
    (
        MAX_FAILURES,
        "failures of a bot without a match played to its end in between",
        "it is not started again",
    ),
    (MAX_OVERLOADS, "tries of a match during which the arena was late itself", "its block is lost"),
    (MAX_TROUBLES, "times in a row that the machine cannot start a bot, or loses it", "its block is lost"),
    (MAX_TRIES, "times that a block is lost when it is played alone", "INFRA_FAULT: it is shown as missing"),
    (MAX_ENDS, "workers that end with no block played in between", "the run ends with an error"),
)
"""How often something is tried: after so many what comes of it."""


def fault_name(kind: Kind) -> str:
    """Name of a kind of fault, such as "TIMEOUT"."""
    return FAULTS[kind].name


def verdict_name(verdict: Verdict.ValueType) -> str:
    """Name of a verdict, such as "PLAYED"."""
    return Verdict.Name(verdict).removeprefix("VERDICT_")


def stand_in_fault(record: MatchRecord, decision: int) -> str:
    """Name of the fault because of which a stand-in answered a decision; "" if the bot did."""
    seat = record.seats[decision]
    for fault in record.faults:
        begins_there = fault.decision <= decision if fault.forfeit else fault.decision == decision
        if fault.seat == seat and begins_there:
            return fault_name(fault.kind)
    return ""


def final_ranks(ranks: tuple[int, ...], forfeited: frozenset[int]) -> tuple[int, ...]:
    """Ranks after forfeits: forfeited seats rank last, equal among themselves; the others by the game.

    Args:
        ranks: competition ranks from the rules, by seat.
        forfeited: seats that were forfeited.
    """
    if not forfeited:
        return ranks
    staying = [rank for seat, rank in enumerate(ranks) if seat not in forfeited]
    return tuple(
        1 + len(staying) if seat in forfeited else 1 + sum(other < rank for other in staying)
        for seat, rank in enumerate(ranks)
    )


def tables() -> list[str]:
    """The tables of docs/verdicts.md: verdicts, faults, and how often something is tried."""
    verdicts = [
        (verdict_name(verdict), rule.meaning, _yes(rule.rated), rule.blame, rule.follows, rule.advice)
        for verdict, rule in VERDICTS.items()
    ]
    faults = [
        (rule.name, rule.meaning, _yes(rule.tolerable), rule.follows, rule.advice) for rule in FAULTS.values()
    ]
    return [
        _table(("verdict", "is", "rated?", "to blame", "what comes of it", "what to do"), verdicts),
        _table(("fault", "the bot's doing", "may be tolerated?", "the bot then", "what to do"), faults),
        _table(("after", "of these", "what comes of it"), ((str(n), *rest) for n, *rest in _PATIENCE)),
    ]


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = (heads, ["---"] * len(heads), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print("\n\n".join(tables()))
