"""`arena db check` finds whatever was changed behind the arena's back."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.arena import Arena


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a few matches."""
    arena = Arena(tmp_path_factory.mktemp("played"))
    arena.run("play", "kotki", "house:first", "house:random", "--matches", "4")
    return arena.folder / "arena.db"


DAMAGES = {
    "a byte of a record": ("UPDATE match SET record = CAST(record || x'00' AS BLOB) WHERE id = 2", "digest"),
    "a rank": ("UPDATE match_seat SET rank = 3 - rank WHERE match = 2", "differ"),
    "a verdict": ("UPDATE match SET verdict = 9 WHERE id = 1", "differ"),
    "a bot's name": ("UPDATE tournament_bot SET name = 'nobody' WHERE bot = 0", "no bot of its tournament"),
    "a match": (
        "DELETE FROM match_seat WHERE match = 3; DELETE FROM match WHERE id = 3",
        "finished with 3 matches",
    ),
    "a seat of nothing": ("INSERT INTO match_seat VALUES (77, 0, 0, 1, 1, NULL)", "refers to nothing"),
    "an archive": (f"INSERT INTO blob VALUES ('{'0' * 64}', x'00', 1)", "damaged"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_was_damaged_is_found(played: Path, tmp_path: Path, damage: str) -> None:
    statement, told = DAMAGES[damage]
    shutil.copy(played, tmp_path / "arena.db")
    with closing(sqlite3.connect(tmp_path / "arena.db")) as connection:
        connection.executescript(statement)
    done = Arena(tmp_path).run("db", "check", code=3)
    assert told in done.stderr


def test_what_is_whole_is_so(played: Path) -> None:
    (row,) = Arena(played.parent).lines("db", "check")
    assert (row["matches"], row["flaws"]) == (4, 0)
