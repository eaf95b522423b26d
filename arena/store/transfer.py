"""Backups: a whole database as one SQLite file, as of one moment, whatever it is kept in."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from arena.errors import StateError, TakenError
from arena.store.schema import alembic_version
from arena.store.store import StoreError, migrate, shown_url, sqlite_url

Progress: TypeAlias = Callable[[int, int], object]
"""Takes how much is done, and of how much."""
_PAGES = 4096
"""Pages of SQLite that are copied between two reports."""
_ROWS = 500
"""Rows that are copied at once: few enough for the greatest records."""
_BLOBS = 4
"""The same of the table of archives, each of which may be large."""


def back_up(source: str, path: Path, progress: Progress = lambda done, of: None) -> None:
    """Write a backup. It is there as a whole or not at all; others may write to the database meanwhile.

    Args:
        source: URL of the database.
        path: file of the backup, which must not be there yet.

    Raises:
        TakenError: the file is there.
        StoreError: the database cannot be read, or the file not be written.
    """
    if path.exists():
        raise TakenError(f"{path} is not overwritten", "there is a file of this name", "name another one")
    with _told(shown_url(source)), _whole(path) as part:
        file = _file(source)
        if file is not None:
            _copy_file(file, part, progress)
        else:
            _copy_server(source, part, progress)


def restore(path: Path, target: str, progress: Progress = lambda done, of: None) -> None:
    """Make a database of a backup.

    Args:
        path: file of the backup.
        target: URL of a database in which there is nothing yet.

    Raises:
        StateError: there is something in it.
        StoreError: the file is no backup, or the database cannot be written.
    """
    with _told(str(path)), _opened(sqlite_url(path), path) as engine, engine.connect() as connection:
        revision = _revision(connection, path)
    with _told(shown_url(target)):
        file = _file(target)
        if file is not None:
            if file.exists() and file.stat().st_size > 0:
                raise _not_empty(target)
            with _whole(file) as part:
                _copy_file(path, part, progress)
        else:
            _fill(path, target, revision, progress)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Failures of the database or the machine as an error that says what to do."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise StoreError(
            f"{what} cannot be copied",
            str(getattr(error, "orig", None) or error),
            "look whether it is there, whole, and not full; what was there before is still as it was",
        ) from error


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A file to write, which gets its name when all of it is on the disk."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        yield part
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    finally:
        for left in (part, *(part.with_name(f"{part.name}{end}") for end in ("-wal", "-shm", "-journal"))):
            left.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    end = os.open(path, os.O_RDONLY)
    try:
        os.fsync(end)
    finally:
        os.close(end)


def _file(url: str) -> Path | None:
    """The file of a database; None if it is on a server."""
    parsed = sa.make_url(url)
    return Path(parsed.database or "") if parsed.get_backend_name() == "sqlite" else None


def _copy_file(source: Path, target: Path, progress: Progress) -> None:
    """Copy a SQLite database as of one moment: the copy holds a reader's view of it to its end."""
    with closing(_existing(source)) as read, closing(sqlite3.connect(target)) as write:
        read.execute("BEGIN")
        read.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the view begins here
        read.backup(write, pages=_PAGES, progress=lambda _, left, of: progress(of - left, of), sleep=0)
        # One file is all of it: no log beside it.
        write.execute("PRAGMA journal_mode = DELETE")


def _existing(path: Path) -> sqlite3.Connection:
    """A SQLite database that is there already, to read."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return sqlite3.connect(path, isolation_level=None)


@contextmanager
def _opened(url: str, path: Path | None = None) -> Iterator[sa.Engine]:
    if path is not None:
        _existing(path).close()
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    try:
        yield engine
    finally:
        engine.dispose()


def _revision(connection: sa.Connection, name: object) -> str:
    """Version of the schema of a database.

    Raises:
        StoreError: it is none of an arena.
    """
    revision: str | None = None
    if sa.inspect(connection).has_table(alembic_version.name):
        revision = connection.execute(sa.select(alembic_version)).scalar()
    if revision is None:
        raise StoreError(f"{name} is no database of an arena", "it has no such tables", "name another one")
    return revision


def _copy_server(source: str, target: Path, progress: Progress) -> None:
    """Read all tables of a server as of one moment into a SQLite file of the same schema."""
    with (
        _opened(source) as reader,
        _opened(sqlite_url(target)) as writer,
        reader.connect().execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        ) as read,
    ):
        revision = _revision(read, shown_url(source))
        with writer.begin() as write:
            migrate(write, revision)
            _copy_tables(read, write, progress)


def _fill(path: Path, target: str, revision: str, progress: Progress) -> None:
    """Write all tables of a SQLite file to a server, in one transaction."""
    with (
        _opened(sqlite_url(path), path) as reader,
        _opened(target) as writer,
        reader.connect() as read,
        writer.begin() as write,
    ):
        if sa.inspect(write).get_table_names():
            raise _not_empty(target)
        migrate(write, revision)
        _copy_tables(read, write, progress)
        _number_on(write)


def _copy_tables(read: sa.Connection, write: sa.Connection, progress: Progress) -> None:
    """Copy the rows of all tables, those first that others refer to."""
    tables = _tables(read)
    of = sum(read.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() for table in tables)
    done = 0
    for table in tables:
        for rows in _rows(read, table):
            write.execute(sa.insert(table), rows)
            done += len(rows)
            progress(done, of)


def _tables(connection: sa.Connection) -> Sequence[sa.Table]:
    found = sa.MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name != alembic_version.name]


def _rows(read: sa.Connection, table: sa.Table) -> Iterator[list[dict[str, Any]]]:
    size = _BLOBS if table.name == "blob" else _ROWS
    streaming = read.execution_options(yield_per=size)
    with streaming.execute(sa.select(table)) as result:
        rows = (dict(row) for row in result.mappings())
        while chunk := list(islice(rows, size)):
            yield chunk


def _number_on(write: sa.Connection) -> None:
    """Let a server give rows to come numbers behind those that were copied."""
    for table in _tables(write):
        numbers = sa.func.pg_get_serial_sequence(f'"{table.name}"', "id")
        if "id" in table.c and write.execute(sa.select(numbers)).scalar() is not None:
            write.execute(
                sa.select(sa.func.setval(numbers, sa.func.coalesce(sa.func.max(table.c.id), 0) + 1, False))
            )


def _not_empty(target: str) -> StateError:
    return StateError(
        f"{shown_url(target)} is not overwritten", "there is something in it", "name an empty database"
    )
