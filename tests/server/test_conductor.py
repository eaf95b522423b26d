"""Hosted tournaments and leagues are played by themselves: turns, states, budgets, restarts."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botarena.v1.record_pb2 import Block, BlockResult

import arena.server.conductor as module
from arena.errors import StateError
from arena.match.host import TableHost
from arena.match.match import Match
from arena.match.record import identity
from arena.match.spec import MatchSpec
from arena.runs.custody import Custody
from arena.runs.definition import Definition
from arena.server.catalog import Catalog, remote_spec
from arena.server.conductor import Conductor, ConductorLimits
from arena.server.shelf import Shelf
from arena.store.accounts import Accounts
from arena.store.hosting import (
    CANCELLED,
    FAILED,
    FINISHED,
    PAUSED,
    RUNNING,
    SCHEDULED,
    WAITING,
    Hosting,
    Terms,
)
from arena.store.roster import REMOTE, NewVersion, Roster
from arena.store.store import Store
from arena.store.stored import StoredTournament
from arena.tournament.blocks import run_block
from tests.match.fakes import FakeBot, first

BOTS = ("house:first", "house:random", "house:greedy", "house:search")
DAY_US = 24 * 3600 * 1_000_000


class Lobby:
    """Remote bots that are there or not, and play as others do."""

    def __init__(self, players: Players) -> None:
        self.there: frozenset[int] = frozenset()
        self._players = players

    def executor(self, tournament: StoredTournament, bots: object, in_flight: int) -> _Executor:
        return self._players.executor(tournament, "", None)

    def present(self) -> frozenset[int]:
        return self.there

    async def wait_for_change(self, known: frozenset[int]) -> frozenset[int]:
        while self.there == known:
            await asyncio.sleep(0.01)
        return self.there


@dataclass
class Players:
    """Stands for the worker processes: plays blocks here, with scripted bots.

    Attributes:
        lose: how many blocks fail.
        gate: nothing is played while it is not set.
        order: names of the tournaments by block that was played.
        turns: how many executors were asked for.
    """

    lose: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    order: list[str] = field(default_factory=list)
    turns: int = 0

    def executor(self, tournament: StoredTournament, db: str, workers: Any) -> _Executor:
        self.turns += 1
        return _Executor(self, tournament.name)


@dataclass
class _Executor:
    players: Players
    name: str

    async def run(self, blocks: Iterator[Block | None]) -> AsyncGenerator[list[BlockResult], None]:
        host = TableHost()

        async def play(spec: MatchSpec) -> bytes:
            bots = [FakeBot(host, name, first) for name, _ in spec.bots]
            return await host.play(Match(spec), [bot.lane for bot in bots])

        while (block := next(blocks, None)) is not None:
            while not self.players.gate.is_set():
                await asyncio.sleep(0.005)
            if self.players.lose:
                self.players.lose -= 1
                yield [BlockResult(block=block.index, failure="lost")]
                continue
            self.players.order.append(self.name)
            yield [await run_block(block, play)]


@dataclass
class World:
    """A server's tournaments, without the server."""

    store: Store
    conductor: Conductor
    players: Players
    lobby: Lobby
    owner: int
    roster: Roster

    @property
    def hosting(self) -> Hosting:
        return self.conductor.hosting

    def host(self, name: str, deals: int = 2, **terms: Any) -> None:
        new = Definition("koffer", BOTS, seats=2, deals=deals, seed="7", name=name).build()
        self.hosting.create(new, self.owner, Terms(**terms))
        self.conductor.wake()

    def league(self, name: str, bots: tuple[str, ...] = BOTS[:3], **terms: Any) -> None:
        new = Definition(
            "koffer", bots, kind="league", format="ladder", seats=2, deals=1, seed="7", name=name
        ).build()
        self.hosting.create(new, self.owner, Terms(**terms))
        self.conductor.wake()

    def remote(self, name: str) -> int:
        """A bot that dials in and plays beside others; the row number of its version."""
        new = NewVersion(REMOTE, spec=remote_spec(name, "v1", ()).to_json())
        version, _ = self.roster.submit(self.owner, name, new)
        self.roster.update_bot(name, mixed=True)
        return version.id

    def enter(self, league: str, name: str) -> None:
        """Let it take part."""
        self.hosting.enter(self.store.tournament(league).id, self.roster.bot(name).id)

    def matches_of(self, league: str, bot: str) -> int:
        """How many matches it has played."""
        stored = self.store.tournament(league)
        seats = [seat.bot for played in self.store.matches(stored.id) for seat in played.seats]
        return sum(stored.bots[index].name == bot for index in seats)

    async def until(self, name: str, *states: str) -> str:
        return str(await self.see(lambda: self.state(name) if self.state(name) in states else ""))

    async def see(self, look: Callable[[], Any]) -> Any:
        """What is seen once there is something to be seen."""
        end = time.monotonic() + 30
        while not (seen := look()):
            assert time.monotonic() < end, "it never came to pass"
            await asyncio.sleep(0.01)
        return seen

    def state(self, name: str) -> str:
        return self.hosting.hosted(name).state

    def stored(self, name: str) -> int:
        return sum(1 for _ in self.store.done(self.store.tournament(name).id))

    def records(self, name: str) -> list[bytes]:
        return [identity(m.record) for m in self.store.matches(self.store.tournament(name).id)]


@pytest.fixture
def limits() -> ConductorLimits:
    return ConductorLimits(slots=2, look_s=0.02, lacks_s=0.02, waits_s=(0.01, 0.01), slice_s=0.0, drain_s=5)


@asynccontextmanager
async def begun(
    store: Store,
    tmp_path: Path,
    limits: ConductorLimits,
    monkeypatch: pytest.MonkeyPatch,
    *,
    closed: bool = False,
) -> AsyncIterator[World]:
    """The conductor at work."""
    players, roster = Players(), Roster(store)
    lobby = Lobby(players)
    if not closed:
        players.gate.set()
    monkeypatch.setattr(module, "make_executor", players.executor)
    accounts = Accounts(store)
    owner = next((u.id for u in accounts.users() if u.name == "ann"), None) or accounts.add_user("ann").id
    catalog = Catalog(roster, Shelf(roster, tmp_path), Custody())
    conductor = Conductor(store, Hosting(store), catalog, lobby, str(tmp_path / "x.db"), limits)  # type: ignore[arg-type]
    await conductor.start()
    try:
        yield World(store, conductor, players, lobby, owner, roster)
    finally:
        players.gate.set()
        await conductor.stop()


@pytest.fixture
async def world(
    server_store: Store, tmp_path: Path, limits: ConductorLimits, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    async with begun(server_store, tmp_path, limits, monkeypatch) as made:
        yield made


@pytest.fixture
async def closed(
    server_store: Store, tmp_path: Path, limits: ConductorLimits, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    """A world where nothing is played before its gate is opened."""
    async with begun(server_store, tmp_path, limits, monkeypatch, closed=True) as made:
        yield made


async def test_a_tournament_is_played_to_its_end(world: World) -> None:
    world.host("cup")
    await world.until("cup", FINISHED)
    cup = world.store.tournament("cup")
    assert world.stored("cup") == cup.matches
    assert cup.finished_us is not None
    hosted = world.hosting.hosted("cup")
    progress = world.conductor.progress(hosted)
    assert (progress.played, progress.matches, progress.today) == (cup.matches,) * 3


async def test_all_get_turns_however_many_there_are(world: World) -> None:
    names = [f"cup{number}" for number in range(5)]
    for name in names:
        world.host(name, deals=8)
    for name in names:
        await world.until(name, FINISHED)
    halfway = Counter(world.players.order[: len(world.players.order) // 2])
    assert set(halfway) == set(names), "the first ones were played out before the last had a turn"


async def test_what_is_paused_waits_and_what_is_resumed_goes_on(closed: World) -> None:
    closed.host("cup", deals=6)
    await closed.until("cup", "running")
    await closed.conductor.pause("cup")
    closed.players.gate.set()
    await closed.see(lambda: closed.conductor.workers == 0)
    played = closed.stored("cup")
    assert closed.state("cup") == PAUSED
    assert played < closed.store.tournament("cup").matches
    await closed.conductor.resume("cup")
    await closed.until("cup", FINISHED)
    assert closed.stored("cup") == closed.store.tournament("cup").matches


@pytest.mark.parametrize("first_state", ["scheduled", "running", "paused", "waiting"])
async def test_what_is_cancelled_ends_and_its_seed_may_be_told(closed: World, first_state: str) -> None:
    far = time.time_ns() // 1000 + DAY_US
    closed.host("cup", begins_us=far if first_state == "scheduled" else None)
    if first_state != "scheduled":
        await closed.until("cup", "running")
    if first_state == "paused":
        await closed.conductor.pause("cup")
    await closed.conductor.cancel("cup")
    assert closed.state("cup") == CANCELLED
    closed.players.gate.set()
    await closed.see(lambda: closed.store.tournament("cup").finished_us)
    with pytest.raises(StateError, match="it is cancelled"):
        await closed.conductor.resume("cup")


async def test_what_is_scheduled_begins_at_its_time(
    server_store: Store, tmp_path: Path, limits: ConductorLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000_000]
    async with begun(server_store, tmp_path, replace(limits, now_us=lambda: now[0]), monkeypatch) as world:
        world.host("cup", begins_us=5_000_000)
        await asyncio.sleep(0.1)
        assert world.state("cup") == SCHEDULED
        now[0] = 5_000_000
        await world.until("cup", FINISHED)


async def test_a_league_plays_no_more_than_its_budget_a_day(
    server_store: Store, tmp_path: Path, limits: ConductorLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [DAY_US // 2]
    async with begun(server_store, tmp_path, replace(limits, now_us=lambda: now[0]), monkeypatch) as world:
        world.league("daily", per_day=10)
        await world.see(lambda: "of this UTC day" in world.hosting.hosted("daily").reason)
        assert world.stored("daily") == 10
        now[0] += DAY_US
        await world.see(lambda: world.stored("daily") == 20)
        await world.see(lambda: "of this UTC day" in world.hosting.hosted("daily").reason)
        assert world.stored("daily") == 20
        assert world.state("daily") == WAITING


async def test_a_server_that_ends_in_the_middle_goes_on_with_the_same_records(
    server_store: Store, tmp_path: Path, limits: ConductorLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun(server_store, tmp_path, limits, monkeypatch) as world:
        world.host("whole", deals=6)
        await world.until("whole", FINISHED)
    for stop in range(3):
        async with begun(server_store, tmp_path, limits, monkeypatch) as world:
            if not stop:
                world.host("cut", deals=6)
            await world.see(partial(_has_more, world, "cut", stop))
    async with begun(server_store, tmp_path, limits, monkeypatch) as world:
        await world.until("cut", FINISHED)
        assert world.records("cut") == world.records("whole")


def _has_more(world: World, name: str, matches: int) -> bool:
    return world.stored(name) > matches


async def test_what_the_machine_loses_is_tried_again_and_given_up_in_the_end(world: World) -> None:
    world.players.lose = 2
    world.host("cup")
    await world.until("cup", FINISHED)
    world.players.lose = 10**6
    world.host("lost")
    await world.until("lost", FAILED)
    assert "cannot be played" in world.hosting.hosted("lost").reason
    world.players.lose = 0
    await world.conductor.resume("lost")
    await world.until("lost", FINISHED)


async def test_who_comes_and_goes_does_so_while_a_league_plays_on_alone(world: World) -> None:
    far = world.remote("far")
    world.league("open", bots=BOTS[:3], remote="mixed")
    await world.see(lambda: world.stored("open") > 4)
    world.enter("open", "far")
    await world.see(lambda: any(bot.name == "far@1" for bot in world.store.tournament("open").bots))
    assert world.matches_of("open", "far@1") == 0, "it played without being there"
    world.lobby.there = frozenset({far})
    await world.see(lambda: world.matches_of("open", "far@1") > 4)
    world.roster.update_bot("far", disabled=True)
    await world.see(lambda: world.store.tournament("open").bots[3].retired)
    played, others = world.matches_of("open", "far@1"), world.stored("open")
    await world.see(lambda: world.stored("open") > others + 4)
    assert world.matches_of("open", "far@1") == played
    assert world.state("open") == RUNNING


async def test_bots_of_one_owner_wait_for_others(world: World) -> None:
    world.lobby.there = frozenset({world.remote("near"), world.remote("far")})
    world.league("open", bots=BOTS[:2], remote="mixed")
    for name in ("near", "far"):
        world.enter("open", name)
    await world.see(lambda: world.matches_of("open", "far@1") > 4)
    number = world.store.tournament("open").id
    for house in (0, 1):
        world.store.retire_bot(number, house)
    await world.see(lambda: "bots of 2 owners are needed" in world.hosting.hosted("open").reason)
    assert world.state("open") == WAITING
    world.store.retire_bot(number, 0, retired=False)
    played = world.stored("open")
    await world.see(lambda: world.stored("open") > played)
    names = [bot.name for bot in world.store.tournament("open").bots]
    both = {names.index("near@1"), names.index("far@1")}
    assert not any(both <= {seat.bot for seat in m.seats} for m in world.store.matches(number))


async def test_a_bot_that_is_disabled_ends_a_tournament_for_now(closed: World) -> None:
    far = closed.remote("far")
    closed.lobby.there = frozenset({far})
    bot = closed.conductor.catalog.entrant("far", "koffer")
    new = Definition("koffer", BOTS[:2], seats=2, deals=60, seed="7", name="cup").build()
    closed.hosting.create(replace(new, bots=(new.bots[0], bot)), closed.owner, Terms(remote="mixed"))
    await closed.until("cup", RUNNING)
    closed.roster.update_bot("far", disabled=True)
    closed.players.gate.set()
    await closed.until("cup", FAILED)
    assert "it is disabled" in closed.hosting.hosted("cup").reason
    played = closed.stored("cup")
    assert played < 120
    closed.roster.update_bot("far", disabled=False)
    await closed.conductor.resume("cup")
    await closed.see(lambda: closed.stored("cup") > played)


async def test_matches_count_for_the_day_on_which_they_are_stored(
    server_store: Store, tmp_path: Path, limits: ConductorLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [DAY_US - 1]
    limits = replace(limits, now_us=lambda: now[0])
    async with begun(server_store, tmp_path, limits, monkeypatch, closed=True) as world:
        world.host("cup")
        await world.until("cup", RUNNING)
        now[0] += 1
        world.players.gate.set()
        await world.until("cup", FINISHED)
        cup = world.store.tournament("cup")
        assert [world.hosting.matches_on(cup.id, day) for day in (0, DAY_US)] == [0, cup.matches]


async def test_a_day_of_which_too_little_is_left_is_over(
    server_store: Store, tmp_path: Path, limits: ConductorLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [DAY_US // 2]
    async with begun(server_store, tmp_path, replace(limits, now_us=lambda: now[0]), monkeypatch) as world:
        world.league("daily", per_day=5)
        await world.see(lambda: "of this UTC day" in world.hosting.hosted("daily").reason)
        turns = world.players.turns
        await asyncio.sleep(10 * limits.look_s)
        assert (world.stored("daily"), world.players.turns) == (4, turns)
        now[0] += DAY_US
        await world.see(lambda: world.stored("daily") == 8)


async def test_news_come_of_every_change(world: World) -> None:
    with world.conductor.news.listen("cup") as listener:
        world.host("cup")
        heard = [event async for event, _ in _until(listener, lambda: world.state("cup") == FINISHED)]
    assert heard


async def _until(listener: Any, over: Callable[[], bool]) -> AsyncIterator[tuple[str, None]]:
    async for event in listener:
        yield event, None
        if over():
            return
