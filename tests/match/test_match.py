"""One match: clocks, verdicts, stand-ins, records. No network, no waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from botarena.v1.game_pb2 import GameTurn
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.games.chance import Chance, stand_in_seed
from arena.games.game import Outcome
from arena.match.match import Ask, Match
from arena.match.record import unseal
from arena.match.replay import verify
from arena.match.spec import MatchSpec
from arena.match.verdicts import FAULTS, final_ranks
from tests.match.fakes import KOFFER, play_out, spec

TIMEOUT = FaultKind.FAULT_KIND_TIMEOUT
ILLEGAL = FaultKind.FAULT_KIND_ILLEGAL_ACTION
CRASHED = FaultKind.FAULT_KIND_CRASHED


def record_of(match: Match) -> MatchRecord:
    assert match.done
    return unseal(match.record())


def finish(match: Match, asks: Sequence[Ask], now: int = 0) -> MatchRecord:
    """Answer whatever is still asked, always with the first action."""
    while asks:
        asks = match.reply(asks[0].seat, 0, now)
    return record_of(match)


def test_a_match_without_faults_is_played_and_verifies() -> None:
    record = record_of(play_out(Match(spec(("a", "b", "c")))))
    assert record.verdict == Verdict.VERDICT_PLAYED
    assert len(record.seats) == len(record.actions) == len(record.circumstances.think_us) == 36
    assert sorted(record.ranks)[0] == 1
    verify(record)


def test_only_the_seat_to_move_is_asked_and_nothing_is_asked_twice() -> None:
    match = Match(spec())
    asks = match.start(0)
    asked = []
    while asks:
        assert len(asks) == 1
        asked.append(asks[0].seat)
        asks = match.reply(asks[0].seat, 0, 0)
    assert asked == list(record_of(match).seats)


def test_think_time_is_charged_from_the_later_of_sending_and_previous_reply() -> None:
    match = Match(spec())
    (ask,) = match.start(1_000)
    (ask,) = match.reply(ask.seat, 0, now=1_700)
    asks = match.reply(ask.seat, 0, now=2_500, since=2_100)
    record = finish(match, asks, 2_500)
    assert list(record.circumstances.think_us)[:3] == [700, 400, 0]


def test_the_bank_caps_the_time_of_later_decisions_and_runs_out() -> None:
    match = Match(spec(move_us=1_000, bank_us=2_500))
    asks, now, limits = match.start(0), 0, []
    slow = asks[0].seat
    while asks and slow not in {fault.seat for fault in match_faults(match)}:
        ask = asks[0]
        if ask.seat == slow:
            limits.append(ask.limit_us)
            now += min(999, ask.limit_us)
            if ask.limit_us < 999:
                asks = match.expire(slow, now)
                break
        asks = match.reply(ask.seat, 0, now)
    assert limits == [1_000, 1_000, 502]
    record = finish(match, asks, now)
    (fault,) = record.faults
    assert (fault.seat, fault.kind) == (slow, TIMEOUT)
    assert "match is used up" in record.circumstances.fault_details[0]


def match_faults(match: Match) -> list[Any]:
    return [] if not match.done else list(record_of(match).faults)


@pytest.mark.parametrize(
    ("action", "text"), [(None, "no action"), (7, "action 7 of 7"), (4_000_000_000, "action 4000000000")]
)
def test_an_illegal_action_forfeits_and_says_what_would_be_legal(action: int | None, text: str) -> None:
    match = Match(spec())
    (ask,) = match.start(0)
    record = finish(match, match.reply(ask.seat, action, 50))
    (fault,) = record.faults
    assert (fault.seat, fault.decision, fault.kind, fault.forfeit) == (ask.seat, 0, ILLEGAL, True)
    assert text in record.circumstances.fault_details[0]
    assert "0 to 6" in record.circumstances.fault_details[0]
    assert record.circumstances.think_us[0] == 50


def test_a_stand_in_plays_on_from_a_stream_of_its_own_and_the_seat_ranks_last() -> None:
    match = Match(spec(("a", "b", "c")))
    asks = match.start(0)
    bad = asks[0].seat
    record = finish(match, match.fault(bad, CRASHED, 0, "gone"))
    assert record.verdict == Verdict.VERDICT_BOT_FAULT
    assert record.ranks[bad] == 3
    assert list(record.seats).count(bad) == 12
    assert record.actions[0] == Chance(stand_in_seed(record.seed, bad)).below(7)
    verify(record)


def test_if_all_seats_forfeit_all_rank_equal() -> None:
    match = Match(spec(("a", "b", "c")))
    (ask,) = match.start(0)
    for seat in range(3):
        match.fault(seat, CRASHED, 0)
    record = record_of(match)
    assert list(record.ranks) == [1, 1, 1]
    assert ask.seat in {fault.seat for fault in record.faults}
    verify(record)


@pytest.mark.parametrize(
    ("ranks", "forfeited", "final"),
    [
        ((1, 2, 3), {0}, (3, 1, 2)),
        ((1, 1, 3), {2}, (1, 1, 3)),
        ((1, 2, 2, 4), {0, 1}, (3, 3, 1, 2)),
        ((1, 2), {0, 1}, (1, 1)),
        ((2, 1, 3), set(), (2, 1, 3)),
    ],
)
def test_final_ranks(ranks: tuple[int, ...], forfeited: set[int], final: tuple[int, ...]) -> None:
    assert final_ranks(ranks, frozenset(forfeited)) == final


def test_allowed_faults_cost_one_decision_each_and_the_next_one_the_seat() -> None:
    match = Match(spec(faults_allowed=2))
    asks = match.start(0)
    bad = asks[0].seat
    while asks:
        seat = asks[0].seat
        asks = match.reply(seat, 99 if seat == bad else 0, 0)
    record = record_of(match)
    assert [(fault.seat, fault.decision, fault.forfeit) for fault in record.faults] == [
        (bad, 0, False),
        (bad, 2, False),
        (bad, 4, True),
    ]
    verify(record)


def test_a_crash_is_never_allowed() -> None:
    match = Match(spec(faults_allowed=5))
    (ask,) = match.start(0)
    assert finish(match, match.fault(ask.seat, CRASHED, 0)).faults[0].forfeit


def test_a_fault_between_decisions_counts_from_the_seats_next_decision() -> None:
    match = Match(spec())
    (ask,) = match.start(0)
    other = 1 - ask.seat
    assert match.fault(other, CRASHED, 0, "left the table") == []
    record = finish(match, match.reply(ask.seat, 0, 0))
    assert [(f.seat, f.decision) for f in record.faults] == [(other, 1)]
    verify(record)


def test_a_forfeited_seat_commits_no_further_fault() -> None:
    match = Match(spec())
    (ask,) = match.start(0)
    asks = match.fault(ask.seat, CRASHED, 0)
    assert match.fault(ask.seat, TIMEOUT, 0) == []
    assert len(finish(match, asks).faults) == 1


def test_records_of_equal_matches_are_equal_bytes() -> None:
    first = play_out(Match(spec())).record()
    assert play_out(Match(spec())).record() == first
    assert play_out(Match(spec(seed=bytes(32)))).record() != first


def test_a_seat_is_shown_each_event_once() -> None:
    match = Match(spec())
    asks = match.start(0)
    seen: dict[int, list[bytes]] = {0: [], 1: []}
    while asks:
        turn = GameTurn.FromString(match.turn_bytes(asks[0].seat))
        seen[asks[0].seat] += [event.SerializeToString() for event in turn.koffer.events]
        asks = match.reply(asks[0].seat, 0, 0)
    for seat in (0, 1):
        turn = GameTurn.FromString(match.turn_bytes(seat))
        assert not turn.koffer.actions
        seen[seat] += [event.SerializeToString() for event in turn.koffer.events]
    assert seen[0] == seen[1]
    assert len(seen[0]) > 34 * 3


# A game of two rounds in which both seats choose at the same time, to try what Koffer cannot show.


class _Simultaneous:
    name = "koffer"  # options and views are borrowed: only the order of play is tried here
    version = 1
    failing = False

    def __getattr__(self, name: str) -> Any:
        return getattr(KOFFER, name)

    def decision_bound(self, seats: int, options: Any) -> int:
        return 4

    def deal(self, seats: int, options: Any, chance: Chance) -> None:
        return None

    def start(self, seats: int, options: Any, deal: None, chance: Chance) -> tuple[list[Any], list[Any]]:
        return [], []

    def to_move(self, state: list[Any]) -> tuple[int, ...]:
        return (0, 1) if len(state) < 2 else ()

    def actions(self, state: list[Any], seat: int) -> Sequence[int]:
        return (10, 20, 30)

    def apply(self, state: list[Any], moves: Mapping[int, int]) -> list[Any]:
        if self.failing and state:
            raise KeyError("a fault of ours")
        state.append(dict(moves))
        return []

    def outcome(self, state: list[Any]) -> Outcome:
        return Outcome((0, 1), (2, 1), ("", ""))


def simultaneous(failing: bool = False) -> MatchSpec:
    game = _Simultaneous()
    game.failing = failing
    return replace(spec(), game=game)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_simultaneous_decision_is_recorded_by_seat_whoever_answers_first(order: tuple[int, int]) -> None:
    match = Match(simultaneous())
    assert [ask.seat for ask in match.start(0)] == [0, 1]
    assert match.reply(order[0], order[0] + 1, 0) == []
    assert len(match.reply(order[1], order[1] + 1, 0)) == 2
    for seat in order:
        match.reply(seat, 0, 0)
    record = record_of(match)
    assert (list(record.seats), list(record.actions)) == ([0, 1, 0, 1], [1, 2, 0, 0])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_faults_in_one_decision_give_one_record_whichever_comes_first(order: tuple[int, int]) -> None:
    match = Match(simultaneous())
    match.start(0)
    for seat in order:
        match.fault(seat, (CRASHED, TIMEOUT)[seat], 0, f"fault of {seat}")
    record = record_of(match)
    assert [(f.seat, f.decision, f.kind) for f in record.faults] == [(0, 0, CRASHED), (1, 1, TIMEOUT)]
    assert list(record.circumstances.fault_details) == ["fault of 0", "fault of 1"]


def test_an_answer_that_is_in_stands_if_its_bot_fails_before_the_others_answer() -> None:
    match = Match(simultaneous())
    match.start(0)
    match.reply(0, 2, 0)
    match.fault(0, CRASHED, 0)
    asks = match.reply(1, 1, 0)
    record = finish(match, asks)
    assert list(record.actions)[:2] == [2, 1]
    assert record.faults[0].decision == 2


def test_a_failure_of_our_own_rules_voids_the_match_and_blames_nobody() -> None:
    match = Match(simultaneous(failing=True))
    match.start(0)
    for _ in range(2):
        match.reply(0, 1, 0)
        match.reply(1, 0, 0)
    record = record_of(match)
    assert record.verdict == Verdict.VERDICT_ENGINE_FAULT
    assert record.engine_error == "KeyError: 'a fault of ours'"
    assert not record.ranks
    assert not record.faults
    assert list(record.actions) == [1, 0, 1, 0]


def test_rules_that_never_end_are_a_fault_of_ours() -> None:
    game = _Simultaneous()
    endless = replace(spec(), game=game)
    game.to_move = lambda state: (0, 1)  # type: ignore[method-assign]
    match = Match(endless)
    asks = match.start(0)
    while asks:
        asks = [ask for ask in asks for ask in match.reply(ask.seat, 0, 0)]
    assert record_of(match).engine_error == "EngineLoopError: no end after 4 decisions"


def test_every_kind_of_fault_has_its_rule() -> None:
    kinds = {value for name, value in FaultKind.items() if name != "FAULT_KIND_UNSPECIFIED"}
    assert set(FAULTS) == kinds
    assert {kind for kind, rule in FAULTS.items() if rule.tolerable} == {TIMEOUT, ILLEGAL}
