"""Tournaments end to end: workers, bots, clocks, verdicts, records in a database.

What is measured begins with the start of the first match, when all bots have been started, and ends
with the end of the last one. When the time is up no more matches are begun, and those in play are
played out: so the last ones, with less and less company, count as well.
"""

from __future__ import annotations

import asyncio
import os
import resource
import tempfile
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from botarena.v1.record_pb2 import Block, MatchRecord

from arena.runs.definition import Definition
from arena.runs.executor import Workers, make_executor
from arena.store.store import Store, sqlite_url
from arena.tournament.runner import Run

SEATS = 4
_ENDLESS = 250_000  # deals: more than are ever played
_TIMES = 1 << 20  # times of decisions that are kept


@dataclass(slots=True)
class Played:
    """What was measured of a tournament.

    Attributes:
        matches: matches played.
        decisions: decisions in them.
        seconds: from the start of the first to the end of the last one.
        database_bytes: what the database has grown for each match.
        peak_kib: the most memory that the arena's own process has used so far, in KiB.
        think_us: time of decisions as the arena charged it, in microseconds.
    """

    matches: int = 0
    decisions: int = 0
    seconds: float = 0.0
    database_bytes: float = 0.0
    peak_kib: int = 0
    think_us: array[int] = field(default_factory=lambda: array("I"))

    @property
    def decisions_per_s(self) -> float:
        """Decisions a second."""
        return self.decisions / self.seconds

    @property
    def matches_per_s(self) -> float:
        """Matches a second."""
        return self.matches / self.seconds

    def think_quantile(self, share: float) -> int:
        """The time that this share of the decisions did not exceed, in microseconds."""
        times = sorted(self.think_us)
        return times[min(len(times) - 1, int(share * len(times)))]


class _Limited(Run):
    """A run that begins no block any more when its time is up.

    Attributes:
        ends: when that is, on the monotonic clock.
    """

    ends = float("inf")

    def missing(self) -> Iterator[Block | None]:
        """What is to be played."""
        for block in super().missing():
            if time.monotonic() > self.ends:
                return
            yield block


def play(
    game: str,
    bots: Sequence[str],
    workers: Workers,
    *,
    seconds: float = 1e9,
    matches: int = 0,
    options: Mapping[str, str] | None = None,
) -> Played:
    """Play a tournament for some time, or some number of matches.

    Args:
        game: its name.
        bots: references; copies fill the table.
        workers: how it uses the machine; each worker has a core of its own.
        seconds: how long to begin matches after the first ones were stored.
        matches: how many to play; 0: as many as come in that time.
        options: those that are not the game's defaults.
    """
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "arena.db"
        deals = -(-matches // SEATS) or _ENDLESS
        definition = Definition(game, bots, seats=SEATS, deals=deals, seed="77", options=options or {})
        with closing(Store(sqlite_url(database))) as store:
            run = _Limited(store, store.create(definition.build()))
            empty = database.stat().st_size
            played = asyncio.run(_play(run, database, workers, seconds))
        played.database_bytes = (database.stat().st_size - empty) / played.matches
    played.peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return played


async def _play(run: _Limited, database: Path, workers: Workers, seconds: float) -> Played:
    played = Played()
    first, last = 1 << 63, 0
    with _cores(workers.jobs):
        executor = make_executor(run.tournament, str(database), workers)
    async with aclosing(run.play(executor)) as playing:
        async for records in playing:
            run.ends = min(run.ends, time.monotonic() + seconds)  # the bots have been started
            for record in records:
                _count(record, played)
                began = record.circumstances.started_us
                first, last = min(first, began), max(last, began + record.circumstances.length_us)
    played.seconds = (last - first) / 1e6
    return played


def _count(record: MatchRecord, played: Played) -> None:
    if not record.ranks or record.faults:
        raise RuntimeError(f"a bot failed: {record.faults} {record.circumstances.fault_details}")
    played.matches += 1
    played.decisions += len(record.seats)
    if len(played.think_us) < _TIMES:
        played.think_us.extend(record.circumstances.think_us)


@contextmanager
def _cores(count: int | None) -> Iterator[None]:
    """Have workers made that share no more than so many cores."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
