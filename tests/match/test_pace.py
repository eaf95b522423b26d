"""When frames leave, and what the arena makes of its own lateness."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable

import pytest
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.match.host import AbandonedError, Absent, OverloadError, TableHost
from arena.match.lag import LagWatch, margin_us
from arena.match.match import Match
from arena.match.record import unseal
from tests.match.fakes import FakeBot, first, spec


class Prompt(FakeBot):
    """Answers a frame as a whole, a moment after it came: as soon as the loop gets to it."""

    def __init__(self, host: TableHost, name: str) -> None:
        super().__init__(host, name, first, at_once=False)
        self.sizes: list[int] = []

    def send(self, data: bytes) -> None:
        before = len(self.asked)
        super().send(data)
        self.sizes.append(len(self.asked) - before)
        asyncio.get_running_loop().call_soon(self.answer_all)


def play(host: TableHost, bots: list[FakeBot], turn: int = 0, **settings: int) -> Awaitable[bytes]:
    seated = bots[turn:] + bots[:turn]
    names = [bot.lane.name for bot in seated]
    return host.play(Match(spec(names, **settings)), [bot.lane for bot in seated])  # type: ignore[arg-type]


def standing_still() -> int:
    """A clock on which no bot is ever slow, however busy the machine is."""
    return 1_000_000


async def test_quick_bots_are_asked_about_nearly_all_matches_at_once() -> None:
    host = TableHost(clock=standing_still)
    bots = [Prompt(host, name) for name in "abcd"]
    await asyncio.gather(*(play(host, list[FakeBot](bots), number % 4) for number in range(64)))
    sizes = [size for bot in bots for size in bot.sizes if size]
    assert sum(sizes) == 64 * 36
    assert sum(sizes) / len(sizes) > 32


async def test_a_bot_that_takes_its_time_keeps_nobody_from_being_asked() -> None:
    host = TableHost()
    slow, *others = [FakeBot(host, name) for name in "abc"]
    slow.at_once = False
    with_slow = asyncio.ensure_future(play(host, [slow, *others]))
    while not slow.waiting:
        await asyncio.sleep(0.001)
    record = unseal(await asyncio.wait_for(play(host, others), 5))
    assert record.verdict == Verdict.VERDICT_PLAYED
    assert not with_slow.done()
    slow.at_once = True
    slow.answer_all()
    assert unseal(await with_slow).verdict == Verdict.VERDICT_PLAYED


async def test_a_timeout_while_the_arena_stood_still_is_nobodys() -> None:
    host = TableHost()
    good, silent = FakeBot(host, "good"), FakeBot(host, "silent", lambda decision: None)
    game = asyncio.ensure_future(play(host, [good, silent], move_us=300_000))
    while not silent.asked:
        await asyncio.sleep(0.001)
    time.sleep(0.6)
    with pytest.raises(OverloadError):
        await game
    assert not silent.given_up
    assert [end.match for end in silent.ends] == [silent.starts[0].match]


async def test_a_timeout_is_a_bots_own_if_the_arena_stood_still_before_it_was_asked() -> None:
    for _ in range(20):  # others may keep this process from running at the wrong moment
        host = TableHost()
        good, silent = FakeBot(host, "good"), FakeBot(host, "silent", lambda decision: None)
        with host.watch.on():
            await asyncio.sleep(0.06)
            time.sleep(0.3)
            await asyncio.sleep(0.06)
            assert host.watch.worst_us(0, time.monotonic_ns() // 1000) >= 200_000
            try:
                record: MatchRecord = unseal(await play(host, [good, silent], move_us=150_000))
            except OverloadError:
                continue
        assert [fault.kind for fault in record.faults] == [FaultKind.FAULT_KIND_TIMEOUT]
        return
    pytest.fail("the machine was too busy to tell")


async def test_lag_is_seen_while_it_lasts_and_after_it() -> None:
    now = 0
    watch = LagWatch(lambda: now)
    with watch.on():
        now = 50_000
        assert watch.worst_us(0, now) == 0
        now = 400_000
        assert watch.worst_us(0, now) == 350_000
        await asyncio.sleep(0.06)
        now = 500_000
        assert watch.worst_us(0, now) >= 350_000
        assert watch.worst_us(450_000, now) < 350_000


async def test_lag_adds_up_over_the_time_that_is_asked_about() -> None:
    now = 0
    watch = LagWatch(lambda: now)
    with watch.on():
        for end in (400_000, 800_000):
            now = end
            await asyncio.sleep(0.06)  # due 50 ms after the last time, on a clock that goes in leaps
        assert (watch.last_us(now), watch.total_us(0, now)) == (800_000, 700_000)
        assert watch.total_us(700_000, now) == 100_000
        assert watch.total_us(800_000, now) == 0
        now += 1_050_000
        assert (watch.last_us(now), watch.total_us(800_000, now)) == (now, 1_000_000)


async def test_what_the_arena_was_late_is_not_taken_off_a_bots_time() -> None:
    """An answer that came in time, and waited until the arena got to it, costs what the bot took."""
    host = TableHost()
    a, b = FakeBot(host, "a"), FakeBot(host, "b")
    a.at_once = b.at_once = False
    game = asyncio.ensure_future(play(host, [a, b], move_us=5_000_000, bank_us=700_000))
    stood_still = 0
    while not game.done():
        await asyncio.sleep(0.001)
        if (a.waiting or b.waiting) and stood_still < 4:
            stood_still += 1
            time.sleep(0.4)
        for bot in (a, b):
            bot.answer_all()
    assert stood_still == 4
    assert unseal(await game).verdict == Verdict.VERDICT_PLAYED


def test_the_margin_grows_with_the_time_for_a_decision() -> None:
    assert margin_us(1_000) == margin_us(1_000_000) == 100_000
    assert margin_us(60_000_000) == 6_000_000


async def test_matches_are_in_step_again_after_a_bot_was_lost() -> None:
    host = TableHost(clock=standing_still)
    bots: list[FakeBot] = [Prompt(host, name) for name in "abcd"]
    lost = [asyncio.ensure_future(play(host, bots, number % 4)) for number in range(64)]
    while not any(bot.lane._unsent for bot in bots[:3]):  # something is held back for one that stays
        await asyncio.sleep(0)
    host.close(bots[3].lane, Absent(FaultKind.FAULT_KIND_CRASHED, "exit code 1"))
    assert all(
        isinstance(result, AbandonedError) for result in await asyncio.gather(*lost, return_exceptions=True)
    )
    bots[3] = Prompt(host, "d")
    for bot in bots:
        assert isinstance(bot, Prompt)
        bot.sizes.clear()
    await asyncio.gather(*(play(host, bots, number % 4) for number in range(64)))
    sizes = [size for bot in bots if isinstance(bot, Prompt) for size in bot.sizes if size]
    assert sum(sizes) / len(sizes) > 32
