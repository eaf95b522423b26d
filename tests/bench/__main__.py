"""`make bench`: the arena end to end beside raw gRPC with the same message sizes, and the rules of each game
beside those of other libraries, all in the same run.

Cells are interleaved over several rounds; medians with their spread are printed, and ratios are
taken within a round. BENCH_JSON=path also writes {"figures": {name: {median, min, max, unit}}}.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from botarena.v1.bot_pb2 import Decision, FromArena, FromBot, Reply

from arena.cli.definition import Definition
from arena.cli.play import make_executor
from arena.games import GAMES
from arena.games.chance import Chance
from arena.match.match import Match
from arena.store.store import Store, sqlite_url
from arena.tournament.runner import Run
from tests.bench import games, peers, raw_grpc
from tests.bench.sampling import best_rate
from tests.match.fakes import spec

BOTS = ("house:random", "house:first", "house:greedy", "house:random")
MATCHES = int(os.environ.get("BENCH_MATCHES", "2000"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
RAW_SECONDS = float(os.environ.get("BENCH_RAW_SECONDS", "3"))
GAME_SECONDS = float(os.environ.get("BENCH_GAME_SECONDS", "1"))
BATCH = 16

Figure = tuple[str, str, float]
"""Name, unit and value."""


def message_sizes() -> tuple[int, int]:
    """Mean size of a match's decisions as they go out, and of a reply, both as frames of their own."""
    match, chance = Match(spec(("random", "first", "greedy", "random-2"))), Chance(bytes(32))
    asks = match.start(0)
    sizes: list[int] = []
    while asks:
        decision = Decision(id=100_000 + len(sizes), match=1000, seat=asks[0].seat, time_left_us=5_000_000)
        decision.turn.ParseFromString(match.turn_bytes(asks[0].seat))
        sizes.append(FromArena(decisions=[decision]).ByteSize())
        asks = match.reply(asks[0].seat, chance.below(match.legal(asks[0].seat)), 0)
    return round(statistics.mean(sizes)), FromBot(replies=[Reply(decision=100_000, action=1)]).ByteSize()


def tournament() -> tuple[float, float]:
    """Matches and decisions per second of a tournament, set-up and storing included."""
    with tempfile.TemporaryDirectory() as folder:
        db = str(Path(folder) / "arena.db")
        with closing(Store(sqlite_url(Path(db)))) as store:
            new = store.create(Definition("koffer", BOTS, deals=MATCHES // 4, seed="77").build())
            begin = time.perf_counter()
            decisions = asyncio.run(_decisions(Run(store, new), db))
            seconds = time.perf_counter() - begin
    return MATCHES / seconds, decisions / seconds


async def _decisions(run: Run, db: str) -> int:
    return sum(
        [
            len(record.seats)
            async for block in run.play(make_executor(run.tournament, db, None))
            for record in block
        ]
    )


def end_to_end(down: int, up: int) -> Iterator[Figure]:
    """A tournament beside raw gRPC with messages of the same size."""
    matches, decisions = tournament()
    single, batched = (raw_grpc.rate(down, up, batch, RAW_SECONDS) for batch in (1, BATCH))
    yield "end_to_end.koffer.python.matches_per_s", "1/s", matches
    yield "end_to_end.koffer.python.decisions_per_s", "1/s", decisions
    yield "raw_grpc.one_by_one.messages_per_s", "1/s", single
    yield f"raw_grpc.batch_{BATCH}.messages_per_s", "1/s", batched
    yield "ratio.end_to_end_to_raw_one_by_one", "", decisions / single
    yield f"ratio.end_to_end_to_raw_batch_{BATCH}", "", decisions / batched


def in_process() -> Iterator[Figure]:
    """Random play of every game on one core beside other libraries' games."""
    rlcard = best_rate(peers.rlcard_rates(), GAME_SECONDS)
    yield "peer.rlcard.gin_rummy.decisions_per_s", "1/s", rlcard
    for name in ("crazy_eights", "gin_rummy"):
        rate = best_rate(peers.open_spiel_rates(name), GAME_SECONDS)
        yield f"peer.open_spiel.{name}.decisions_per_s", "1/s", rate
    for name, game in GAMES.items():
        rules = best_rate(games.rules_rates(game), GAME_SECONDS)
        turns = best_rate(games.turns_rates(game), GAME_SECONDS)
        yield f"rules.{name}.decisions_per_s", "1/s", rules
        yield f"rules_and_view.{name}.decisions_per_s", "1/s", turns
        yield f"copy.{name}", "us", games.copy_us(game)
        yield f"ratio.rules.{name}_to_rlcard_gin_rummy", "", rules / rlcard


def main() -> int:
    """Measure and print."""
    down, up = message_sizes()
    print(
        f"a decision is {down} bytes, a reply {up}; {ROUNDS} rounds of {MATCHES} matches",
        file=sys.stderr,
    )
    figures: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for number in range(ROUNDS):
        for name, unit, value in (*end_to_end(down, up), *in_process()):
            figures[name, unit].append(value)
        print(f"round {number + 1} of {ROUNDS} is measured", file=sys.stderr)
    _report(figures)
    return 0


def _report(figures: dict[tuple[str, str], list[float]]) -> None:
    table = {
        name: {"median": statistics.median(values), "min": min(values), "max": max(values), "unit": unit}
        for (name, unit), values in figures.items()
    }
    for name, row in table.items():
        print(f"{name:45} {row['median']:12,.2f}  ({row['min']:,.2f} to {row['max']:,.2f}) {row['unit']}")
    if path := os.environ.get("BENCH_JSON"):
        Path(path).write_text(json.dumps({"figures": table}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
