"""The table host with scripted bots: batches, clocks, blame, abandoned matches."""

from __future__ import annotations

import asyncio

import pytest
from botarena.v1.bot_pb2 import Decision, FromBot, Reply
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.match.host import AbandonedError, Absent, TableHost
from arena.match.match import Match
from arena.match.record import identity, seal, unseal
from arena.match.replay import verify
from tests.match.fakes import FakeBot, last, spec


def bots(host: TableHost, *names: str) -> list[FakeBot]:
    return [FakeBot(host, name) for name in names]


async def play(host: TableHost, players: list[FakeBot], **settings: int) -> MatchRecord:
    names = [bot.lane.name for bot in players]
    return unseal(await host.play(Match(spec(names, **settings)), [bot.lane for bot in players]))  # type: ignore[arg-type]


async def test_a_match_between_scripted_bots_plays_to_a_record_that_verifies() -> None:
    host = TableHost(worker=3)
    players = bots(host, "a", "b", "c")
    record = await play(host, players)
    verify(record)
    assert record.verdict == Verdict.VERDICT_PLAYED
    assert record.circumstances.worker == 3
    assert [bot.starts[0].seat for bot in players] == [0, 1, 2]
    assert all(list(bot.ends[0].ranks) == list(record.ranks) for bot in players)


async def test_what_many_matches_ask_leaves_in_one_frame_per_bot() -> None:
    host = TableHost()
    players = bots(host, "a", "b")
    for bot in players:
        bot.at_once = False
    games = [asyncio.create_task(play(host, players)) for _ in range(50)]
    while not all(bot.frames for bot in players):  # one of them waits for the other's answers, but not long
        await asyncio.sleep(0.001)
    assert [bot.frames for bot in players] == [1, 1]
    assert sum(len(bot.waiting) for bot in players) == 50
    while not all(game.done() for game in games):
        for bot in players:
            bot.answer_all()
        await asyncio.sleep(0.001)
    assert len({identity_of(game.result()) for game in games}) == 1


def identity_of(record: MatchRecord) -> bytes:
    return identity(seal(record))


async def test_silence_is_a_timeout_and_the_bot_is_given_up() -> None:
    host = TableHost()
    good, silent = FakeBot(host, "good"), FakeBot(host, "silent", lambda decision: None)
    record = await play(host, [good, silent], move_us=20_000)
    assert [(f.seat, f.kind) for f in record.faults] == [(1, FaultKind.FAULT_KIND_TIMEOUT)]
    assert record.circumstances.think_us[record.faults[0].decision] >= 20_000
    assert silent.given_up
    assert not good.given_up
    verify(record)


async def test_with_allowed_faults_a_silent_bot_goes_on_and_its_late_reply_is_dropped() -> None:
    host = TableHost()
    good, slow = FakeBot(host, "good"), FakeBot(host, "slow")
    slow.answer = lambda decision: None if len(slow.asked) == 1 else 0
    record = await play(host, [good, slow], move_us=20_000, faults_allowed=1)
    assert [f.forfeit for f in record.faults] == [False]
    assert record.verdict == Verdict.VERDICT_PLAYED
    assert not slow.given_up
    host.receive(slow.lane, FromBot(replies=[Reply(decision=slow.asked[0].id, action=0)]))
    assert slow.lane.dropped == 1


async def test_doubled_foreign_and_invented_replies_are_dropped() -> None:
    host = TableHost()
    a, b = bots(host, "a", "b")

    def noisy(decision: Decision) -> int:
        for number in (decision.id, decision.id, decision.id + 1000, 0):
            host.receive(a.lane, FromBot(replies=[Reply(decision=number, action=0)]))
        return 0

    a.answer = noisy
    record = await play(host, [a, b])
    assert record.verdict == Verdict.VERDICT_PLAYED
    assert a.lane.dropped == 4 * len(a.asked)


async def test_a_reported_error_forfeits_its_match_alone() -> None:
    host = TableHost()
    a, b = bots(host, "a", "b")
    a.answer = lambda decision: "ZeroDivisionError" if decision.match == a.starts[0].match else 0
    broken, fine = await asyncio.gather(play(host, [a, b]), play(host, [a, b]))
    assert [f.kind for f in broken.faults] == [FaultKind.FAULT_KIND_CRASHED]
    assert broken.circumstances.fault_details[0] == "ZeroDivisionError"
    assert fine.verdict == Verdict.VERDICT_PLAYED
    assert [end.fault for end in a.ends] == ["CRASHED", ""]


async def test_one_bot_is_charged_for_one_decision_at_a_time() -> None:
    """Ten decisions of 50 ms each, all asked at once, with 400 ms for each: none is late."""
    host = TableHost()
    quick, slow = bots(host, "quick", "slow")
    slow.at_once = False
    games = [asyncio.create_task(play(host, [quick, slow], move_us=400_000)) for _ in range(10)]
    await asyncio.sleep(0)
    while not all(game.done() for game in games):
        await asyncio.sleep(0.05 if len(slow.asked) < 12 else 0)
        if slow.waiting:
            decision = slow.waiting.pop(0)
            host.receive(slow.lane, FromBot(replies=[Reply(decision=decision.id, action=0)]))
    records = [game.result() for game in games]
    assert all(record.verdict == Verdict.VERDICT_PLAYED for record in records)


async def test_a_bot_that_answers_others_first_cannot_hold_its_oldest_decision_back_for_ever() -> None:
    host = TableHost()
    quick, sly = bots(host, "quick", "sly")
    sly.at_once = False
    games = [asyncio.create_task(play(host, [quick, sly], move_us=40_000)) for _ in range(2)]
    await asyncio.sleep(0.005)
    held = sly.waiting[0].match
    while not sly.given_up:
        await asyncio.sleep(0.005)
        for decision in [d for d in sly.waiting if d.match != held]:
            sly.waiting.remove(decision)
            host.receive(sly.lane, FromBot(replies=[Reply(decision=decision.id, action=0)]))
    results = await asyncio.gather(*games, return_exceptions=True)
    assert any(isinstance(result, AbandonedError) and result.bot == "sly" for result in results)


async def test_a_bot_that_is_lost_in_several_matches_is_blamed_for_none_and_all_are_abandoned() -> None:
    host = TableHost()
    a, b = bots(host, "a", "b")
    b.at_once = False
    games = [asyncio.create_task(play(host, [a, b])) for _ in range(4)]
    await asyncio.sleep(0.01)
    assert len(b.waiting) == 4
    host.close(b.lane, Absent(FaultKind.FAULT_KIND_CRASHED, "exit code 1"))
    results = await asyncio.gather(*games, return_exceptions=True)
    assert [isinstance(result, AbandonedError) and result.bot for result in results] == ["b"] * 4
    # The honest bot hears of the end of each match, void or not.
    assert len(a.ends) == 4
    with pytest.raises(AbandonedError):
        await play(host, [a, b])


@pytest.mark.parametrize("asked", [True, False])
async def test_a_bot_that_is_lost_in_its_only_match_is_blamed_for_it(asked: bool) -> None:
    host = TableHost()
    a, b = bots(host, "a", "b")
    a.at_once = b.at_once = False
    game = asyncio.create_task(play(host, [a, b]))
    await asyncio.sleep(0.01)
    to_move, other = (a, b) if a.waiting else (b, a)
    lost, stays = (to_move, other) if asked else (other, to_move)
    host.close(lost.lane, Absent(FaultKind.FAULT_KIND_CRASHED, "exit code 1"))
    stays.at_once = True
    stays.answer_all()
    record = await game
    (fault,) = record.faults
    assert (record.bots[fault.seat].name, fault.kind) == (lost.lane.name, FaultKind.FAULT_KIND_CRASHED)
    verify(record)


async def test_no_clock_runs_for_a_bot_whose_loss_is_being_looked_into() -> None:
    host = TableHost()
    good, silent = FakeBot(host, "good"), FakeBot(host, "silent", lambda decision: None)
    game = asyncio.create_task(play(host, [good, silent], move_us=400_000))
    await asyncio.sleep(0.005)
    silent.lane.lost = True
    await asyncio.sleep(0.5)
    host.close(silent.lane, Absent(FaultKind.FAULT_KIND_CRASHED, "exit code 1"))
    assert [fault.kind for fault in (await game).faults] == [FaultKind.FAULT_KIND_CRASHED]


async def test_a_timeout_in_one_of_several_matches_abandons_all_of_them() -> None:
    host = TableHost()
    good, silent = FakeBot(host, "good"), FakeBot(host, "silent", lambda decision: None)
    games = [asyncio.create_task(play(host, [good, silent], move_us=20_000)) for _ in range(3)]
    results = await asyncio.gather(*games, return_exceptions=True)
    assert [isinstance(result, AbandonedError) and result.bot for result in results] == ["silent"] * 3
    assert silent.given_up


async def test_an_absent_bot_is_forfeited_from_the_start_and_the_others_play() -> None:
    host = TableHost()
    a = FakeBot(host, "a", last)
    absent = Absent(FaultKind.FAULT_KIND_START_FAILED, "exit code 1")
    record = unseal(await host.play(Match(spec(("a", "b"))), [a.lane, absent]))
    assert [(f.seat, f.decision, f.kind) for f in record.faults] == [
        (1, 0, FaultKind.FAULT_KIND_START_FAILED)
    ]
    assert list(record.ranks) == [1, 2]
    verify(record)


async def test_matches_of_honest_bots_are_what_they_are_without_a_bad_bot_beside_them() -> None:
    """Two honest bots and one that fails at once: the record is that of a stand-in in its seat."""
    host = TableHost()
    honest = [FakeBot(host, name, last) for name in ("a", "b")]
    failing = FakeBot(host, "c", lambda decision: 99)
    absent = Absent(FaultKind.FAULT_KIND_ILLEGAL_ACTION, "")
    names = ("a", "b", "c")
    with_bad = await host.play(Match(spec(names)), [*(bot.lane for bot in honest), failing.lane])
    without = await host.play(Match(spec(names)), [*(bot.lane for bot in honest), absent])
    assert list(unseal(with_bad).actions) == list(unseal(without).actions)
    assert list(unseal(with_bad).ranks) == list(unseal(without).ranks)
