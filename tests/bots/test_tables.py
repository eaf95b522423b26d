"""Real bots at real tables: what they agree to, and how a failing one is treated."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.bots.reference import BotSpec, resolve
from arena.bots.tables import Flow, Tables
from arena.games.chance import deal_seed
from arena.match.host import Absent, Lane, OverloadError, TableHost
from arena.match.match import Match
from arena.match.record import unseal
from arena.match.replay import verify
from arena.match.verdicts import MAX_FAILURES, MAX_OVERLOADS
from tests.match.fakes import spec


def bot(folder: Path, name: str, body: str, arguments: str = "") -> BotSpec:
    path = folder / f"{name}.py"
    path.write_text(f"import os, time\nfrom botarena import Bot, run\n\n{body}\n\nrun(Play{arguments})\n")
    return replace(resolve(str(path)), name=name)


FIRST = "class Play(Bot):\n    def choose(self, turn):\n        return 0"


async def play(bots: list[BotSpec], logs: Path, matches: int, **settings: int) -> list[MatchRecord]:
    base = spec([bot.name for bot in bots], **settings)  # type: ignore[arg-type]
    specs = [replace(base, deal=d, seed=deal_seed(bytes(32), "koffer", d)) for d in range(matches)]
    async with Tables(bots, logs, 20_000_000) as tables:
        records = [unseal(data) for data in await asyncio.gather(*map(tables.play, specs))]
    for record in records:
        verify(record)
    return records


async def test_a_bot_that_plays_one_match_at_a_time_is_never_asked_for_two(tmp_path: Path) -> None:
    body = (
        "playing = 0\n"
        "class Play(Bot):\n"
        "    def start(self, match):\n"
        "        global playing\n"
        "        playing += 1\n"
        "        assert playing == 1\n"
        "    def choose(self, turn):\n"
        "        return 0\n"
        "    def end(self, result):\n"
        "        global playing\n"
        "        playing -= 1"
    )
    shy = bot(tmp_path, "shy", body, ", concurrency=1")
    bold = bot(tmp_path, "bold", FIRST)
    records = await play([shy, bold, replace(bold, name="bold-2")], tmp_path, 12)
    assert {record.verdict for record in records} == {Verdict.VERDICT_PLAYED}


async def test_a_late_reply_is_dropped_and_a_tolerated_bot_plays_on(tmp_path: Path) -> None:
    body = (
        "class Play(Bot):\n"
        "    decisions = 0\n"
        "    def choose(self, turn):\n"
        "        self.decisions += 1\n"
        "        if self.decisions == 3:\n"
        "            time.sleep(1.2)\n"
        "        return 1 if len(turn.actions) > 1 else 0"
    )
    bots = [bot(tmp_path, "late", body), bot(tmp_path, "first", FIRST)]
    (record,) = await play(bots, tmp_path, 1, move_us=800_000, faults_allowed=1)
    (fault,) = record.faults
    assert (fault.seat, fault.kind, fault.forfeit) == (0, FaultKind.FAULT_KIND_TIMEOUT, False)
    assert record.verdict == Verdict.VERDICT_PLAYED
    # Its later decisions are its own again.
    own = [i for i, seat in enumerate(record.seats) if seat == 0 and i > fault.decision]
    assert {record.actions[i] for i in own} <= {0, 1}
    assert sum(record.circumstances.think_us[i] > 0 for i in own) == len(own)


async def test_a_bot_that_crashes_in_some_matches_loses_those_alone(tmp_path: Path) -> None:
    body = (
        "class Play(Bot):\n"
        "    def choose(self, turn):\n"
        "        if len(turn.history) > 6 and turn.random.random() < 0.02:\n"
        "            os._exit(1)\n"
        "        return 0"
    )
    bots = [bot(tmp_path, "frail", body), bot(tmp_path, "first", FIRST)]
    records = await play(bots, tmp_path, 16)
    again = await play(bots, tmp_path, 16)
    crashed = [bool(record.faults) for record in records]
    assert any(crashed)
    assert not all(crashed)
    # Which matches it loses is its own doing, not an accident of what else was in play.
    assert [list(record.faults) for record in records] == [list(record.faults) for record in again]


async def test_a_bot_that_only_ever_fails_is_given_up(tmp_path: Path) -> None:
    body = (
        "class Play(Bot):\n"
        "    def choose(self, turn):\n"
        "        with open('lives', 'a') as file:\n"
        "            file.write('x')\n"
        "        os._exit(1)"
    )
    bots = [bot(tmp_path, "dying", body), bot(tmp_path, "first", FIRST)]
    records = await play(bots, tmp_path, 12)
    assert [[fault.kind for fault in record.faults] for record in records] == [
        [FaultKind.FAULT_KIND_CRASHED]
    ] * 12
    assert len((tmp_path / "lives").read_text()) == MAX_FAILURES
    assert any("not started again" in record.circumstances.fault_details[0] for record in records)


async def test_a_match_that_the_arena_was_too_busy_for_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = iter([True, False, True])
    really_play = TableHost.play

    async def play_or_be_late(host: TableHost, match: Match, lanes: Sequence[Lane | Absent]) -> bytes:
        if next(late, False):
            raise OverloadError
        return await really_play(host, match, lanes)

    monkeypatch.setattr(TableHost, "play", play_or_be_late)
    records = await play([bot(tmp_path, "one", FIRST), bot(tmp_path, "two", FIRST)], tmp_path, 4)
    assert [record.verdict for record in records] == [Verdict.VERDICT_PLAYED] * 4


async def test_a_match_that_the_arena_is_always_too_busy_for_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    async def be_late(*_: object) -> bytes:
        nonlocal tries
        tries += 1
        raise OverloadError

    monkeypatch.setattr(TableHost, "play", be_late)
    with pytest.raises(OverloadError):
        await play([bot(tmp_path, "one", FIRST), bot(tmp_path, "two", FIRST)], tmp_path, 1)
    assert tries == MAX_OVERLOADS


async def test_fewer_matches_are_in_play_after_an_overload_and_as_many_again_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.bots.tables._RECOVER_S", 0.2)
    flow, playing, most = Flow(8), 0, 0

    async def match(seconds: float) -> None:
        nonlocal playing, most
        async with flow:
            playing += 1
            most = max(most, playing)
            await asyncio.sleep(seconds)
            playing -= 1

    async def most_of(count: int) -> int:
        nonlocal most
        most = 0
        await asyncio.gather(*(match(0.001) for _ in range(count)))
        return most

    assert await most_of(20) == 8
    flow.back_off()
    flow.back_off()
    assert await most_of(20) == 2
    await asyncio.sleep(0.5)
    assert await most_of(40) == 8
