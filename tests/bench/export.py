"""What an export of a million decisions takes: seconds and memory.

    python -m tests.bench.export [DECISIONS] [FORMAT...]

The matches are real ones of Koffer at four seats, a few of them stored again and again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random

from arena.cli.writers import WRITERS
from arena.games.chance import deal_seed
from arena.match.match import Match
from arena.match.record import unseal
from arena.store.store import Store, sqlite_url
from arena.store.stored import StoredBot, StoredMatch, StoredTournament
from arena.tournament.runner import seats_of
from tests.match.fakes import play_out, spec

BOTS = ("a", "b", "c", "d")
DIFFERENT = 50
"""Matches that are played; all others are copies of them."""
TOGETHER = 2000
"""Matches that are stored in one transaction."""

# Runs a command line in a process of its own and tells the most memory that it had, in KiB.
_RUN = """
import re, sys
from arena.cli.commands import run
code = run(sys.argv[1:])
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]
print(peak, file=sys.stderr)
sys.exit(code)
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What an export took.

    Attributes:
        seconds: from the start of its process to its end.
        peak_mib: the most memory that it had.
        size: of the file, in bytes.
    """

    seconds: float
    peak_mib: float
    size: int


def fill(path: Path, decisions: int) -> int:
    """Store matches of so many decisions together at least; how many decisions they have."""
    random = Random(1)
    played = []
    for deal in range(DIFFERENT):
        match = Match(spec(BOTS, seed=deal_seed(bytes(32), "koffer", deal)))
        played.append(play_out(match, lambda _seat, count: random.randrange(count)).record())
    records = [(data, unseal(data)) for data in played]
    each = len(records[0][1].seats)
    assert all(len(record.seats) == each for _, record in records)
    number = -(-decisions // each)
    with closing(Store(sqlite_url(path))) as store:
        tournament = store.create(_tournament(number)).id
        seats = [seats_of(record, {bot: index for index, bot in enumerate(BOTS)}) for _, record in records]
        rows = (
            StoredMatch(block, 0, record.verdict, data, seated)
            for block, ((data, record), seated) in enumerate(
                islice(cycle(zip(records, seats, strict=True)), number)
            )
        )
        while batch := list(islice(rows, TOGETHER)):
            store.add(tournament, batch)
    return number * each


def _tournament(matches: int) -> StoredTournament:
    return StoredTournament(
        id=0,
        name="bench",
        kind="tournament",
        game="koffer",
        options={},
        seats=len(BOTS),
        deals=matches,
        rotate=False,
        matches=matches,
        seed=bytes(32),
        move_us=1_000_000,
        bank_us=60_000_000,
        start_us=10_000_000,
        faults_allowed=0,
        bots=tuple(StoredBot(name, "1", {}) for name in BOTS),
        created_us=0,
        finished_us=None,
    )


def measure(database: Path, out: Path, *more: str) -> Measured:
    """Export the decisions of a database to a file, in a process of its own."""
    line = ["export", "decisions", "--out", str(out), "--db", str(database), "--quiet", *more]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *line], stderr=subprocess.PIPE, text=True, check=True, timeout=3600
    )
    seconds = time.perf_counter() - began
    return Measured(seconds, int(done.stderr.split()[-1]) / 1024, out.stat().st_size)


def main(arguments: list[str]) -> None:
    """Measure each format and print what it took as JSON lines."""
    wanted = int(arguments[0]) if arguments else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "arena.db"
        decisions = fill(database, wanted)
        for form in arguments[1:] or WRITERS:
            found = measure(database, Path(folder) / f"decisions.{form}")
            figures = {
                "format": form,
                "decisions": decisions,
                "seconds": round(found.seconds, 1),
                "decisions_per_s": round(decisions / found.seconds),
                "peak_mib": round(found.peak_mib),
                "file_mib": round(found.size / 2**20, 1),
            }
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
