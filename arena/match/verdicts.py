"""Verdicts: how a match went, and what each fault of a bot means.

One table for the whole arena. What it says is applied in `arena.match.match` and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

Kind: TypeAlias = "FaultKind.ValueType"
"""A kind of fault."""


@dataclass(frozen=True, slots=True)
class FaultRule:
    """What a kind of fault means.

    Attributes:
        name: for people and files, such as "TIMEOUT".
        tolerable: whether `faults_allowed` lets a seat go on after it.
        advice: what the bot's author can do about it.
    """

    name: str
    tolerable: bool
    advice: str


FAULTS: dict[Kind, FaultRule] = {
    FaultKind.FAULT_KIND_TIMEOUT: FaultRule(
        "TIMEOUT", True, "answer within turn.time_left, or give more time with --each time=5s"
    ),
    FaultKind.FAULT_KIND_ILLEGAL_ACTION: FaultRule(
        "ILLEGAL_ACTION",
        True,
        "answer with an index into the decision's actions, and claim only what the game allows",
    ),
    FaultKind.FAULT_KIND_MALFORMED_MESSAGE: FaultRule(
        "MALFORMED_MESSAGE", False, "send only what bot.proto allows in the state of the conversation"
    ),
    FaultKind.FAULT_KIND_DISCONNECTED: FaultRule(
        "DISCONNECTED", False, "keep the stream open until the arena says goodbye"
    ),
    FaultKind.FAULT_KIND_CRASHED: FaultRule(
        "CRASHED", False, "its traceback or its last words on stderr say where"
    ),
    FaultKind.FAULT_KIND_START_FAILED: FaultRule(
        "START_FAILED",
        False,
        "run the bot's command by hand; it must greet the arena within its start budget",
    ),
    FaultKind.FAULT_KIND_MEMORY_EXCEEDED: FaultRule(
        "MEMORY_EXCEEDED",
        False,
        "use less memory, or ask for more in [limits] of bot.toml, as far as the organiser allows",
    ),
    FaultKind.FAULT_KIND_OUTPUT_EXCEEDED: FaultRule(
        "OUTPUT_EXCEEDED", False, "answer each decision once, and send nothing that is not asked for"
    ),
}

RATED = frozenset({Verdict.VERDICT_PLAYED, Verdict.VERDICT_BOT_FAULT})
"""Verdicts of matches that count for ratings."""


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
