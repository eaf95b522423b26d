"""Records: sealed, replayed, verified; no byte can be changed unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.match.match import Match
from arena.match.record import RecordDamagedError, identity, seal, unseal
from arena.match.replay import VerificationError, replay, verify
from tests.match.fakes import play_out, spec


def sealed(faulty: bool = False) -> bytes:
    match = Match(spec(("a", "b", "c"), faults_allowed=1))
    if not faulty:
        return play_out(match, lambda seat, count: count - 1).record()
    asks = match.start(0)
    bad = asks[0].seat
    while asks:
        asks = match.reply(asks[0].seat, None if asks[0].seat == bad else 0, 0)
    return match.record()


SEALED = sealed()
FAULTY = sealed(faulty=True)


def test_a_record_survives_sealing() -> None:
    assert seal(unseal(SEALED)) == SEALED


def test_any_changed_byte_is_noticed() -> None:
    for position in range(len(SEALED)):
        changed = bytearray(SEALED)
        changed[position] ^= 1
        with pytest.raises(RecordDamagedError):
            unseal(bytes(changed))


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_no_other_bytes_are_a_record(data: bytes) -> None:
    with pytest.raises(RecordDamagedError):
        unseal(data)
    with pytest.raises(RecordDamagedError):
        unseal(SEALED + data[:1] + b"x")


def test_a_record_of_another_format_is_refused() -> None:
    record = unseal(SEALED)
    record.format = 2
    with pytest.raises(RecordDamagedError, match="format 2"):
        unseal(seal(record))


def test_identity_forgets_time_and_nothing_else() -> None:
    record = unseal(SEALED)
    record.circumstances.started_us += 1
    record.circumstances.think_us[0] += 1
    assert identity(seal(record)) == identity(SEALED)
    record.actions[0] += 1
    assert identity(seal(record)) != identity(SEALED)


@pytest.mark.parametrize("data", [SEALED, FAULTY])
def test_true_records_verify(data: bytes) -> None:
    verify(unseal(data))


def test_a_replay_shows_every_decision_and_the_end() -> None:
    record = unseal(SEALED)
    steps = [(step.decision, len(step.moves)) for step in replay(record)]
    assert steps == [*((i, 1) for i in range(len(record.seats))), (len(record.seats), 0)]


def _more(record: MatchRecord) -> None:
    record.seats.append(0)
    record.actions.append(0)


def _fewer(record: MatchRecord) -> None:
    del record.seats[-1]
    del record.actions[-1]


LIES: dict[str, Callable[[MatchRecord], Any]] = {
    "another action": lambda r: r.actions.__setitem__(5, (r.actions[5] + 1) % 2),
    "an impossible action": lambda r: r.actions.__setitem__(5, 99),
    "another seat": lambda r: r.seats.__setitem__(3, (r.seats[3] + 1) % 3),
    "another seed": lambda r: setattr(r, "seed", bytes(32)),
    "another score": lambda r: r.scores.__setitem__(0, r.scores[0] + 1),
    "another rank": lambda r: r.ranks.__setitem__(0, 4 - r.ranks[0]),
    "another verdict": lambda r: setattr(r, "verdict", Verdict.VERDICT_BOT_FAULT),
    "a fault": lambda r: r.faults.add(seat=0, kind=FaultKind.FAULT_KIND_CRASHED, forfeit=True),
    "options": lambda r: r.options.koffer.specials.extend([13]),
    "no end": _fewer,
    "more than the end": _more,
    "another version of the rules": lambda r: setattr(r, "game_version", 99),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_record_that_lies_does_not_verify(lie: str) -> None:
    record = unseal(SEALED)
    LIES[lie](record)
    with pytest.raises(VerificationError):
        verify(record)


def test_a_stand_in_that_draws_otherwise_does_not_verify() -> None:
    record = unseal(FAULTY)
    position = record.faults[0].decision
    record.actions[position] = (record.actions[position] + 1) % 7
    with pytest.raises(VerificationError, match=r"stand-in|refuse|ends|scores|action"):
        verify(record)


def test_more_tolerated_faults_than_allowed_do_not_verify() -> None:
    record = unseal(FAULTY)
    record.faults_allowed = 0
    with pytest.raises(VerificationError, match="more faults than were allowed"):
        verify(record)
