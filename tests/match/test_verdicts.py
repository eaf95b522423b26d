"""The table of verdicts: what it says is documented, and no order of arrival shows in what is ruled by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.match.match import Ask, Match
from arena.match.record import identity, unseal
from arena.match.replay import verify
from arena.match.spec import MatchSpec
from arena.match.verdicts import FAULTS, VERDICTS, tables
from tests.match.fakes import spec
from tests.match.test_match import simultaneous
from tests.match.test_talk import spec as talk_spec

PAGE = Path(__file__).parents[2] / "docs" / "verdicts.md"


def test_the_page_shows_the_tables_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [table for table in tables() if f"\n\n{table}\n\n" not in page] == []


def test_every_verdict_has_its_rule() -> None:
    assert set(VERDICTS) == {value for name, value in Verdict.items() if name != "VERDICT_UNSPECIFIED"}


def test_every_name_on_the_wire_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = [rule.name for rule in FAULTS.values()]
    assert names == [name.removeprefix("FAULT_KIND_") for name, value in FaultKind.items() if value in FAULTS]
    assert [name for name in names if f"| {name} |" not in page] == []


# orders of arrival

SILENT, ILLEGAL, CRASHES, ANSWERS_AND_CRASHES = "silent", "illegal", "crashes", "answers and crashes"
"""What a seat may do in a decision besides answering."""


class Arrivals:
    """Plays a match whose seats behave by one seed, and lets what they do arrive in the order of another.

    Args:
        behaviour: decides what seats do.
        order: decides in which order it arrives within a decision.
        calm: how often out of twelve a seat just answers.
    """

    def __init__(self, match: MatchSpec, behaviour: int, order: int, calm: int) -> None:
        self.match = Match(match)
        self._behaviour = behaviour
        self._order = Random(order)
        self._calm = calm

    def record(self) -> bytes:
        asks, decision = self.match.start(0), 0
        while asks:
            asks, decision = self._decide(asks, decision), decision + 1
        return self.match.record()

    def _decide(self, asks: Sequence[Ask], decision: int) -> list[Ask]:
        waiting = [self._steps(ask.seat, decision) for ask in asks]
        following: list[Ask] = []
        while waiting:
            steps = self._order.choice(waiting)
            following += self._arrive(steps.pop(0))
            waiting = [steps for steps in waiting if steps]
        return [ask for ask in following if self.match.forfeit_of(ask.seat) is None]

    def _steps(self, seat: int, decision: int) -> list[tuple[str, int, int]]:
        """What a seat does in a decision, one after the other: the number says how it chooses."""
        rng = Random(f"{self._behaviour} {seat} {decision}")
        deeds = ["answers"] * self._calm + [SILENT, ILLEGAL, CRASHES, ANSWERS_AND_CRASHES]
        deed = rng.choice(deeds)
        choice = rng.randrange(1 << 16)
        if deed == ANSWERS_AND_CRASHES:
            return [("answers", seat, choice), (CRASHES, seat, choice)]
        return [(deed, seat, choice)]

    def _arrive(self, step: tuple[str, int, int]) -> list[Ask]:
        deed, seat, choice = step
        if deed == SILENT:
            return self.match.expire(seat, 0)
        if deed == ILLEGAL:
            return self.match.reply(seat, None, 0)
        if deed == CRASHES:
            return self.match.fault(seat, FaultKind.FAULT_KIND_CRASHED, 0, gone=True)
        return self.match.reply(seat, choice % self.match.legal(seat), 0)


GAMES = [talk_spec(mode="variant"), replace(simultaneous(), bots=(("a", "1"), ("b", "1")))]


@pytest.mark.parametrize("base", GAMES, ids=["kamozza", "two rounds"])
@given(
    behaviour=st.integers(0, 2**32),
    orders=st.lists(st.integers(0, 2**32), min_size=2, max_size=4),
    calm=st.sampled_from([0, 12, 60]),
    allowed=st.integers(0, 2),
)
@settings(max_examples=60)
def test_no_order_of_arrival_within_a_decision_shows_in_the_record(
    base: MatchSpec, behaviour: int, orders: list[int], calm: int, allowed: int
) -> None:
    match = replace(base, faults_allowed=allowed)
    records = [Arrivals(match, behaviour, order, calm).record() for order in orders]
    assert len({identity(data) for data in records}) == 1
    record = unseal(records[0])
    if base is GAMES[0]:  # the other one is not in the registry
        verify(record)
    for fault in record.faults:
        assert record.seats[fault.decision] == fault.seat
    check_ranks(record, allowed)


def check_ranks(record: MatchRecord, allowed: int) -> None:
    """Who is forfeited has used up what is allowed, and ranks last among equals."""
    seats = range(len(record.bots))
    forfeited = {fault.seat for fault in record.faults if fault.forfeit}
    staying = len(record.bots) - len(forfeited)
    assert {record.ranks[seat] for seat in forfeited} <= {staying + 1}
    assert all(record.ranks[seat] <= staying for seat in seats if seat not in forfeited)
    assert record.verdict == (Verdict.VERDICT_BOT_FAULT if forfeited else Verdict.VERDICT_PLAYED)
    for seat in seats:
        faults = [fault for fault in record.faults if fault.seat == seat]
        assert [fault.forfeit for fault in faults[:-1]] == [False] * (len(faults) - 1)
        assert sum(not fault.forfeit for fault in faults) <= allowed


def test_a_bot_that_fails_after_its_last_decision_has_played() -> None:
    """Whether that is noticed before or after the others' last answer is an accident."""
    records = []
    for early in (True, False):
        match = Match(simultaneous())
        match.start(0)
        for seat in (0, 1, 0):
            match.reply(seat, 0, 0)
        if early:
            match.fault(0, FaultKind.FAULT_KIND_CRASHED, 0, gone=True)
        match.reply(1, 0, 0)
        match.fault(0, FaultKind.FAULT_KIND_CRASHED, 0, gone=True)
        records.append(match.record())
        assert match.forfeit_of(0) is None
    assert identity(records[0]) == identity(records[1])
    assert unseal(records[0]).verdict == Verdict.VERDICT_PLAYED


def test_nothing_is_tolerated_of_a_bot_that_is_gone() -> None:
    match = Match(spec(faults_allowed=5))
    (ask,) = match.start(0)
    match.fault(ask.seat, FaultKind.FAULT_KIND_TIMEOUT, 0, gone=True)
    assert match.forfeit_of(ask.seat) == FaultKind.FAULT_KIND_TIMEOUT
