"""A command loads what it needs and no more: for a short run, loading is what takes the time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.cli import headstart
from arena.store.store import Store, sqlite_url
from tests.e2e.arena import Arena

DRAWING = {"rich.console", "rich.table", "rich.progress"}
RATING = {"arena.ratings.fold", "trueskill"}
DATABASE = {"sqlalchemy", "sqlite3", "alembic"}
PLAYING = {"grpc", "arena.bots.gateway", "arena.match.host"}

# Runs a command line as the program does, and tells which modules are loaded when it is done.
_RUN = """
import json, os, sys
def tell(code):
    print(json.dumps(sorted(sys.modules)), file=sys.stderr, flush=True)
    leave(code)
leave, os._exit = os._exit, tell
from arena.cli.main import main
main()
"""


def loaded(folder: Path, *line: str) -> set[str]:
    """The modules that the arena's own process has loaded at the end of a command."""
    environment = {**os.environ, "ARENA_DB": str(folder / "arena.db")}
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *line],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: list[str] = json.loads(done.stderr.splitlines()[-1])
    return set(found)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A folder with an empty database of the newest schema."""
    Store(sqlite_url(tmp_path / "arena.db")).close()
    return tmp_path


def test_a_list_of_games_needs_no_database_and_nothing_that_plays(tmp_path: Path) -> None:
    assert loaded(tmp_path, "games", "--json") & (DRAWING | RATING | DATABASE | PLAYING) == set()


def test_help_on_a_command_needs_no_database_and_starts_no_worker(tmp_path: Path) -> None:
    assert loaded(tmp_path, "play", "--help") & (RATING | DATABASE | PLAYING) == set()


def test_a_list_of_tournaments_needs_neither_migrations_nor_ratings_nor_games(database: Path) -> None:
    games = {f"arena.games.{name}" for name in ("koffer", "hochstapler", "kamozza", "kotki", "combo_up")}
    unwanted = {"alembic"} | DRAWING | RATING | PLAYING | games
    assert loaded(database, "tournament", "list", "--json") & unwanted == set()


@pytest.mark.parametrize("command", ["serve", "status", "db"])
def test_help_on_what_serves_needs_neither_a_server_nor_a_database(tmp_path: Path, command: str) -> None:
    unwanted = RATING | DATABASE | PLAYING | {"pydantic", "structlog", "prometheus_client"}
    assert loaded(tmp_path, command, "--help") & unwanted == set()


@pytest.mark.parametrize("exists", [False, True])
def test_playing_needs_no_grpc_no_migrations_and_one_game(tmp_path: Path, exists: bool) -> None:
    if exists:
        Store(sqlite_url(tmp_path / "arena.db")).close()
    modules = loaded(tmp_path, "play", "koffer", "house:random", "house:random", "--quiet", "--json")
    games = {f"arena.games.{name}" for name in ("hochstapler", "kamozza", "kotki", "combo_up")}
    assert modules & ({"alembic"} | DRAWING | PLAYING | games) == set()
    assert "arena.games.koffer" in modules


def test_what_is_loaded_before_the_first_worker_starts_is_little() -> None:
    code = "import sys, arena.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert modules & {"typer", "asyncio", "google.protobuf", "json"} == set()
    assert modules & (DRAWING | RATING | DATABASE | PLAYING) == set()


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("play koffer house:random", True),
        ("--quiet play koffer", True),
        ("tournament run cup.toml", True),
        ("tournament --json resume", True),
        ("tournament list", False),
        ("play --help", False),
        ("play --server localhost koffer", False),
        ("--server=localhost play koffer", False),
        ("--tls-ca play tournament run", True),
        ("leaderboard play", False),
        ("", False),
    ],
)
def test_a_worker_starts_for_what_plays(monkeypatch: pytest.MonkeyPatch, line: str, starts: bool) -> None:
    started: list[Any] = []
    monkeypatch.setattr(headstart, "WorkerProcess", started.append)
    monkeypatch.setattr(headstart, "_waiting", [])
    headstart.begin(line.split())
    assert started == ([headstart.WORKER_COMMAND] if starts else [])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (("play", "chess", "house:random", "house:random"), 4),
        (("play", "koffer", "house:random", "./nobody"), 4),
        (("play", "koffer", "house:random", "house:random", "--nonsense"), 2),
        (("play", "koffer", "house:random", "house:random", "--db", "no/folder/x.db"), 1),
        (("tournament", "resume", "nothing"), 4),
    ],
)
def test_a_worker_that_was_not_needed_is_gone(tmp_path: Path, line: tuple[str, ...], code: int) -> None:
    arena = Arena(tmp_path)
    done = arena.run(*line, code=code)
    assert arena.processes() == {}
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "no").exists()


def test_bots_that_started_for_a_database_that_cannot_be_opened_leave_nothing(tmp_path: Path) -> None:
    arena = Arena(tmp_path)
    (tmp_path / "diary.db").write_text("my diary, not a database, and longer than the header of one is" * 20)
    done = arena.run("play", "koffer", "house:random", "house:random", "--db", "diary.db", code=1)
    assert "cannot be opened" in done.stderr
    assert arena.processes() == {}
    assert [path.name for path in tmp_path.iterdir()] == ["diary.db"]
