"""Real bots at real tables: what they agree to, and how a failing one is treated."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.bots.gateway import _SocketFolder
from arena.bots.process import BotProcess, Processes
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


KILLED = (
    "import signal, pathlib\n"
    "class Play(Bot):\n"
    "    def choose(self, turn):\n"
    "        lives = pathlib.Path('{folder}/lives')\n"
    "        lives.open('a').write('x')\n"
    "        if len(lives.read_text()) <= {kills}:\n"
    "            os.kill({whom}, signal.SIGKILL)\n"
    "            time.sleep(60)\n"
    "        return 0"
)


@pytest.mark.parametrize("whom", ["os.getpid()", "os.getppid()"])
@pytest.mark.parametrize(("kills", "faults"), [(1, []), (2, [FaultKind.FAULT_KIND_CRASHED])])
async def test_a_bot_that_is_killed_is_pardoned_once_in_a_match(
    tmp_path: Path, whom: str, kills: int, faults: list[FaultKind.ValueType]
) -> None:
    body = KILLED.format(folder=tmp_path, kills=kills, whom=whom)
    killed, steady = bot(tmp_path, "killed", body), bot(tmp_path, "steady", FIRST)
    (record,) = await play([killed, steady, replace(steady, name="steady-2")], tmp_path, 1)
    assert [(fault.seat, fault.kind) for fault in record.faults] == [(0, kind) for kind in faults]


@pytest.mark.parametrize("whom", ["os.getpid()", "os.getppid()"])
@pytest.mark.parametrize(("kills", "faults"), [(1, []), (2, [FaultKind.FAULT_KIND_START_FAILED])])
async def test_a_bot_that_is_killed_before_it_greets_is_pardoned_once(
    tmp_path: Path, whom: str, kills: int, faults: list[FaultKind.ValueType]
) -> None:
    body = KILLED.format(folder=tmp_path, kills=kills, whom=whom) + "\nPlay().choose(None)"
    killed, steady = bot(tmp_path, "killed", body), bot(tmp_path, "steady", FIRST)
    (record,) = await play([killed, steady, replace(steady, name="steady-2")], tmp_path, 1)
    assert [(fault.seat, fault.kind) for fault in record.faults] == [(0, kind) for kind in faults]


async def test_a_bot_is_not_blamed_for_a_start_during_which_the_arena_stood_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady = bot(tmp_path, "steady", FIRST)
    started = Processes.start
    starts = 0

    async def stand_still(self: Processes, *arguments: Any) -> BotProcess:
        nonlocal starts
        process = await started(self, *arguments)
        starts += 1
        if starts == 1:
            asyncio.get_running_loop().call_later(0.01, time.sleep, 3)
        return process

    monkeypatch.setattr(Processes, "start", stand_still)
    bots = [replace(steady, name=f"steady-{number}") for number in range(3)]
    async with Tables(bots, tmp_path, 2_500_000) as tables:
        record = unseal(await tables.play(spec([one.name for one in bots])))
    assert list(record.faults) == []
    assert starts > 3


def test_a_folder_that_was_never_given_its_name_is_removed_when_it_is_old(tmp_path: Path) -> None:
    old, new = (Path(tempfile.mkdtemp(prefix="arena-new-", dir="/tmp")) for _ in range(2))
    os.utime(old, (0, 0))
    _SocketFolder().remove()
    assert (old.exists(), new.exists()) == (False, True)
    new.rmdir()
