"""Conversations stream by stream: who is let in, what is resumed, what is ruled when a stream ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from botarena.v1.bot_pb2 import BotError, Decision, FromBot, Hello, Reply
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.bots import conversation
from arena.bots.conversation import Conversations
from arena.bots.flood import EACH, MOST, RESUMED, Allowance
from arena.match.host import Port, TableHost
from arena.match.match import Match
from arena.match.record import unseal
from arena.match.replay import verify
from tests.bots.streams import FakeStream, Life, live, until
from tests.match.fakes import FakeBot, spec

A_LONG_TIME = 60_000_000


class Arena:
    """A host with one bot that talks through streams, beside scripted ones."""

    def __init__(self) -> None:
        self.host = TableHost()
        self.conversations = Conversations(self.host)
        self.life: Life = live(self.conversations, "talker")
        self.other = FakeBot(self.host, "other")
        self.games: list[asyncio.Task[bytes]] = []

    async def greet(self, **hello: Any) -> FakeStream:
        stream = self.life.open().hello(**hello)
        await until(lambda: stream.got.HasField("welcome"))
        return stream

    async def resume(self) -> FakeStream:
        return await self.greet(session=self.life.guest.session)

    def begin(self, matches: int = 1, **settings: int) -> None:
        lane = self.life.guest.lane
        assert lane is not None
        for _ in range(matches):
            match = Match(spec(("talker", "other"), **{"move_us": A_LONG_TIME, **settings}))  # type: ignore[arg-type]
            self.games.append(asyncio.create_task(self.host.play(match, [lane, self.other.lane])))

    async def records(self) -> list[MatchRecord]:
        records = [unseal(data) for data in await asyncio.gather(*self.games)]
        for record in records:
            verify(record)
        return records

    def close_with_what_was_ruled(self) -> None:
        """What `Tables` does with a bot whose conversation is over."""
        lane, (fault,) = self.life.guest.lane, self.life.faults
        assert lane is not None
        self.host.close(lane, fault)


def answer(stream: FakeStream, answered: set[int]) -> None:
    """Answer what the stream was asked and is not answered yet."""
    open_now = [decision.id for decision in stream.got.decisions if decision.id not in answered]
    answered.update(open_now)
    if open_now:
        stream.send(FromBot(replies=[Reply(decision=number, action=0) for number in open_now]))


async def play_on(arena: Arena, stream: FakeStream, answered: set[int] | None = None) -> None:
    """Answer until all matches are over."""
    answered = set() if answered is None else answered
    while not all(game.done() for game in arena.games):
        answer(stream, answered)
        await asyncio.sleep(0.001)


async def asked(stream: FakeStream, count: int = 1) -> list[Decision]:
    await until(lambda: len(stream.got.decisions) >= count)
    return list(stream.got.decisions)


async def test_a_broken_stream_is_resumed_with_the_same_decisions_and_the_match_goes_on() -> None:
    arena = Arena()
    first = await arena.greet()
    arena.begin(matches=3)
    before = await asked(first, 3)
    await first.end()
    second = await arena.resume()
    again = await asked(second, 3)
    assert [d.SerializeToString() for d in again] == [d.SerializeToString() for d in before]
    assert [s.SerializeToString() for s in second.got.starts] == [
        s.SerializeToString() for s in first.got.starts
    ]
    assert not second.got.ends
    await play_on(arena, second)
    assert {record.verdict for record in await arena.records()} == {Verdict.VERDICT_PLAYED}
    assert arena.life.faults == []


async def test_replies_that_came_before_the_break_count_and_a_doubled_one_is_dropped() -> None:
    arena = Arena()
    first = await arena.greet()
    arena.begin()
    (decision,) = await asked(first)
    first.send(FromBot(replies=[Reply(decision=decision.id, action=0)]))
    await asked(first, 2)
    await first.end()
    second = await arena.resume()
    assert decision.id not in [d.id for d in await asked(second)]
    second.send(FromBot(replies=[Reply(decision=decision.id, action=1)]))
    await play_on(arena, second)
    assert arena.life.guest.lane is not None
    assert arena.life.guest.lane.dropped == 1
    (record,) = await arena.records()
    assert record.verdict == Verdict.VERDICT_PLAYED


async def test_ends_that_may_have_been_missed_are_told_again_until_they_are_known_to_have_come() -> None:
    arena = Arena()
    first = await arena.greet()
    arena.begin()
    await play_on(arena, first)
    await first.end()
    second = await arena.resume()
    await until(lambda: second.got.ends)
    assert list(second.got.ends) == list(first.got.ends)
    assert not second.got.starts
    arena.begin()
    (decision,) = await asked(second)
    second.send(FromBot(replies=[Reply(decision=decision.id, action=0)]))
    await asked(second, 2)
    await second.end()
    third = await arena.resume()
    await asked(third)
    assert not third.got.ends  # it has answered something that came after it
    await play_on(arena, third)


async def test_all_ends_are_told_again_that_came_while_it_was_away() -> None:
    arena = Arena()
    first = await arena.greet()
    arena.begin(matches=3)
    replies = [Reply(decision=decision.id, action=99) for decision in await asked(first, 3)]
    first.send(FromBot(replies=replies))  # each of them forfeits a match, which ends at once
    first.context.reads = False
    await asyncio.gather(*arena.games)
    await first.end()
    second = await arena.resume()
    await until(lambda: len(second.got.ends) == 3)
    assert {end.fault for end in second.got.ends} == {"ILLEGAL_ACTION"}


async def test_a_resume_takes_over_from_a_stream_that_is_half_dead() -> None:
    arena = Arena()
    first = await arena.greet()
    arena.begin()
    await asked(first)
    second = await arena.resume()
    assert await first.status() == "ABORTED"
    await play_on(arena, second)
    assert (await arena.records())[0].verdict == Verdict.VERDICT_PLAYED
    assert arena.life.faults == []


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize(
    ("say", "statuses"),
    [
        (lambda stream: stream.hello(), ("ALREADY_EXISTS", "FAILED_PRECONDITION")),
        (lambda stream: stream.hello(session="guessed"), ("PERMISSION_DENIED",) * 2),
        (lambda stream: stream.send(FromBot()), ("INVALID_ARGUMENT",) * 2),
        (lambda stream: stream.send_bytes(b"\xff"), ("INVALID_ARGUMENT",) * 2),
    ],
)
async def test_a_stream_that_does_not_resume_is_refused_and_changes_nothing(
    say: Callable[[FakeStream], Any], statuses: tuple[str, str], broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "_REFUSAL_S", 0)
    arena = Arena()
    stream = await arena.greet()
    arena.begin()
    before = await asked(stream)
    if broken:
        await stream.end()
    refused = arena.life.open()
    say(refused)
    assert await refused.status() == statuses[broken]
    if broken:
        stream = await arena.resume()
        assert [d.SerializeToString() for d in await asked(stream)] == [d.SerializeToString() for d in before]
    await play_on(arena, stream)
    assert (await arena.records())[0].verdict == Verdict.VERDICT_PLAYED
    assert arena.life.faults == []
    assert arena.life.guest.refusals.count == 1


@pytest.mark.parametrize("token", ["", "guessed", "ключ"])
async def test_whoever_does_not_know_the_token_is_told_apart_from_a_bot_and_told_of_once(
    token: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(conversation, "_REFUSAL_S", 0)
    arena = Arena()
    stream = await arena.greet()
    arena.begin()
    await asked(stream)
    strangers = [arena.life.open(token) for _ in range(500)]
    assert {await stranger.status() for stranger in strangers} == {"UNAUTHENTICATED"}
    await play_on(arena, stream)
    assert (await arena.records())[0].verdict == Verdict.VERDICT_PLAYED
    assert arena.life.guest.refusals.count == 500
    assert 0 < len(caplog.records) < 10
    assert arena.life.guest.token not in caplog.text


async def test_of_streams_that_say_nothing_there_are_only_a_few() -> None:
    arena = Arena()
    silent = [arena.life.open() for _ in range(conversation.MAX_SILENT)]
    await asyncio.sleep(0)
    assert await arena.life.open().status() == "RESOURCE_EXHAUSTED"
    silent[0].hello()
    await until(lambda: silent[0].got.HasField("welcome"))
    arena.begin()
    await play_on(arena, silent[0])
    for stream in silent[1:]:
        await stream.end()
    assert arena.life.faults == []


# what is ruled when it does not come back


def quick(arena: Arena, grace_s: float, hold_s: float) -> None:
    arena.life.guest.grace_s = grace_s
    arena.life.guest.hold_s = hold_s


async def test_whoever_is_not_back_in_time_is_disconnected() -> None:
    arena = Arena()
    quick(arena, 0.03, 0.01)
    stream = await arena.greet()
    arena.begin()
    await asked(stream)
    await stream.end()
    assert arena.life.faults == []
    await until(lambda: arena.life.faults)
    arena.close_with_what_was_ruled()
    (record,) = await arena.records()
    assert [fault.kind for fault in record.faults] == [FaultKind.FAULT_KIND_DISCONNECTED]
    assert await arena.life.open().hello(session=arena.life.guest.session).status() == "UNAUTHENTICATED"


async def test_whoever_is_back_in_time_stays() -> None:
    arena = Arena()
    quick(arena, 0.05, 0.01)
    stream = await arena.greet()
    arena.begin()
    for _ in range(3):
        await asked(stream)
        await stream.end()
        arena.life.guest.grace_s = 60  # from the next break on
        stream = await arena.resume()
    await asyncio.sleep(0.1)
    assert arena.life.faults == []
    await play_on(arena, stream)
    await arena.records()


async def test_a_deadline_before_that_is_a_timeout_but_not_before_it_is_known_that_the_bot_lives() -> None:
    arena = Arena()
    quick(arena, 60, 0.3)
    stream = await arena.greet()
    arena.begin(move_us=50_000)
    await asked(stream)
    await stream.end()
    await asyncio.sleep(0.15)
    assert not arena.games[0].done()
    (record,) = await arena.records()
    assert [fault.kind for fault in record.faults] == [FaultKind.FAULT_KIND_TIMEOUT]
    assert arena.life.stuck == 1


async def test_a_bot_that_comes_back_after_its_deadline_is_too_late() -> None:
    arena = Arena()
    quick(arena, 60, 60)
    stream = await arena.greet()
    arena.begin(move_us=50_000, faults_allowed=1)
    (late,) = await asked(stream)
    await stream.end()
    await asyncio.sleep(0.06)
    stream = arena.life.open().hello(session=arena.life.guest.session)
    stream.send(FromBot(replies=[Reply(decision=late.id, action=0)]))  # in the same breath
    await play_on(arena, stream)
    (record,) = await arena.records()
    fault = record.faults[0]
    assert (fault.kind, fault.forfeit) == (FaultKind.FAULT_KIND_TIMEOUT, False)
    assert late.id not in [decision.id for decision in stream.got.decisions]


async def test_nobody_is_waited_for_whose_process_has_ended() -> None:
    arena = Arena()
    stream = await arena.greet()
    arena.begin()
    await asked(stream)
    await stream.end()
    assert arena.life.faults == []
    arena.conversations.expect_no_return(arena.life.guest)
    assert len(arena.life.faults) == 1
    arena.close_with_what_was_ruled()
    await arena.records()


# floods


FLOODS: dict[str, Callable[[Decision], FromBot]] = {
    "empty frames": lambda decision: FromBot(),
    "replies to nothing": lambda decision: FromBot(replies=[Reply(decision=1 << 63)] * 100),
    "one answer many times": lambda decision: FromBot(replies=[Reply(decision=decision.id)] * 10_000),
    "errors": lambda decision: FromBot(errors=[BotError(decision=0, text="x" * 4096)] * 200),
}


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_bot_that_floods_the_arena_commits_a_fault(flood: str) -> None:
    arena = Arena()
    stream = await arena.greet()
    arena.begin()
    (decision,) = await asked(stream)
    frame = FLOODS[flood](decision).SerializeToString()
    while not stream.task.done():
        stream.send_bytes(frame)
        await asyncio.sleep(0)
    assert await stream.status() == "RESOURCE_EXHAUSTED"
    arena.close_with_what_was_ruled()
    (record,) = await arena.records()
    assert [fault.kind for fault in record.faults] == [FaultKind.FAULT_KIND_OUTPUT_EXCEEDED]


async def test_a_bot_that_resumes_for_ever_commits_a_fault() -> None:
    arena = Arena()
    await arena.greet()
    arena.begin()
    for _ in range(MOST // RESUMED):
        await arena.resume()
    last = arena.life.open().hello(session=arena.life.guest.session)
    assert await last.status() == "RESOURCE_EXHAUSTED"
    arena.close_with_what_was_ruled()
    (record,) = await arena.records()
    assert [fault.kind for fault in record.faults] == [FaultKind.FAULT_KIND_OUTPUT_EXCEEDED]


def test_a_bot_that_answers_each_decision_in_four_frames_of_its_own_may_do_so_for_ever() -> None:
    allowance = Allowance()
    assert all(allowance.take(asked, 2) for asked in range(1, 3 * MOST) for _ in range(EACH // 2))
    assert not allowance.take(3 * MOST, MOST + 2 * EACH)


async def test_what_waits_for_a_bot_that_does_not_read_is_what_its_matches_ask_once() -> None:
    arena = Arena()
    stream = await arena.greet()
    stream.context.reads = False
    lane = arena.life.guest.lane
    assert lane is not None
    lane.port = port = Weighing(lane.port)
    for _ in range(3):  # as long as it answers nothing, nothing comes on top of it
        arena.begin(matches=100)
        await until(lambda: lane.asked == len(arena.games))
        await asyncio.sleep(0.02)
        assert lane.asked == len(arena.games)
    assert port.bytes < 300 * 2_000
    stream.context.reads = True
    await play_on(arena, stream)


class Weighing:
    """Counts what goes through a port."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self.bytes = 0

    def send(self, frame: bytes) -> None:
        self.bytes += len(frame)
        self._port.send(frame)


async def test_a_bot_that_answers_what_it_does_not_read_commits_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation, "MAX_UNREAD_BYTES", 20_000)
    arena = Arena()
    stream = await arena.greet()
    arena.begin(matches=2)
    await asked(stream, 2)
    stream.context.reads = False
    for number in range(1, 2000):
        if stream.task.done():
            break
        stream.send(FromBot(replies=[Reply(decision=number, action=0)]))
        await asyncio.sleep(0)
        if all(game.done() for game in arena.games):
            arena.games.clear()
            arena.begin(matches=2)
    assert await stream.status() == "RESOURCE_EXHAUSTED"
    (fault,) = arena.life.faults
    assert fault is not None
    assert fault.kind == FaultKind.FAULT_KIND_OUTPUT_EXCEEDED
    arena.host.close(arena.life.guest.lane, None)  # type: ignore[arg-type]
    await asyncio.gather(*arena.games, return_exceptions=True)


@pytest.mark.parametrize(
    "frame",
    [
        FromBot(),
        FromBot(hello=Hello(protocol=1), replies=[Reply(decision=1)]),
        FromBot(hello=Hello(protocol=1, games=["x" * 1000] * 20)),
        FromBot(hello=Hello(protocol=2)),
    ],
)
async def test_a_first_frame_that_is_no_hello_ends_the_start(frame: FromBot) -> None:
    arena = Arena()
    stream = arena.life.open()
    stream.send(frame)
    assert await stream.status() == "INVALID_ARGUMENT"
    assert len(arena.life.faults) == 1


async def test_a_failure_of_our_own_on_a_frame_costs_nobody_a_match_and_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    arena = Arena()
    stream = await arena.greet()
    arena.begin()
    await asked(stream)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(arena.host, "_take", fail)
    stream.send(FromBot(replies=[Reply(decision=1)]))
    assert await stream.status() == "UNKNOWN"
    assert arena.life.faults == [None]
    assert "ZeroDivisionError" in caplog.text
    arena.host.close(arena.life.guest.lane, None)  # type: ignore[arg-type]
    await asyncio.gather(*arena.games, return_exceptions=True)


@pytest.mark.parametrize("steps", range(8))
async def test_a_bot_that_hangs_up_is_missed_at_whatever_moment_its_call_is_cancelled(steps: int) -> None:
    life = live(Conversations(TableHost()), "bot")
    stream = life.open().hello()
    await until(lambda: stream.got.HasField("welcome"))
    stream.context.put(None)
    for _ in range(steps):
        await asyncio.sleep(0)
    stream.task.cancel()
    await asyncio.gather(stream.task, return_exceptions=True)
    assert life.guest.stream is None
    assert life.guest.grace is not None
    life.conversations.part(life.guest)
