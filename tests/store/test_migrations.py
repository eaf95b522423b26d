"""A database of every schema that was ever released becomes one of the newest, with all that is in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import arena.store.store
from arena.store.schema import metadata
from arena.store.store import HEAD, Store, StoreError, migrate, sqlite_url
from tests.store.conftest import KINDS
from tests.store.filling import contents, fill
from tests.store.test_store import declared

SCRIPTS = ScriptDirectory(str(Path(arena.store.store.__file__).parent / "migrations"))
REVISIONS = sorted(script.revision for script in SCRIPTS.walk_revisions())


@pytest.fixture(params=KINDS)
def nothing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without a table."""
    if request.param == "sqlite":
        yield sqlite_url(tmp_path / "arena.db")
        return
    with request.getfixturevalue("postgres").database(empty=True) as url:
        yield url


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_is_in_it_stays_and_the_schema_is_the_newest(
    nothing: str, revision: str, tmp_path: Path
) -> None:
    engine = sa.create_engine(nothing, poolclass=sa.NullPool)
    with engine.begin() as connection:
        migrate(connection, revision)
        fill(connection)
        before = contents(connection)
    assert {"tournament", "match", "match_seat"} <= before.keys()
    Store(nothing).close()
    with engine.connect() as connection:
        after = contents(connection)
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    for table, ((row,)) in before.items():
        (now,) = after[table]
        assert {name: now[name] for name in row} == row, table
    if nothing.startswith("sqlite"):
        Store(sqlite_url(tmp_path / "fresh.db")).close()
        assert declared(tmp_path / "arena.db") == declared(tmp_path / "fresh.db")


def test_a_database_of_a_newer_arena_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    Store(sqlite_url(path)).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match=f"9999.*{HEAD}"):
        Store(sqlite_url(path))
