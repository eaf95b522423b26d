"""Fixtures of the commands' tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.store.store import Store, sqlite_url
from tests.cli.command import Command
from tests.tournament.played import tournament


@pytest.fixture(scope="session")
def played_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four tournaments: of two games, with two versions of a bot, with and without options."""
    path = tmp_path_factory.mktemp("commands") / "arena.db"
    with closing(Store(sqlite_url(path))) as store:
        tournament(store, "one", bots=(("a", "1"), ("b", "1")), deals=3, failing="b")
        tournament(store, "two", bots=(("a", "2"), ("b", "1"), ("c", "1")), options={"specials": "2"})
        tournament(store, "three", bots=(("a", "2"), ("c", "1")), options={"games": "1"})
        tournament(store, "four", "kotki", bots=(("a", "2"), ("b", "1")), deals=1)
    return path


@pytest.fixture
def store(played_database: Path) -> Iterator[Store]:
    """The database of these tournaments, to be read."""
    with closing(Store(sqlite_url(played_database))) as opened:
        yield opened


@pytest.fixture
def arena(played_database: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Commands on the database of these tournaments, to be read."""
    return Command(played_database, capsys)
