"""The run loop and the report, with an executor that plays in this process."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from botarena.v1.record_pb2 import Block, BlockResult, MatchRecord, SeatedBot, Verdict

from arena.cli.definition import Definition
from arena.match.host import TableHost
from arena.match.match import Match
from arena.match.record import identity, unseal
from arena.match.replay import verify
from arena.match.spec import MatchSpec
from arena.store.store import Store, sqlite_url
from arena.store.stored import StoredTournament
from arena.tournament.blocks import run_block
from arena.tournament.report import Report, ThinkTimes, report_of
from arena.tournament.runner import Run, commitment
from tests.match.fakes import FakeBot, first, last

ANSWERS = {"first": first, "random": last, "greedy": last, "search": first}


class InProcess:
    """Plays blocks here, with scripted bots; loses the blocks that it is told to lose."""

    def __init__(self, lose: tuple[int, ...] = ()) -> None:
        self.lose = lose
        self.played: list[int] = []

    async def run(self, blocks: Iterator[Block]) -> AsyncGenerator[list[BlockResult], None]:
        host = TableHost()

        async def play(spec: MatchSpec) -> bytes:
            bots = [FakeBot(host, name, ANSWERS[name]) for name, _ in spec.bots]
            return await host.play(Match(spec), [bot.lane for bot in bots])

        for block in blocks:
            self.played.append(block.index)
            if block.index in self.lose:
                yield [BlockResult(block=block.index, failure="lost")]
            else:
                yield [await run_block(block, play)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(sqlite_url(tmp_path / "arena.db"))
    yield opened
    opened.close()


def cup(store: Store, deals: int = 5, name: str = "cup", **more: int) -> StoredTournament:
    bots = ["house:first", "house:random", "house:greedy", "house:search"]
    definition = Definition("koffer", bots, seats=3, deals=deals, seed="1", name=name, **more)  # type: ignore[arg-type]
    return store.create(definition.build())


async def play(store: Store, tournament: StoredTournament, executor: InProcess, stop: int = 10**9) -> Run:
    run = Run(store, tournament)
    count = 0
    playing = run.play(executor)
    async for _ in playing:
        count += 1
        if count == stop:
            break
    await playing.aclose()
    return run


def identities(store: Store, tournament: StoredTournament) -> list[bytes]:
    return [identity(played.record) for played in store.matches(tournament.id)]


async def test_a_tournament_is_played_out_and_every_record_verifies(store: Store) -> None:
    tournament = cup(store)
    run = await play(store, tournament, InProcess())
    assert run.played == tournament.matches == 8 * 3
    assert store.tournament("cup").finished_us is not None
    for played in store.matches(tournament.id):
        verify(unseal(played.record))


async def test_a_run_that_was_stopped_anywhere_plays_the_rest_and_no_more(store: Store) -> None:
    whole = cup(store, name="whole")
    await play(store, whole, InProcess())
    for stop in range(1, 8):
        tournament = cup(store, name=f"cup{stop}")
        await play(store, tournament, InProcess(), stop)
        assert store.tournament(tournament.name).finished_us is None
        again = InProcess()
        await play(store, tournament, again)
        assert again.played == list(range(stop, 8))
        assert identities(store, tournament) == identities(store, whole)


async def test_a_finished_tournament_has_nothing_to_play(store: Store) -> None:
    tournament = cup(store)
    await play(store, tournament, InProcess())
    again = InProcess()
    await play(store, tournament, again)
    assert again.played == []


async def test_a_run_that_was_killed_after_its_last_match_is_finished_by_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = cup(store)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "finish", lambda self, number: None)
        await play(store, tournament, InProcess())
    assert store.tournament("cup").finished_us is None
    Run(store, tournament)
    assert store.tournament("cup").finished_us is not None


async def test_a_block_that_the_machine_lost_is_played_another_time(store: Store) -> None:
    tournament = cup(store)
    run = await play(store, tournament, InProcess(lose=(2, 5)))
    assert run.failures == {2: "lost", 5: "lost"}
    assert store.tournament("cup").finished_us is None
    again = InProcess()
    await play(store, tournament, again)
    assert again.played == [2, 5]
    assert store.tournament("cup").finished_us is not None


async def test_two_runs_at_once_store_every_match_once(store: Store) -> None:
    tournament = cup(store)
    one, two = Run(store, tournament), Run(store, tournament)
    first_run, second_run = one.play(InProcess()), two.play(InProcess())
    async for _ in first_run:
        await anext(second_run, None)
    await second_run.aclose()
    assert len(identities(store, tournament)) == tournament.matches


async def test_a_number_of_matches_cuts_the_last_deal(store: Store) -> None:
    bots = ["house:first", "house:random", "house:greedy"]
    tournament = store.create(Definition("koffer", bots, kind="play", seats=3, matches=4).build())
    await play(store, tournament, InProcess())
    assert [(m.block, m.seating) for m in store.matches(tournament.id)] == [(0, 0), (0, 1), (0, 2), (1, 0)]


def test_the_commitment_is_the_hash_of_the_seed() -> None:
    assert commitment(bytes(32)) == hashlib.sha256(bytes(32)).hexdigest()


async def test_the_report_adds_up(store: Store) -> None:
    tournament = cup(store)
    await play(store, tournament, InProcess())
    report = report_of(tournament, store.matches(tournament.id))
    rows = report.rows()
    assert report.matches == 24
    assert report.decisions == 24 * 36
    assert [row["matches"] for row in rows] == [18] * 4
    assert sum(row["wins"] for row in rows) <= 24
    cells = {(cell["bot"], cell["against"]): cell for cell in report.crosstable()}
    assert len(cells) == 12
    for (one, other), cell in cells.items():
        assert cell["share"] + cells[other, one]["share"] == pytest.approx(1)
    assert report.faults == {}


def test_void_matches_count_for_nothing(store: Store) -> None:
    report = Report(cup(store))
    report.add(MatchRecord(verdict=Verdict.VERDICT_ENGINE_FAULT, bots=[SeatedBot(name="first")]))
    assert report.void == {"ENGINE_FAULT": 1}
    assert report.rows() == []


def test_think_times_are_kept_to_within_a_percent() -> None:
    times = ThinkTimes()
    for microseconds in range(1, 100_001):
        times.add(microseconds)
    for share in (0.01, 0.5, 0.9, 0.99, 1.0):
        assert times.quantile(share) == pytest.approx(share * 100_000, rel=0.017)
    assert ThinkTimes().quantile(0.5) is None
