"""Only one server plays on a database: whoever holds its lease. It goes with its process in any case."""

from __future__ import annotations

import asyncio
import fcntl
from pathlib import Path
from typing import IO, Protocol

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from arena.errors import StateError
from arena.runs.names import database_file
from arena.store.store import shown_url

_KEY = 0x61_72_65_6E_61
"""Number of the advisory lock."""
_ATTEMPT_S = 0.1
"""How often it is tried whether it is free."""


class Lease(Protocol):
    """The right to play on a database."""

    def take(self) -> bool:
        """Have it, if nobody else does; whether that is so. Blocks for as long as the database takes."""
        ...

    def held(self) -> bool:
        """Whether it is still ours; likewise."""
        ...

    def give(self) -> None:
        """Give it back."""
        ...


class FileLease:
    """The lease of a SQLite file: a lock on a file beside it.

    Args:
        path: the database.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}.serving")
        self._file: IO[str] | None = None

    def take(self) -> bool:
        """Have it, if nobody else does; whether that is so."""
        file = self._path.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        self._file = file
        return True

    def held(self) -> bool:
        """Whether it is still ours: nobody can take a lock away."""
        return self._file is not None

    def give(self) -> None:
        """Give it back. The file stays: who removes it might remove another one's lock."""
        if self._file is not None:
            self._file.close()
            self._file = None


class PostgresLease:
    """The lease of a database on PostgreSQL: an advisory lock of a connection of its own.

    Args:
        url: the database.
    """

    def __init__(self, url: str) -> None:
        self._engine = sa.create_engine(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
        self._connection: sa.Connection | None = None

    def take(self) -> bool:
        """Have it, if nobody else does; whether that is so."""
        connection = self._engine.connect()
        if not connection.execute(sa.select(sa.func.pg_try_advisory_lock(_KEY))).scalar():
            connection.close()
            return False
        self._connection = connection
        return True

    def held(self) -> bool:
        """Whether it is still ours: the lock is gone with its connection."""
        if self._connection is None:
            return False
        try:
            self._connection.execute(sa.select(1))
        except DBAPIError:
            return False
        return True

    def give(self) -> None:
        """Give it back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class NoLease:
    """That of a database which nobody else can reach, being in memory."""

    def take(self) -> bool:
        """Have it."""
        return True

    def held(self) -> bool:
        """It is ours."""
        return True

    def give(self) -> None:
        """Give it back."""


def lease_of(db: str) -> Lease:
    """The lease of a database, which nobody holds yet.

    Args:
        db: what `--db` names.
    """
    if (path := database_file(db)) is not None:
        return FileLease(path)
    return PostgresLease(db) if db.startswith("postgresql") else NoLease()


async def wait_for(lease: Lease) -> None:
    """Wait until nobody else has it, and have it."""
    while not await asyncio.to_thread(lease.take):  # noqa: ASYNC110 - another process has it
        await asyncio.sleep(_ATTEMPT_S)


def taken(db: str) -> StateError:
    """What is told when somebody else has it."""
    return StateError(
        f"{shown_url(db)} is being served",
        "another arena serve has it in hand",
        "end that one, or let this one take over when it has ended: arena serve --wait",
    )
