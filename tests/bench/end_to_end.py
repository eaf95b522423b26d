"""Tournaments end to end: workers, bots, clocks, verdicts, records in a database.

What is measured begins with the first stored results, when all bots have been started, and ends
with the last ones.
"""

from __future__ import annotations

import asyncio
import os
import resource
import tempfile
import time
from array import array
from collections.abc import Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from pathlib import Path

from botarena.v1.record_pb2 import MatchRecord

from arena.cli.definition import Definition
from arena.cli.play import Workers, make_executor
from arena.store.store import Store, sqlite_url
from arena.tournament.runner import Run

SEATS = 4
_ENDLESS = 250_000  # deals: more than are ever played


@dataclass(frozen=True, slots=True)
class Played:
    """What was measured of a tournament.

    Attributes:
        decisions_per_s: decisions a second.
        matches_per_s: matches a second.
        think_us: time of each decision as the arena charged it, in microseconds, ascending.
        database_bytes: size of the database for each match.
        peak_kib: the most memory that the arena's own process has used so far, in KiB.
    """

    decisions_per_s: float
    matches_per_s: float
    think_us: Sequence[int]
    database_bytes: float
    peak_kib: int

    def think_quantile(self, share: float) -> int:
        """The time that this share of the decisions did not exceed, in microseconds."""
        return self.think_us[min(len(self.think_us) - 1, int(share * len(self.think_us)))]


def play(
    game: str,
    bots: Sequence[str],
    workers: Workers,
    *,
    seconds: float = 1e9,
    matches: int = 0,
) -> Played:
    """Play a tournament for some time, or some number of matches.

    Args:
        game: its name, with default options.
        bots: references; copies fill the table.
        workers: how it uses the machine.
        seconds: how long to measure.
        matches: how many to play; 0: as many as come in that time.
    """
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "arena.db"
        deals = -(-matches // SEATS) or _ENDLESS
        definition = Definition(game, bots, seats=SEATS, deals=deals, seed="77")
        with closing(Store(sqlite_url(database))) as store:
            run = Run(store, store.create(definition.build()))
            return asyncio.run(_play(run, database, workers, seconds))


async def _play(run: Run, database: Path, workers: Workers, seconds: float) -> Played:
    matches = decisions = 0
    think = array("I")
    began = last = 0.0
    async with aclosing(run.play(make_executor(run.tournament, str(database), workers))) as playing:
        async for records in playing:
            last = time.perf_counter()
            if not began:
                began = last
                continue
            matches += len(records)
            decisions += _count(records, think)
            if last - began > seconds:
                break
    size = sum(path.stat().st_size for path in database.parent.glob("arena.db*") if path.is_file())
    spent = max(last - began, 1e-9)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Played(decisions / spent, matches / spent, sorted(think), size / max(1, run.played), peak)


def _count(records: Sequence[MatchRecord], think: array[int]) -> int:
    for record in records:
        if not record.ranks or record.faults:
            raise RuntimeError(f"a bot failed: {record.faults} {record.circumstances.fault_details}")
        if len(think) < 1 << 20:
            think.extend(record.circumstances.think_us)
    return sum(len(record.seats) for record in records)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))
