"""The run loop and the report, with an executor that plays in this process."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
from botarena.v1.record_pb2 import Block, BlockResult, MatchRecord, SeatedBot, Verdict

from arena.match.host import TableHost
from arena.match.match import Match
from arena.match.record import identity, unseal
from arena.match.replay import verify
from arena.match.spec import MatchSpec
from arena.runs.definition import Definition
from arena.store.store import Store, sqlite_url
from arena.store.stored import StoredPairing, StoredTournament
from arena.tournament.blocks import run_block
from arena.tournament.formats import Plan, PlayedTable
from arena.tournament.report import Report, ThinkTimes, report_of
from arena.tournament.runner import Run, commitment, places_of
from arena.tournament.schedule import Table
from tests.match.fakes import FakeBot, first, last

ANSWERS = {"first": first, "random": last, "greedy": last, "search": first}


class InProcess:
    """Plays blocks here, with scripted bots; loses the blocks that it is told to lose."""

    def __init__(self, lose: tuple[int, ...] = ()) -> None:
        self.lose = lose
        self.played: list[int] = []

    async def run(self, blocks: Iterator[Block | None]) -> AsyncGenerator[list[BlockResult], None]:
        host = TableHost()

        async def play(spec: MatchSpec) -> bytes:
            bots = [FakeBot(host, name, ANSWERS[name]) for name, _ in spec.bots]
            return await host.play(Match(spec), [bot.lane for bot in bots])

        for block in blocks:
            assert block is not None, "there was nothing in hand that it could wait for"
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
        patched.setattr(Store, "finish", lambda *_: None)
        await play(store, tournament, InProcess())
    assert store.tournament("cup").finished_us is None
    Run(store, tournament)
    assert store.tournament("cup").finished_us is not None


async def test_a_block_that_the_machine_lost_is_played_another_time(store: Store) -> None:
    tournament = cup(store)
    run = await play(store, tournament, InProcess(lose=(2, 5)))
    assert run.failures == {2: "lost", 5: "lost"}
    assert [(loss.block, loss.reason) for loss in run.losses] == [(2, "lost"), (5, "lost")]
    assert store.tournament("cup").finished_us is None
    await play(store, tournament, InProcess(lose=(5,)))
    assert [(loss.block, loss.runs) for loss in store.lost(tournament.id)] == [(5, 2)]
    again = InProcess()
    await play(store, tournament, again)
    assert again.played == [5]
    assert store.tournament("cup").finished_us is not None
    assert store.lost(tournament.id) == []


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
    report = Report(cup(store).game)
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


class Duels:
    """Three rounds in which the winner of the table before meets the next bot. A void table has no winner."""

    seatings = 2
    matches = 6
    adaptive = True

    def __init__(self, plan: Plan) -> None:
        self.settings = {"deals": plan.deals}

    def round(self, number: int, played: Sequence[PlayedTable]) -> Sequence[Table]:
        assert len(played) == number
        if number == 3:
            return ()
        best = winner(played[-1]) if played else 0
        return [Table(number, number, ((best, number + 1), (number + 1, best)))]

    def places(self, played: Sequence[PlayedTable]) -> list[list[int]]:
        return [[winner(played[-1])]]


def winner(played: PlayedTable) -> int:
    ranks = played.ranks[0] or (1, 2)
    return played.table.seatings[0][ranks.index(1)]


def duels(store: Store, monkeypatch: pytest.MonkeyPatch, name: str = "cup") -> StoredTournament:
    monkeypatch.setattr("arena.tournament.formats.FORMATS", {"duels": Duels})
    bots = ["house:first", "house:random", "house:greedy", "house:search"]
    return store.create(Definition("koffer", bots, seats=2, seed="1", name=name, format="duels").build())


async def test_a_format_that_decides_its_rounds_is_stopped_anywhere_and_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = duels(store, monkeypatch, "whole")
    await play(store, whole, InProcess())
    assert len(identities(store, whole)) == 6
    assert store.tournament("whole").finished_us is not None
    for stop in (1, 2):
        tournament = duels(store, monkeypatch, f"cup{stop}")
        await play(store, tournament, InProcess(), stop)
        assert [pairing.block for pairing in store.pairings(tournament.id)] == list(range(stop + 1))
        again = InProcess()
        await play(store, tournament, again)
        assert again.played == list(range(stop, 3))
        assert identities(store, tournament) == identities(store, whole)


async def test_what_is_stored_of_a_round_counts_not_what_would_be_decided_now(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = duels(store, monkeypatch)
    store.pair(tournament.id, [StoredPairing(0, 0, 0, ((3, 2), (2, 3)))])
    await play(store, tournament, InProcess())
    seats = [[seat.bot for seat in played.seats] for played in store.matches(tournament.id)]
    assert seats[:2] == [[3, 2], [2, 3]]
    assert {3, 2} & set(seats[2])


async def test_a_round_that_the_machine_lost_is_played_another_time_before_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = duels(store, monkeypatch)
    run = await play(store, tournament, InProcess(lose=(1,)))
    assert (run.failures, run.missing_matches, run.over) == ({1: "lost"}, 2, False)
    again = InProcess()
    await play(store, tournament, again)
    assert again.played == [1, 2]


async def test_a_format_that_ends_early_has_played_what_there_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Duels, "matches", 60)
    tournament = duels(store, monkeypatch)
    assert (tournament.matches, tournament.deals) == (60, 30)
    run = await play(store, tournament, InProcess())
    ended = store.tournament("cup")
    assert (run.over, run.played, ended.matches, ended.deals) == (True, 6, 6, 3)
    assert Run(store, ended).over
    assert len(places_of(store, ended)) == 1


async def test_two_runs_of_an_adaptive_format_at_once_store_every_match_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = duels(store, monkeypatch)
    one, two = Run(store, tournament).play(InProcess()), Run(store, tournament).play(InProcess())
    async for _ in one:
        await anext(two, None)
    await two.aclose()
    assert [(m.block, m.seating) for m in store.matches(tournament.id)] == list(product(range(3), range(2)))
