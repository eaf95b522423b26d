"""What the tables make of a bot's end: whose fault it is, which one, and what its author may know of it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.bots.launcher import Ending, Place, Running
from arena.bots.limits import BotLimits
from arena.bots.process import Processes
from arena.bots.reference import BotSpec
from arena.bots.tables import Flow, Tables
from arena.games.chance import deal_seed
from arena.match.host import Lane, TableHost
from arena.match.record import unseal
from arena.match.replay import verify
from tests.bots.test_tables import FIRST, bot
from tests.match.fakes import spec


async def play(
    bots: list[BotSpec], logs: Path, matches: int = 1, launcher: Processes | None = None, **settings: int
) -> list[MatchRecord]:
    """Matches of bots, one after the other."""
    base = spec([each.name for each in bots], **settings)  # type: ignore[arg-type]
    records = []
    async with Tables(bots, logs, 20_000_000, launcher=launcher) as tables:
        for deal in range(matches):
            match = replace(base, deal=deal, seed=deal_seed(bytes(32), "koffer", deal))
            records.append(unseal(await tables.play(match)))
    for record in records:
        verify(record)
    return records


@pytest.mark.parametrize(
    ("ends", "code", "signal"), [("os._exit(7)", 7, ""), ("os.kill(os.getpid(), 11)", None, "SIGSEGV")]
)
async def test_how_a_process_ended_is_evidence(
    tmp_path: Path, ends: str, code: int | None, signal: str
) -> None:
    body = (
        "import sys\n"
        "class Play(Bot):\n"
        "    def choose(self, turn):\n"
        "        print('my last words', file=sys.stderr, flush=True)\n"
        f"        {ends}"
    )
    (record,) = await play([bot(tmp_path, "dying", body), bot(tmp_path, "first", FIRST)], tmp_path)
    (fault,), (evidence,) = record.faults, record.circumstances.evidence
    assert fault.kind == FaultKind.FAULT_KIND_CRASHED
    assert evidence.stderr == "my last words\n"
    assert (evidence.exit_code if evidence.HasField("exit_code") else None, evidence.signal) == (code, signal)
    assert evidence.memory_peak_bytes > 1 << 20
    began = record.circumstances.started_us
    assert began <= evidence.at_us <= began + record.circumstances.length_us
    assert "my last words" not in record.circumstances.fault_details[0]


async def test_a_bot_that_never_greets_was_ended_by_us_and_that_is_no_evidence(tmp_path: Path) -> None:
    path = tmp_path / "silent.py"
    path.write_text("import sys, time\nprint('loading', file=sys.stderr, flush=True)\ntime.sleep(60)\n")
    silent = replace(bot(tmp_path, "first", FIRST), name="silent", command=("python3", "silent.py"))
    silent = replace(silent, limits=replace(silent.limits, start_us=1_500_000))
    (record,) = await play([silent, bot(tmp_path, "first", FIRST)], tmp_path)
    (evidence,) = record.circumstances.evidence
    assert record.faults[0].kind == FaultKind.FAULT_KIND_START_FAILED
    assert (evidence.stderr, evidence.signal, evidence.HasField("exit_code")) == ("loading\n", "", False)


async def test_a_bot_that_is_given_up_is_forfeited_also_where_its_last_fault_may_be_tolerated(
    tmp_path: Path,
) -> None:
    body = "class Play(Bot):\n    def choose(self, turn):\n        time.sleep(60)"
    bots = [bot(tmp_path, "asleep", body), bot(tmp_path, "first", FIRST)]
    records = await play(bots, tmp_path, matches=5, move_us=500_000, faults_allowed=1)
    kinds = [[(fault.kind, fault.forfeit) for fault in record.faults] for record in records]
    timeout = FaultKind.FAULT_KIND_TIMEOUT
    assert kinds == [[(timeout, False), (timeout, True)]] * 3 + [[(timeout, True)]] * 2


class _Told:
    """A running bot whose end is told otherwise."""

    def __init__(self, running: Running, told: Ending) -> None:
        self._running = running
        self._told = told
        self.ended: asyncio.Future[Ending] = asyncio.ensure_future(self._wait())

    async def _wait(self) -> Ending:
        await asyncio.shield(self._running.ended)
        return self._told

    async def stop(self) -> Ending:
        await self._running.stop()
        return await self.ended


class _Sandbox(Processes):
    """Tells of a bot's first ends what a sandbox may say."""

    def __init__(self, *told: Ending) -> None:
        self._told = list(told)

    async def start(self, bot: BotSpec, limits: BotLimits, place: Place) -> Running:  # type: ignore[override]
        running = await super().start(bot, limits, place)
        return _Told(running, self._told.pop(0)) if bot.name == "dying" and self._told else running


DIES = "class Play(Bot):\n    def choose(self, turn):\n        os._exit(1)"
OUT_OF_MEMORY = Ending("it was killed at its memory limit", out_of_memory=True, memory_peak_bytes=64 << 20)


@pytest.mark.parametrize("body", [DIES, "os._exit(1)"], ids=["in a match", "before its hello"])
async def test_an_end_at_the_memory_limit_is_no_crash(tmp_path: Path, body: str) -> None:
    bots = [bot(tmp_path, "dying", body), bot(tmp_path, "first", FIRST)]
    (record,) = await play(bots, tmp_path, launcher=_Sandbox(OUT_OF_MEMORY))
    assert [fault.kind for fault in record.faults] == [FaultKind.FAULT_KIND_MEMORY_EXCEEDED]
    assert record.circumstances.evidence[0].memory_peak_bytes == 64 << 20
    assert record.circumstances.fault_details[0] == OUT_OF_MEMORY.text


async def test_a_bot_that_the_machine_lost_is_not_blamed_and_its_match_played_again(tmp_path: Path) -> None:
    body = (
        "class Play(Bot):\n"
        "    def choose(self, turn):\n"
        "        if not os.path.exists('lived'):\n"
        "            open('lived', 'w').close()\n"
        "            os._exit(1)\n"
        "        return 0"
    )
    bots = [bot(tmp_path, "dying", body), bot(tmp_path, "first", FIRST)]
    (record,) = await play(
        bots, tmp_path, launcher=_Sandbox(Ending("gone", infra="the engine was restarted"))
    )
    assert record.verdict == Verdict.VERDICT_PLAYED
    assert (tmp_path / "lived").exists()


async def test_bots_that_answer_in_time_are_not_blamed_for_a_standstill_of_the_arena(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own event loop stands still for longer than a decision may take, just when a bot is to answer."""
    send, back_off = TableHost._send, Flow.back_off
    stood_still, backed_off = 0, 0

    def send_and_stand_still(host: TableHost, lane: Lane) -> None:
        nonlocal stood_still
        asks = bool(lane._unsent)
        send(host, lane)
        if asks and stood_still < 2:
            stood_still += 1
            asyncio.get_running_loop().call_soon(time.sleep, 1.0)

    def noted(flow: Flow) -> None:
        nonlocal backed_off
        backed_off += 1
        back_off(flow)

    monkeypatch.setattr(TableHost, "_send", send_and_stand_still)
    monkeypatch.setattr(Flow, "back_off", noted)
    bots = [bot(tmp_path, "one", FIRST), bot(tmp_path, "two", FIRST)]
    (record,) = await play(bots, tmp_path, move_us=400_000)
    assert record.verdict == Verdict.VERDICT_PLAYED
    assert not record.faults
    assert stood_still == 2
    assert backed_off >= 1
