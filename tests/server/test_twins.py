"""Commands print the same of a database as of a server that has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.cli.commands import run
from arena.cli.output import OUT
from arena.store.accounts import Accounts
from arena.store.store import Store, sqlite_url
from tests.server.boards_server import telling
from tests.tournament.played import tournament

LINES = (
    "games",
    "games show koffer",
    "games show kotki --rules",
    "tournament list",
    "tournament show one",
    "tournament show",
    "leaderboard",
    "leaderboard koffer",
    "leaderboard koffer --details",
    "leaderboard --tournament one --details",
    "leaderboard --tournament two --history",
    "leaderboard koffer --bot a@2",
    "leaderboard koffer --bot a --bot c --only",
    "leaderboard koffer --option games=1",
    "leaderboard koffer --seats 3",
    "leaderboard --since 2020-01-01 --before 2100-01-01 koffer",
    "leaderboard nosuch",
    "leaderboard --tournament nosuch",
    "leaderboard koffer --bot nobody",
    "leaderboard --overall",
    "head-to-head a b --game koffer",
    "head-to-head a c",
    "head-to-head a a",
    "head-to-head a@1 c",
    "match list one",
    "match list one --faults",
    "match show one/m0001",
    "match show one/m9999",
    "match show rubbish",
    "match logs one/m0001",
    "match logs one/m0001 --bot b",
    "match logs one/m0001 --bot nobody",
    "replay one/m0001 --seat 0",
    "replay two/m0002",
    "verify one/m0000",
    "verify --tournament one",
    "verify --tournament two",
    "verify --tournament nosuch",
    "export matches --tournament one",
    "export seats --game koffer",
    "export decisions --tournament four",
    "export standings --game koffer",
    "export standings",
    "export matches --tournament nosuch",
)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four finished tournaments: with faults, two versions of a bot, options, and of another game."""
    path = tmp_path_factory.mktemp("twins") / "arena.db"
    with closing(Store(sqlite_url(path))) as store:
        tournament(store, "one", bots=(("a", "1"), ("b", "1")), deals=3, failing="b")
        tournament(
            store, "two", bots=(("a", "2"), ("b", "1"), ("c", "1")), options={"specials": "2"}, deals=4
        )
        tournament(store, "three", bots=(("a", "2"), ("c", "1")), options={"games": "1"})
        tournament(store, "four", "kotki", bots=(("a", "2"), ("b", "1"), ("c", "1")), deals=1)
        for of, _ in store.tournaments():
            store.finish(of.id)
    return path


@pytest.fixture(scope="module")
def server(database: Path) -> Iterator[tuple[str, str]]:
    """Address of a server with this database, and the token of its administrator."""
    with closing(Store(sqlite_url(database))) as store:
        secret = Accounts(store).ensure_admin()
        assert secret is not None
        with telling(store, str(database)) as address:
            yield address, secret


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("line", LINES)
def test_what_is_printed_is_the_same(
    database: Path,
    server: tuple[str, str],
    line: str,
    form: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = line.split()
    monkeypatch.setattr(OUT, "json", False)
    monkeypatch.setenv("ARENA_DB", str(database))
    code = run([*words, *form])
    local = capsys.readouterr()
    monkeypatch.setenv("ARENA_DB", "no such database")
    address, secret = server
    monkeypatch.setenv("ARENA_TOKEN", secret)
    assert run(["--server", f"http://{address}", *words, *form]) == code
    told = capsys.readouterr()
    assert told.out == local.out
    assert bool(local.out) == (code in (0, 3))  # what differs is data too
