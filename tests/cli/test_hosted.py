"""What plays on a server: what it is asked for, how it is followed, and how commands end."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import grpc
import pytest
from botarena.v1 import api_tournaments_pb2 as api
from botarena.v1.api_tournaments_pb2_grpc import (
    LeagueServiceServicer,
    TournamentServiceServicer,
    add_LeagueServiceServicer_to_server,
    add_TournamentServiceServicer_to_server,
)
from google.protobuf.json_format import MessageToDict

from arena.cli import following, hosted, outcome, remote
from arena.cli.following import progress_text
from arena.errors import ArenaError, NotFoundError, StateError
from arena.rights import BOT_SUBMIT, TOURNAMENT_RUN
from arena.server.accounts import AccountPart
from arena.server.guard import Guard
from arena.store.accounts import Accounts
from arena.store.store import Store, sqlite_url
from tests.cli.command import Commands
from tests.server.serving import PLENTY, served_beside

Message = Any


def progress(state: str, **values: Any) -> api.HostedProgress:
    return api.HostedProgress(state=api.HostedState.Value(f"HOSTED_STATE_{state.upper()}"), **values)


WAITING = progress("waiting", matches=10)
HALF = progress("running", played=5, matches=10, rate=2.0, eta_s=62.5)
FINISHED = progress("finished", played=10, matches=10)
CANCELLED = progress("cancelled", played=5, matches=10)
FAILED = progress("failed", reason="a bot\x1b[2J is gone")


class Server(TournamentServiceServicer, LeagueServiceServicer):
    """Takes what it is asked for, and tells what it was told to.

    Attributes:
        asked: all requests.
        now: how far everything is.
        streams: what each watcher is told, one after the other; at None the stream breaks off.
    """

    def __init__(self) -> None:
        self.asked: list[Message] = []
        self.now = WAITING
        self.streams: list[list[api.HostedProgress | None]] = [[WAITING, HALF, FINISHED]]

    def register(self, server: grpc.aio.Server) -> None:
        add_TournamentServiceServicer_to_server(self, server)
        add_LeagueServiceServicer_to_server(self, server)

    def _hosted(self, name: str) -> api.HostedTournament:
        return api.HostedTournament(
            name=name, game="koffer", kind="tournament", format="round-robin", seats=2, progress=self.now
        )

    async def CreateTournament(self, request: Message, context: Any) -> Message:
        self.asked.append(request)
        return api.CreateTournamentResponse(tournament=self._hosted(request.name or "made-up"))

    async def CreateLeague(self, request: Message, context: Any) -> Message:
        self.asked.append(request)
        return api.CreateLeagueResponse(league=self._hosted(request.name))

    async def GetTournament(self, request: Message, context: Any) -> Message:
        return api.GetTournamentResponse(tournament=self._hosted(request.name))

    async def GetLeague(self, request: Message, context: Any) -> Message:
        return api.GetLeagueResponse(league=self._hosted(request.name))

    async def ListLeagues(self, request: Message, context: Any) -> Message:
        return api.ListLeaguesResponse()

    async def ListTournaments(self, request: Message, context: Any) -> Message:
        self.asked.append(request)
        return api.ListTournamentsResponse(tournaments=[self._hosted("newest")])

    async def PauseTournament(self, request: Message, context: Any) -> Message:
        self.asked.append(request)
        return api.PauseTournamentResponse(progress=progress("paused"))

    async def ResumeTournament(self, request: Message, context: Any) -> Message:
        self.asked.append(request)
        return api.ResumeTournamentResponse(progress=WAITING)

    async def CancelTournament(self, request: Message, context: Any) -> Message:
        if request.name == "over":
            raise StateError("over is over", "all of it is played", "look at it")
        self.asked.append(request)
        return api.CancelTournamentResponse(progress=CANCELLED)

    async def EnterLeague(self, request: Message, context: Any) -> Message:
        self.asked.append(request)
        return api.EnterLeagueResponse(message=f"{request.bot} plays from the next round on")

    async def LeaveLeague(self, request: Message, context: Any) -> Message:
        self.asked.append(request)
        return api.LeaveLeagueResponse(message=f"{request.bot} retires; its games stay")

    async def WatchTournament(self, request: Message, context: Any) -> AsyncIterator[Message]:
        for told in self.streams.pop(0):
            if told is None:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "the server is ending")
            yield api.WatchTournamentResponse(progress=told)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of tournaments of which it was shown what came out; of "bad" something failed."""
    names: list[str] = []

    def show(name: str) -> int:
        names.append(name)
        return 3 if name == "bad" else 0

    monkeypatch.setattr(hosted, "show_hosted", show)
    return names


@pytest.fixture
def arena(
    server: Server,
    shown: list[str],
    empty_database: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Commands]:
    """Commands for the server, of a user called ada."""
    monkeypatch.setattr(remote, "AGAIN_S", 0.0)
    monkeypatch.setattr(following, "AGAIN_S", 0.0)
    monkeypatch.delenv("ARENA_SERVER", raising=False)
    monkeypatch.chdir(tmp_path)
    with closing(Store(sqlite_url(Path(shutil.copy(empty_database, tmp_path / "server.db"))))) as store:
        accounts = Accounts(store)
        secret, _ = accounts.create_token(accounts.add_user("ada").id, "", [TOURNAMENT_RUN, BOT_SUBMIT])
        monkeypatch.setenv("ARENA_TOKEN", secret)
        with served_beside(Guard(accounts, PLENTY), [AccountPart(accounts), server.register]) as address:
            monkeypatch.setenv("ARENA_SERVER", address)
            yield Commands(capsys)
    remote.choose(None, None)


PLAIN = {"bots": ["house:greedy", "mybot@3"], "game": "koffer", "isRotated": True}
CLOCKED = {"moveUs": "1000000", "faultsAllowed": 2}


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        (
            "play koffer house:greedy mybot@3 --matches 4 --no-rotate --option games=1"
            " --each time=1s,faults=2",
            PLAIN
            | {"kind": "play", "matches": "4", "isRotated": False, "options": {"games": "1"}}
            | {"clock": CLOCKED, "terms": {}},
        ),
        (
            "tournament run koffer house:greedy mybot@3 --name cup --seats 2 --seed ab --at 2030-01-01"
            " --allow-same-owner --unrated --remote mixed",
            PLAIN
            | {"kind": "tournament", "name": "cup", "seats": 2, "deals": "100", "seed": "ab", "clock": {}}
            | {
                "terms": {
                    "beginsUs": "1893456000000000",
                    "sameOwner": True,
                    "rated": False,
                    "remote": "REMOTE_BOTS_MIXED",
                }
            },
        ),
        (
            "tournament run koffer house:greedy mybot@3 --until winner --confidence 0.9 --tolerance 2",
            PLAIN
            | {"kind": "tournament", "until": "winner", "confidence": 0.9, "tolerance": 2.0}
            | {"clock": {}, "terms": {}},
        ),
        (
            "tournament run cup.toml --rounds 3",
            PLAIN
            | {"kind": "tournament", "format": "swiss", "rounds": 3, "deals": "5", "clock": CLOCKED}
            | {"options": {"games": "1"}, "terms": {}},
        ),
        (
            "compare koffer mybot@1 mybot@2 --against house:greedy --gain 2 --deals 50",
            PLAIN
            | {"bots": ["mybot@1", "mybot@2", "house:greedy"], "kind": "tournament", "format": "compare"}
            | {"gain": 0.02, "deals": "50", "seats": 2, "clock": {}, "terms": {}},
        ),
        (
            "league run open --game koffer house:greedy mybot@3 --per-day 500 --open --remote only --deals 2",
            {"name": "open", "game": "koffer", "bots": ["house:greedy", "mybot@3"], "deals": "2"}
            | {"clock": {}, "terms": {"perDay": "500", "isOpen": True, "remote": "REMOTE_BOTS_ONLY"}},
        ),
    ],
)
def test_what_a_server_is_asked_to_play(
    arena: Commands, server: Server, shown: list[str], tmp_path: Path, line: str, asked: dict[str, Any]
) -> None:
    (tmp_path / "cup.toml").write_text(
        'game = "koffer"\nbots = ["house:greedy", "mybot@3"]\nformat = "swiss"\ndeals = 5\n'
        "[options]\ngames = 1\n[each]\ntime = '1s'\nfaults = '2'\n"
    )
    arena(*line.split())
    (request,) = server.asked
    assert MessageToDict(request) == asked
    assert shown == [request.name or "made-up"]


@pytest.mark.parametrize(
    ("line", "asked", "out", "err"),
    [
        (
            "tournament pause cup",
            "PauseTournamentRequest cup",
            "cup is paused\n",
            "arena tournament resume cup",
        ),
        ("tournament cancel cup", "CancelTournamentRequest cup", "cup is cancelled\n", "tournament show cup"),
        ("league add open mybot", "EnterLeagueRequest open mybot", "", "mybot plays from the next round on"),
        ("league remove open x@2", "LeaveLeagueRequest open x@2", "", "x@2 retires; its games stay"),
    ],
)
def test_what_is_asked_of_what_there_is(
    arena: Commands, server: Server, line: str, asked: str, out: str, err: str
) -> None:
    done = arena(*line.split())
    (request,) = server.asked
    values = (str(value) for _, value in request.ListFields())
    assert " ".join((request.DESCRIPTOR.name, *values)) == asked
    assert done.out == out
    assert err in done.err


@pytest.mark.parametrize("now", ["paused", "failed", "running", "finished"])
@pytest.mark.parametrize("line", ["tournament resume cup", "league run cup"])
def test_only_what_stands_still_is_resumed(
    arena: Commands, server: Server, shown: list[str], line: str, now: str
) -> None:
    server.now = progress(now)
    arena(*line.split())
    assert [request.name for request in server.asked] == (["cup"] if now in ("paused", "failed") else [])
    assert shown == ["cup"]


def test_the_callers_newest_tournament_is_resumed(arena: Commands, server: Server, shown: list[str]) -> None:
    arena("tournament", "resume")
    (request,) = server.asked
    assert (request.owner, request.page.size) == ("ada", 1)
    assert shown == ["newest"]


@pytest.mark.parametrize(
    ("last", "code", "told", "results"),
    [
        (FINISHED, 0, "finished", ["cup"]),
        (FAILED, 1, r"why: a bot\x1b[2J is gone", []),
        (CANCELLED, 1, "error: cup was cancelled", ["cup"]),
    ],
)
def test_how_it_ends(
    arena: Commands,
    server: Server,
    shown: list[str],
    last: api.HostedProgress,
    code: int,
    told: str,
    results: list[str],
) -> None:
    server.streams = [[HALF, last]]
    done = arena("tournament", "watch", "cup", code=code)
    assert "5/10  50 %  2.0/s  ETA 1:02  running" in done.err
    assert told in done.err
    assert "\x1b" not in done.err
    assert shown == results


def test_bots_that_failed_are_told_by_the_exit_code(arena: Commands, shown: list[str]) -> None:
    arena("tournament", "watch", "bad", code=3)
    assert shown == ["bad"]


def test_what_is_watched_is_data_for_programs(arena: Commands, server: Server) -> None:
    rows = arena("tournament", "watch", "cup", "--json").rows
    assert [(row["kind"], row["state"], row["played"], row["eta_s"]) for row in rows] == [
        ("progress", "waiting", 0, None),
        ("progress", "running", 5, 62.5),
        ("progress", "finished", 10, None),
    ]


def test_a_server_that_restarts_is_followed_again(arena: Commands, server: Server, shown: list[str]) -> None:
    server.streams = [[WAITING], [HALF, None], [progress("paused")], [FINISHED]]
    done = arena("tournament", "run", "koffer", "house:greedy", "house:first", "--name", "cup")
    assert "trying again" in done.err
    assert done.out == ""
    assert shown == ["cup"]


@pytest.mark.parametrize("line", [("--json",), ()])
def test_nobody_has_to_wait(arena: Commands, server: Server, shown: list[str], line: tuple[str, ...]) -> None:
    done = arena("play", "koffer", "house:greedy", "house:first", "--detach", *line)
    told = json.loads(done.out)["state"] if line else done.out
    assert told == ("waiting" if line else "made-up is waiting\n")
    assert "arena tournament watch made-up" in done.err
    assert shown == []


def test_an_interruption_leaves_it_running(
    arena: Commands, server: Server, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("arena.cli.following._View.show", interrupted)
    done = arena("league", "run", "open", "--game", "koffer", "house:greedy", "house:first", code=130)
    assert "open goes on at the server; follow it: arena tournament watch open" in done.err
    assert "arena tournament cancel open" in done.err
    assert shown == []


GAME = "koffer house:greedy"


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (f"play {GAME} ./mybot", 2, "arena bot submit ./mybot"),
        (f"play {GAME} mybot.py", 2, "arena bot submit mybot.py"),
        (f"tournament run {GAME} module:Class", 2, "arena bot submit DIR"),
        (f"compare {GAME} cmd:x --against house:first", 2, "arena bot submit DIR"),
        ("league add open ../mybot", 2, "arena bot submit ../mybot"),
        (f"play {GAME} x --jobs 2", 2, "--jobs means nothing on a server"),
        (f"play {GAME} x --out there", 2, "--out means nothing on a server"),
        (f"tournament run {GAME} x --no-pin", 2, "--pin means nothing on a server"),
        (f"compare {GAME} x --against y --in-flight 3", 2, "--in-flight means nothing on a server"),
        ("tournament resume cup --sandbox none", 2, "--sandbox means nothing on a server"),
        ("league run open --rounds 2", 2, "--rounds means nothing on a server"),
        ("league add open mybot --db x.db", 2, "--db means nothing on a server"),
        ("tournament run held.toml", 2, "leave sandbox out of the file"),
        (f"play {GAME} x --remote all", 2, "use one of none, mixed, only"),
        (f"play {GAME} x --at noon", 2, "noon"),
        ("league run open --per-day 9", 2, "open cannot be changed"),
        ("tournament cancel over", 1, "all of it is played"),
    ],
)
def test_what_is_refused(
    arena: Commands, server: Server, tmp_path: Path, line: str, code: int, told: str
) -> None:
    (tmp_path / "held.toml").write_text('game = "koffer"\nbots = ["a", "b"]\nsandbox = "none"\n')
    done = arena(*line.split(), code=code)
    assert told in done.err
    assert done.out == ""
    assert server.asked == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("tournament pause cup", "add --server HOST:PORT"),
        ("tournament cancel cup", "add --server HOST:PORT"),
        ("tournament watch cup", "add --server HOST:PORT"),
        (f"play {GAME} house:first --detach", "--detach means nothing without a server"),
        (f"tournament run {GAME} house:first --unrated", "--unrated means nothing without a server"),
        ("league run open --open", "--open means nothing without a server"),
    ],
)
def test_what_needs_a_server(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str, told: str
) -> None:
    monkeypatch.delenv("ARENA_SERVER", raising=False)
    assert told in Commands(capsys)(*line.split(), code=2).err


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (progress("scheduled", matches=10), "0/10  0 %  scheduled"),
        (progress("running", played=7, rate=1500.0, today=3), "7 matches  1,500.0/s  3 today  running"),
        (
            progress("running", played=5, matches=10, outlook="a leads", eta_s=float("inf")),
            "5/10  50 %  a leads  running",
        ),
        (
            progress("waiting", reason="mybot\x07 is not there"),
            r"0 matches  0 today  waiting: mybot\x07 is not there",
        ),
        (api.HostedProgress(state=99), "0 matches  0 today  unknown"),  # type: ignore[arg-type]
    ],
)
def test_how_far_it_is_in_a_line(told: api.HostedProgress, text: str) -> None:
    assert progress_text(told) == text


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


AWAY = ArenaError("the server cannot be reached", "nobody listens", "see that it runs")
REFUSED = NotFoundError("there is no cup", "none is called so", "name another one")


@pytest.mark.parametrize(
    ("tries", "raises"),
    [
        ([(0, None)], None),
        ([(0, AWAY)] * 30 + [(0, None)], None),
        ([(0, AWAY)] * 300, AWAY),
        ([(90, AWAY)] * 3 + [(0, None)], AWAY),
        ([(5, AWAY), (5000, AWAY), (5, AWAY), (5000, AWAY), (5, None)], None),  # it was there for long
        ([(0, AWAY), (0, REFUSED), (0, None)], REFUSED),
    ],
)
def test_how_long_a_server_may_be_away(
    monkeypatch: pytest.MonkeyPatch, tries: list[tuple[float, ArenaError | None]], raises: ArenaError | None
) -> None:
    clock, left = Clock(), iter(tries)
    monkeypatch.setattr(remote, "time", clock)

    def call() -> str:
        lasts, error = next(left)
        clock.sleep(lasts)
        if error is not None:
            raise error
        return "done"

    if raises is None:
        assert remote.unbroken(call) == "done"
        assert next(left, None) is None
    else:
        with pytest.raises(ArenaError) as raised:
            remote.unbroken(call)
        assert raised.value is raises


def _match(faults: Sequence[str] = (), ranks: Sequence[int] = (1, 2), verdict: str = "PLAYED") -> outcome.Row:
    return {"tournament": "cup", "match": "3", "faults": faults, "ranks": ranks, "verdict": verdict}


class Told:
    """Tells one result."""

    def __init__(self, kind: str, faulty: list[outcome.Row]) -> None:
        self._tournament = {"name": "cup", "kind": kind, "matches": 4, "stored": 4, "seed": "ab"}
        self._faulty = faulty

    def result(self, name: str, details: bool) -> outcome.Row:
        board: outcome.Row = {"standings": [], "pairs": []}
        return {"tournament": self._tournament, "board": board, "places": [], "answer": None}

    def matches(self, name: str, faults: bool) -> list[outcome.Row]:
        assert faults
        return self._faulty


@pytest.mark.parametrize(
    ("kind", "faulty", "code", "said"),
    [
        ("tournament", [], 0, "replay: arena replay cup/"),
        ("tournament", [_match(["a TIMEOUT"]), _match(["a TIMEOUT"])], 0, "faults of a: 2 TIMEOUT; "),
        ("play", [_match(["a TIMEOUT"])], 3, "see one: arena match logs cup/3"),
        ("tournament", [_match(["a START_FAILED"])], 3, "faults of a: 1 START_FAILED; "),
        (
            "tournament",
            [_match([], [], "GAME_BROKEN")],
            3,
            "not rated: 1, the first GAME_BROKEN: arena replay cup/3",
        ),
        ("tournament", [_match(["a NEVER_HEARD_OF"])], 0, "faults of a: 1 NEVER_HEARD_OF; see one"),
        ("league", [_match(["a START_FAILED"])], 0, "seed ab"),
    ],
)
def test_what_came_out_decides_the_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    faulty: list[outcome.Row],
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr(outcome, "open_source", lambda _: nullcontext(Told(kind, faulty)))
    assert outcome.show_hosted("cup") == code
    assert said in capsys.readouterr().err
