"""How fast a leaderboard is answered out of a large database, and how fast new matches get into it.

    python -m tests.bench.boards [MATCHES]      50,000 if left out; 10,000,000 is the goal's size

The matches were never played: tables of two are drawn, with a result, six decisions and their times each, and
inserted in bulk, a tenth of them as a tournament of its own and the rest as another of the same game. Records
are therefore small (some 200 bytes); a played one has hundreds of decisions. Beyond the first 200,000 matches
of a tournament the database copies those that it has, as other blocks. What is measured is the time to answer
GetLeaderboard's question without the network.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

import sqlalchemy as sa
from botarena.v1.bot_pb2 import TimeControl
from botarena.v1.record_pb2 import Circumstances, MatchRecord, SeatedBot, Verdict

from arena.match.record import seal
from arena.runs.boards import Board
from arena.runs.kept_boards import KeptBoards
from arena.runs.selecting import Filters
from arena.store.schema import match, match_seat
from arena.store.store import Store, sqlite_url
from arena.store.stored import StoredTournament
from tests.tournament.made import made_tournament

T = TypeVar("T")

GOAL_MS = 300
_BOTS = [(name, "1") for name in ("ann", "bob", "cat", "dan", "eve", "fay", "gus", "random")]
_BATCH = 20_000
_DRAWN = 200_000
_DECISIONS = 6
_ANSWERS = 20


def cells(matches: int) -> Iterator[tuple[str, str, float]]:
    """The same for `make bench`: name, unit and value."""
    with TemporaryDirectory() as folder, closing(Store(sqlite_url(Path(folder) / "arena.db"))) as store:
        found = _measure(store, matches)
    for name in ("answer_game_ms", "answer_tournament_ms"):
        yield f"boards.{name}", "ms", found[name]
    yield "boards.update_tournament_s", "s", found["update_tournament_s"]


def main(matches: int) -> int:
    """Fill a database, measure, tell; whether the goal was missed."""
    with TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        with closing(Store(sqlite_url(Path(folder) / "arena.db"))) as store:
            found = _measure(store, matches)
        found["database_mb"] = round((Path(folder) / "arena.db").stat().st_size / 1e6)
    print(json.dumps(found))
    return int(max(found["answer_game_ms"], found["answer_tournament_ms"]) > GOAL_MS)


def _measure(store: Store, matches: int) -> dict[str, float]:
    small = store.create(made_tournament("small", _BOTS, seats=2))
    large = store.create(made_tournament("large", _BOTS, seats=2))
    _, filled = _timed(lambda: _fill_both(store, small, large, matches))
    print(f"{matches + matches // 10} matches inserted in {filled:.0f} s", file=sys.stderr, flush=True)
    found: dict[str, float] = {"matches": matches + matches // 10, "fill_s": round(filled, 1)}
    for what, filters in (("game", Filters(game="koffer")), ("tournament", Filters(tournaments=["large"]))):
        boards = KeptBoards(store)
        _, made = _timed(lambda boards=boards, filters=filters: boards.refresh(_board(store, filters)))  # type: ignore[misc]
        found[f"make_{what}_s"] = round(made, 1)
        print(f"board of the {what} made in {made:.0f} s", file=sys.stderr, flush=True)
        answers = [
            _timed(lambda filters=filters: KeptBoards(store).shown(_board(store, filters)))[1]  # type: ignore[misc]
            for _ in range(_ANSWERS)
        ]
        found[f"answer_{what}_ms"] = round(1000 * max(answers), 1)
        found[f"answer_{what}_median_ms"] = round(1000 * median(answers), 1)
    _fill(store, large, 200, 3, matches // 2 + 1)
    _, updated = _timed(lambda: KeptBoards(store).refresh(_board(store, Filters(tournaments=["large"]))))
    found["update_tournament_s"] = round(updated, 2)
    shown = KeptBoards(store).shown(_board(store, Filters(tournaments=["large"])))
    assert shown["matches"] == matches // 2 * 2 + 200
    return found


def _fill_both(
    store: Store, small: StoredTournament, large: StoredTournament, matches: int
) -> StoredTournament:
    _fill(store, small, matches // 10, 1)
    _fill(store, large, matches, 2)
    return large


def _board(store: Store, filters: Filters) -> Board:
    (board,) = KeptBoards(store).boards_of(filters)
    return board


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


def _fill(store: Store, of: StoredTournament, matches: int, seed: int, first: int = 0) -> None:
    """Insert matches, two of each block, in bulk."""
    _insert(store, of, min(matches, _DRAWN), seed, first)
    done = min(matches, _DRAWN)
    while done < matches:
        _copy(store, of, min(done, matches - done), first, done // 2)
        done += min(done, matches - done)


def _copy(store: Store, of: StoredTournament, matches: int, first: int, blocks: int) -> None:
    """Have the database insert as many matches again as other blocks."""
    last = sa.select(sa.func.max(match.c.id)).scalar_subquery()
    copied = (match.c.tournament == of.id) & match.c.block.between(first, first + matches // 2 - 1)
    with store.writing() as connection:
        shift = connection.execute(sa.select(last)).scalar_one()
        shift -= connection.execute(sa.select(sa.func.min(match.c.id)).where(copied)).scalar_one() - 1
        columns = [match.c.id + shift, match.c.tournament, match.c.block + blocks, match.c.seating]
        rows = sa.select(*columns, match.c.verdict, match.c.record).where(copied)
        connection.execute(sa.insert(match).from_select(match.columns.keys(), rows))
        seats = [column for column in match_seat.columns if column.name != "match"]
        sat = sa.select(match_seat.c.match + shift, *seats).join(match).where(copied)
        connection.execute(sa.insert(match_seat).from_select(match_seat.columns.keys(), sat))


def _insert(store: Store, of: StoredTournament, matches: int, seed: int, first: int) -> None:
    made = _drawn(of, matches // 2, Random(seed), first)
    with store.reading() as connection:
        number = connection.execute(sa.select(sa.func.coalesce(sa.func.max(match.c.id), 0))).scalar_one()
    while rows := list(islice(made, _BATCH)):
        records, seats = [], []
        for record, values in rows:
            number += 1
            records.append({"id": number, "tournament": of.id, **record})
            seats += [{"match": number, **each} for each in values]
        with store.writing() as connection:
            connection.execute(sa.insert(match), records)
            connection.execute(sa.insert(match_seat), seats)


def _drawn(
    of: StoredTournament, blocks: int, rng: Random, first: int
) -> Iterator[tuple[dict[str, object], list[dict[str, int]]]]:
    """A match with its seats after the other; the higher a bot's number, the better it is."""
    for block in range(first, first + blocks):
        one, other = rng.sample(range(len(of.bots)), 2)
        for seating, seated in enumerate(((one, other), (other, one))):
            luck = [bot + rng.gauss(0, 6) for bot in seated]
            ranks = [1, 2] if luck[0] > luck[1] else [2, 1]
            scores = [12 - 4 * rank for rank in ranks]
            record = _record(of, block, seating, seated, ranks, scores, rng)
            values = [
                {"seat": seat, "bot": seated[seat], "rank": ranks[seat], "score": scores[seat]}
                for seat in range(2)
            ]
            yield (
                {"block": block, "seating": seating, "verdict": record.verdict, "record": seal(record)},
                values,
            )


def _record(
    of: StoredTournament,
    block: int,
    seating: int,
    seated: tuple[int, ...],
    ranks: list[int],
    scores: list[int],
    rng: Random,
) -> MatchRecord:
    bots = [SeatedBot(name=of.bots[bot].name, version=of.bots[bot].version) for bot in seated]
    think = [int(500 * rng.expovariate(1)) for _ in range(_DECISIONS)]
    return MatchRecord(
        format=1, game=of.game, game_version=1, deal=block, seed=block.to_bytes(32, "big"), seating=seating,
        bots=bots, time=TimeControl(move_us=1), seats=[0, 1] * (_DECISIONS // 2), actions=[0] * _DECISIONS,
        verdict=Verdict.VERDICT_PLAYED, scores=scores, ranks=ranks,
        circumstances=Circumstances(started_us=of.created_us, think_us=think),
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000))
