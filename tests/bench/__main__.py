"""`make bench`: how fast the arena is, beside raw gRPC and other programs, all in the same run.

Cells are interleaved over several rounds; medians with their spread are printed, and ratios are
taken within a round. Talk goes to stderr. Environment:

    BENCH_ROUNDS=5      rounds
    BENCH_SECONDS=3     of each cell that plays through gRPC
    BENCH_ALONE_SECONDS=1   of each cell inside one process
    BENCH_LONG=1        also what takes minutes: 256 bots, 100,000 matches; 0 leaves it out
    BENCH_JSON=path     write {"figures": {name: {"median", "min", "max", "unit"}}}
    FASTCHESS=path, CUTECHESS=path   chess testers as peers
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from botarena.v1.bot_pb2 import Decision, FromArena, FromBot, Reply

from arena.games import GAMES, find_game
from arena.games.chance import Chance
from arena.match.match import Match
from arena.runs.executor import Workers
from tests.bench import (
    boards,
    chess_testers,
    end_to_end,
    games,
    memory,
    native,
    peers,
    python_loop,
    raw_grpc,
    remote,
    slow_bots,
    stages,
)
from tests.bench.sampling import best_rate
from tests.bench.startup import startup_s
from tests.match.fakes import spec

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "3"))
ALONE_SECONDS = float(os.environ.get("BENCH_ALONE_SECONDS", "1"))
LONG = os.environ.get("BENCH_LONG", "1") != "0"

PYTHON = str(Path(__file__).with_name("null_bot.py"))
IN_FLIGHT = (1, 16, 64, 256)
"""Matches that each shard has in play at once."""
USUAL = 64
SHARDS = (1, 2)
BATCHES = (1, 16, 64)
"""Decisions in a frame: none shared, each of four bots its part of the usual matches, all of them."""
CHESS_GAMES = 60
_STORED = 50_000
"""Matches in the database that leaderboards are asked of."""
SLOW_BOTS, THINK_S = 1000, 0.05

Figure = tuple[str, str, float]
"""Name, unit and value."""


# one round


OPTIONS = {"kotki": {"max_rounds": "5"}}
"""Null bots do nothing that would end a match of Kotki: a whole one would be thousands of decisions."""


def end_to_end_cells(bots: dict[str, str]) -> Iterator[Figure]:
    """Tournaments of null bots: by game, language, matches in flight and shards."""
    for shards in SHARDS:
        for in_flight in IN_FLIGHT:
            yield from _cell("koffer", "python", bots["python"], in_flight, shards)
    for game in GAMES:
        if game != "koffer":
            yield from _cell(game, "python", bots["python"], USUAL, SHARDS[-1])
    if "go" in bots:
        for in_flight in (USUAL, 256):
            yield from _cell("koffer", "go", bots["go"], in_flight, SHARDS[-1])


def _cell(game: str, language: str, bot: str, in_flight: int, shards: int) -> Iterator[Figure]:
    workers = Workers(shards, in_flight)
    played = end_to_end.play(game, [bot], workers, seconds=SECONDS, options=OPTIONS.get(game))
    name = f"end_to_end.{game}.{language}"
    cell = f"{name}.in_flight_{in_flight}.shards_{shards}"
    yield f"{cell}.decisions_per_s", "1/s", played.decisions_per_s
    if (in_flight, shards) == (USUAL, SHARDS[-1]):
        yield f"{name}.decisions_per_s", "1/s", played.decisions_per_s
        yield f"{name}.matches_per_s", "1/s", played.matches_per_s
        yield f"database.{game}.{language}.bytes_per_match", "B", played.database_bytes
    if in_flight == 1:  # with more, what is answered together is charged to one of them
        for percent in (50, 99):
            yield (
                f"latency.{cell.removeprefix('end_to_end.')}.p{percent}",
                "us",
                played.think_quantile(percent / 100),
            )


def raw_cells() -> Iterator[Figure]:
    """gRPC alone, with the same bytes and batches, between pairs of processes pinned as shards are."""
    down, up = message_sizes()
    for shards in SHARDS:
        for batch in BATCHES:
            rate = raw_grpc.rate(down, up, batch, SECONDS / 2, shards)
            yield f"raw_grpc.batch_{batch}.shards_{shards}.decisions_per_s", "1/s", rate


def message_sizes() -> tuple[int, int]:
    """Mean size of a match's decisions as they go out, and of a reply, both as frames of their own."""
    match, chance = Match(spec(stages.NAMES)), Chance(bytes(32))
    asks = match.start(0)
    sizes: list[int] = []
    while asks:
        decision = Decision(id=100_000 + len(sizes), match=1000, seat=asks[0].seat, time_left_us=5_000_000)
        decision.turn.ParseFromString(match.turn_bytes(asks[0].seat))
        sizes.append(FromArena(decisions=[decision]).ByteSize())
        asks = match.reply(asks[0].seat, chance.below(match.legal(asks[0].seat)), 0)
    return round(statistics.mean(sizes)), FromBot(replies=[Reply(decision=100_000, action=1)]).ByteSize()


def in_process_cells(engine: Path | None) -> Iterator[Figure]:
    """Random play of every game on one core, beside other libraries' games; the stages of a decision."""
    for name, samples in peers.available(engine):
        yield f"peer.{name}.decisions_per_s", "1/s", best_rate(samples(), ALONE_SECONDS)
    for name, game in GAMES.items():
        rules = best_rate(games.rules_rates(game), ALONE_SECONDS)
        turns = best_rate(games.turns_rates(game), ALONE_SECONDS)
        yield f"rules.{name}.decisions_per_s", "1/s", rules
        yield f"rules_and_view.{name}.decisions_per_s", "1/s", turns
        yield f"copy.{name}", "us", games.copy_us(game)
        if name == "koffer":
            yield from _stages(rules, turns)


def _stages(rules: float, turns: float) -> Iterator[Figure]:
    koffer = find_game("koffer")
    host, bot, record = (
        best_rate(samples(koffer), ALONE_SECONDS)
        for samples in (stages.host_rates, stages.bot_rates, stages.record_rates)
    )
    yield "stage.koffer.rules", "us", 1e6 / rules
    yield "stage.koffer.view", "us", 1e6 / turns - 1e6 / rules
    yield "stage.koffer.match_and_frames", "us", 1e6 / host - 1e6 / turns
    yield "stage.koffer.bot", "us", 1e6 / bot
    yield "stage.koffer.record", "us", 1e6 / record


def machine_cells() -> Iterator[Figure]:
    """Start-up, memory, and a thousand slow bots."""
    yield "startup.one_match_s", "s", startup_s()
    each, thousand = memory.measure()
    yield "memory.per_match_in_flight", "KiB", each
    yield "memory.worker_with_1000_in_flight", "MiB", thousand
    slow = asyncio.run(slow_bots.play(SLOW_BOTS, THINK_S))
    yield f"slow_bots.{SLOW_BOTS}.decisions_per_s", "1/s", slow.decisions / slow.seconds
    yield (
        f"slow_bots.{SLOW_BOTS}.matches_not_played_out",
        "",
        sum(count for verdict, count in slow.verdicts.items() if verdict != "PLAYED"),
    )
    over_socket, over_port = asyncio.run(remote.rates(ALONE_SECONDS))
    yield "remote.unix_socket.decisions_per_s", "1/s", over_socket
    yield "remote.tcp.decisions_per_s", "1/s", over_port
    for processes in SHARDS:
        rate = python_loop.rate(processes, ALONE_SECONDS)
        yield f"machine.python_loop.processes_{processes}", "1/s", rate


def chess_cells(engine: Path | None) -> Iterator[Figure]:
    """Chess testers, where they are given."""
    if engine is None:
        return
    for tester in chess_testers.available():
        for concurrency, rate in chess_testers.rates(tester, engine, CHESS_GAMES):
            yield f"peer.{tester.name}.concurrency_{concurrency}.moves_per_s", "1/s", rate


def ratios(values: dict[str, float]) -> Iterator[Figure]:
    """What the figures of one round say about each other."""
    headline = values["end_to_end.koffer.python.decisions_per_s"]
    one = values["end_to_end.koffer.python.in_flight_1.shards_1.decisions_per_s"]
    yield "ratio.one_match_to_ping_pong", "", one / values["raw_grpc.batch_1.shards_1.decisions_per_s"]
    for batch in BATCHES[1:]:
        raw = values[f"raw_grpc.batch_{batch}.shards_2.decisions_per_s"]
        yield f"ratio.koffer_to_raw_batch_{batch}", "", headline / raw
    single = values[f"end_to_end.koffer.python.in_flight_{USUAL}.shards_1.decisions_per_s"]
    yield "ratio.two_shards_to_one", "", headline / single
    loops = [values[f"machine.python_loop.processes_{shards}"] for shards in (1, 2)]
    yield "ratio.two_python_loops_to_one", "", loops[1] / loops[0]
    yield (
        "ratio.remote_tcp_to_unix_socket",
        "",
        values["remote.tcp.decisions_per_s"] / values["remote.unix_socket.decisions_per_s"],
    )
    for game in GAMES:
        other = values[f"end_to_end.{game}.python.decisions_per_s"]
        yield f"ratio.{game}_to_koffer", "", other / headline
    if (go := values.get("end_to_end.koffer.go.decisions_per_s")) is not None:
        yield "ratio.go_to_python", "", go / headline
    for program in ("fastchess", "cutechess"):
        rates = [rate for name, rate in values.items() if name.startswith(f"peer.{program}.")]
        if rates:
            yield f"ratio.koffer_to_{program}", "", headline / max(rates)
            if go is not None:
                yield f"ratio.go_to_{program}", "", go / max(rates)


# once


def long_cells(bots: dict[str, str]) -> Iterator[Figure]:
    """What takes minutes: many bots, many matches."""
    yield from boards.cells(_STORED)
    many = bots.get("go", bots["python"])
    for count in (4, 32, 256):
        # Each bot is started when it is first needed, which is counted here: so it takes longer.
        seconds = SECONDS * max(1, count // 32)
        played = end_to_end.play("koffer", [many] * count, Workers(SHARDS[-1], USUAL), seconds=seconds)
        yield f"bots_{count}.koffer.decisions_per_s", "1/s", played.decisions_per_s
    for matches in (1_000, 100_000):
        played = end_to_end.play("koffer", [many], Workers(SHARDS[-1], USUAL), matches=matches)
        yield f"matches_{matches}.koffer.decisions_per_s", "1/s", played.decisions_per_s
        yield f"matches_{matches}.arena_peak", "MiB", played.peak_kib / 1024


# all of it


def main() -> int:
    """Measure and print."""
    bots = {"python": PYTHON}
    if (go := native.go_null_bot()) is not None:
        bots["go"] = f"cmd:{go}"
    engine = native.instant_engine()
    parts: Sequence[Callable[[], Iterator[Figure]]] = (
        lambda: end_to_end_cells(bots),
        raw_cells,
        lambda: in_process_cells(engine),
        lambda: chess_cells(engine),
        machine_cells,
    )
    # As workers have it: nothing here forms cycles worth a search after every few hundred decisions.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    figures: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    began = time.monotonic()
    for number in range(ROUNDS):
        values: dict[str, float] = {}
        for part in parts:
            _add(part(), figures, values)
        _add(ratios(values), figures, values)
        each = (time.monotonic() - began) / (number + 1)
        left = each * (ROUNDS - number - 1)
        _say(f"round {number + 1} of {ROUNDS} is measured, {left:.0f} s left")
    if LONG:
        _add(long_cells(bots), figures, {})
    _report(figures)
    return 0


def _add(
    part: Iterator[Figure], figures: dict[tuple[str, str], list[float]], values: dict[str, float]
) -> None:
    for name, unit, value in part:
        figures[name, unit].append(value)
        values[name] = value
        _say(f"  {name} {value:,.2f} {unit}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _report(figures: dict[tuple[str, str], list[float]]) -> None:
    table = {
        name: {"median": statistics.median(values), "min": min(values), "max": max(values), "unit": unit}
        for (name, unit), values in figures.items()
    }
    for name, row in table.items():
        print(f"{name:68} {row['median']:12,.2f}  ({row['min']:,.2f} to {row['max']:,.2f}) {row['unit']}")
    if path := os.environ.get("BENCH_JSON"):
        Path(path).write_text(json.dumps({"figures": table}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
