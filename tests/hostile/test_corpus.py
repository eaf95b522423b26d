"""Every hostile bot beside honest ones: the verdict in its file's name, and nothing else changed."""

from __future__ import annotations

import asyncio
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.bots.limits import BotLimits
from arena.bots.process import log_name
from arena.bots.reference import BotSpec, resolve
from arena.bots.tables import Tables
from arena.games.chance import deal_seed
from arena.match.host import Absent, Lane, TableHost
from arena.match.match import Match
from arena.match.record import unseal
from arena.match.replay import verify
from arena.match.spec import MatchSpec
from tests.match.fakes import FakeBot, spec

BOTS = Path(__file__).parent / "bots"
CORPUS = sorted(path.stem for path in BOTS.glob("*.py") if path.stem != "honest")
ROOT = Path(__file__).parents[2]
KINDS = {name.removeprefix("FAULT_KIND_").lower(): kind for name, kind in FaultKind.items()}
MATCHES = 3


def expected(stem: str) -> FaultKind.ValueType | None:
    """The fault that a bot's file name announces."""
    if stem.startswith("played_"):
        return None
    return next(kind for name, kind in KINDS.items() if stem.startswith(name + "_"))


def bot(stem: str, name: str) -> BotSpec:
    return replace(resolve(str(BOTS / f"{stem}.py")), name=name)


def specs(move_us: int, bank_us: int) -> list[MatchSpec]:
    base = spec(("bad", "honest", "honest-2"), move_us=move_us, bank_us=bank_us)
    return [replace(base, deal=deal, seed=deal_seed(bytes(32), "koffer", deal)) for deal in range(MATCHES)]


async def play(stem: str, logs: Path) -> list[MatchRecord]:
    bots = [bot(stem, "bad"), bot("honest", "honest"), bot("honest", "honest-2")]
    # Generous to the honest bots beside it, and to one whose fault is another: the machine may be busy.
    move_us, bank_us = (10_000_000, 3_000_000) if "bank" in stem else (10_000_000, 60_000_000)
    if stem.startswith("timeout") and "bank" not in stem:
        move_us = 2_500_000
    start_us = 5_000_000 if stem.startswith("start_failed") else 30_000_000
    async with Tables(bots, logs, start_us) as tables:
        played = await asyncio.gather(*(tables.play(match) for match in specs(move_us, bank_us)))
    return [unseal(record) for record in played]


async def alone(record: MatchRecord, match: MatchSpec) -> MatchRecord:
    """The same match with scripted honest bots, and a stand-in for the bad one from its fault on."""
    host = TableHost()
    honest = [FakeBot(host, name) for name in ("honest", "honest-2")]
    first: FakeBot | Absent = FakeBot(host, "bad")
    if record.faults and record.faults[0].decision <= list(record.seats).index(0):
        first = Absent(record.faults[0].kind, "")
    lanes: list[Lane | Absent] = [first if isinstance(first, Absent) else first.lane]
    return unseal(await host.play(Match(match), [*lanes, *(one.lane for one in honest)]))


def processes_with(word: str) -> list[str]:
    """Command lines of all processes whose environment holds a word."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@pytest.mark.parametrize("stem", CORPUS)
async def test_a_bad_bot_harms_itself_alone(
    stem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # Every process of this test is known by a word in its environment.
    mark = f"mark-{os.getpid()}-{stem}"
    monkeypatch.setenv("LC_ALL", mark)
    sockets_before = set(Path(tempfile.gettempdir()).glob("arena-*"))
    records = await play(stem, tmp_path)
    monkeypatch.delenv("LC_ALL")

    kind = expected(stem)
    for record, match in zip(records, specs(0, 0), strict=True):
        verify(record)
        assert [fault.kind for fault in record.faults] == ([] if kind is None else [kind])
        assert record.verdict == (Verdict.VERDICT_PLAYED if kind is None else Verdict.VERDICT_BOT_FAULT)
        if kind is None or record.faults[0].decision <= list(record.seats).index(0):
            undisturbed = await alone(record, replace(match, move_us=10**7, bank_us=10**9))
            assert list(undisturbed.actions) == list(record.actions)
        if kind is not None:
            assert record.ranks[0] == 3
            assert record.circumstances.fault_details[0]
    assert [line for line in processes_with(mark) if "pytest" not in line] == []
    assert set(Path(tempfile.gettempdir()).glob("arena-sock-*")) - sockets_before <= live_sockets()
    assert (tmp_path / log_name("bad", 0)).stat().st_size <= BotLimits().log_bytes + 10_000


def live_sockets() -> set[Path]:
    """Socket folders of other tests that run at the same time: those that somebody holds locked."""
    import fcntl

    live = set()
    for folder in Path("/tmp").glob("arena-sock-*"):
        try:
            with (folder / "lock").open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            live.add(folder)
        except OSError:
            continue
    return live


def details(stem: str, logs: Path) -> str:
    known = asyncio.run(play(stem, logs))[0].circumstances
    return known.fault_details[0] + known.evidence[0].stderr


@pytest.mark.parametrize(
    ("stem", "words"),
    [
        ("crashed_exits", ["exit code 7", "I have had enough"]),
        ("crashed_killed", ["SIGSEGV"]),
        ("crashed_raises", ["IndexError", "crashed_raises.py"]),
        ("start_failed_exits", ["exit code 1", "no such module: brain"]),
        ("start_failed_silent", ["did not greet within 5 s"]),
        ("start_failed_other_protocol", ["protocol 99"]),
        ("timeout_sleeps", ["no reply within 2500 ms"]),
        ("malformed_message_bytes", ["no FromBot message"]),
    ],
)
def test_the_author_learns_why(
    stem: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    detail = details(stem, tmp_path)
    assert [word for word in words if word not in detail] == []
