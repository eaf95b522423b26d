"""What is known about faults: kept with them, bounded, and gone from what everybody may read."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from botarena.v1.record_pb2 import Evidence, FaultKind, MatchRecord

from arena.match.evidence import MOST_DETAIL, MOST_STDERR, made_evidence, public_record, told_faults
from arena.match.host import Absent, TableHost
from arena.match.match import Match
from arena.match.record import identity, seal, unseal
from arena.match.replay import verify
from tests.match.fakes import FakeBot, spec

CRASHED = FaultKind.FAULT_KIND_CRASHED
START_US = 1_700_000_000_000_000
EVIDENCE = made_evidence("Traceback: my secret plan", 7, "", 12 << 20)


def faulty() -> MatchRecord:
    """A match with a tolerated fault, and two bots that crash, the later seat first."""
    match = Match(spec(("a", "b", "c"), faults_allowed=1))
    (ask,) = match.start(1_000, START_US)
    tolerated = ask.seat
    (ask,) = match.reply(tolerated, None, 2_000)
    last = 3 - tolerated - ask.seat
    match.fault(last, CRASHED, 5_000, "exit code 7", evidence=EVIDENCE, gone=True)
    asks = match.fault(ask.seat, CRASHED, 6_000, "it was me", evidence=Evidence(signal="SIGSEGV"), gone=True)
    while asks:
        asks = match.reply(tolerated, 0, 7_000)
    return unseal(match.record())


def test_each_fault_has_its_own_evidence_with_its_time() -> None:
    told = list(told_faults(faulty()))
    # In the order of decisions, not of arrival.
    assert [(each.detail[:11], each.evidence.at_us - START_US) for each in told] == [
        ("no action o", 1_000),
        ("it was me", 5_000),
        ("exit code 7", 4_000),
    ]
    _, killed, crashed = (each.evidence for each in told)
    assert killed.signal == "SIGSEGV"
    assert not killed.HasField("exit_code")
    assert (crashed.exit_code, crashed.stderr) == (7, EVIDENCE.stderr)
    assert crashed.memory_peak_bytes == 12 << 20


def test_a_public_record_is_the_same_match_without_what_is_private() -> None:
    record = faulty()
    before = seal(record)
    data = seal(public_record(record))
    assert seal(record) == before
    assert identity(data) == identity(before)
    for private in (b"secret plan", b"exit code 7", b"it was me", b"SIGSEGV", b"no action"):
        assert private in before
        assert private not in data
    public = unseal(data)
    verify(public)
    assert list(public.circumstances.think_us) == list(record.circumstances.think_us)
    assert [(each.detail, each.evidence) for each in told_faults(public)] == [("", Evidence())] * 3


@pytest.mark.parametrize("text", ["x" * 10_000, "\udcff" * 10_000, "\x00\x1b[31m" * 2_000])
def test_texts_of_bots_are_bounded_and_fit_a_record(text: str) -> None:
    evidence = made_evidence(stderr=text + "end")
    assert len(evidence.stderr) == MOST_STDERR
    assert evidence.stderr.endswith("end")
    match = Match(spec())
    (ask,) = match.start(0)
    asks = match.fault(ask.seat, CRASHED, 0, text, evidence=evidence)
    while asks:
        asks = match.reply(asks[0].seat, 0, 0)
    assert len(unseal(match.record()).circumstances.fault_details[0]) == MOST_DETAIL


def test_records_from_before_there_was_evidence_are_told_too() -> None:
    record = faulty()
    del record.circumstances.evidence[:]
    assert [each.evidence for each in told_faults(record)] == [Evidence()] * 3


async def test_a_bot_is_told_of_no_fault_but_its_own() -> None:
    host = TableHost()
    good, bad = FakeBot(host, "good"), FakeBot(host, "bad", lambda decision: "my secret plan failed")
    absent = Absent(FaultKind.FAULT_KIND_START_FAILED, "no module named brain", EVIDENCE)
    record = unseal(await host.play(Match(spec(("good", "bad", "absent"))), [good.lane, bad.lane, absent]))
    assert len(record.faults) == 2
    assert [bot.ends[0].fault for bot in (good, bad)] == ["", "CRASHED"]
    for bot in (good, bad):
        heard = b"".join(each.SerializeToString() for each in (*bot.starts, *bot.asked, *bot.ends))
        for private in (b"secret plan", b"brain", b"START_FAILED"):
            assert private not in heard
    assert {e.stderr for e in record.circumstances.evidence} == {"", EVIDENCE.stderr}


# clocks


def jumping() -> Iterator[int]:
    """A wall clock that somebody sets to and fro: nanoseconds."""
    yield from (START_US * 1000, 0, 1 << 60)
    while True:
        yield 5


async def test_a_wall_clock_that_jumps_changes_dates_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only monotonic time rules: a match with a timeout is the same when the clock is set in the middle."""

    async def play() -> MatchRecord:
        host = TableHost()
        good, silent = FakeBot(host, "good"), FakeBot(host, "silent", lambda decision: None)
        return unseal(
            await host.play(Match(spec(("good", "silent"), move_us=30_000)), [good.lane, silent.lane])
        )

    undisturbed = await play()
    wall = jumping()
    monkeypatch.setattr(time, "time_ns", lambda: next(wall))
    monkeypatch.setattr(time, "time", lambda: next(wall) / 1e9)
    disturbed = await play()
    assert disturbed.circumstances.started_us == START_US
    assert identity(seal(disturbed)) == identity(seal(undisturbed))
    (fault,) = told_faults(disturbed)
    assert fault.fault.kind == FaultKind.FAULT_KIND_TIMEOUT
    # Its date is that of the start and the monotonic time since.
    assert 30_000 <= fault.evidence.at_us - START_US <= disturbed.circumstances.length_us
