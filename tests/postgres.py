"""A PostgreSQL server for tests: the one that ARENA_TEST_POSTGRES names, or one that is started for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
import sqlalchemy as sa

from arena.store.store import Store

NAMED: Final = "ARENA_TEST_POSTGRES"
"""Variable with the URL of a server on which databases may be created, such as
postgresql+psycopg://me@localhost/postgres."""
_FAST = "-c fsync=off -c full_page_writes=off -c listen_addresses= -c max_connections=60"


class Server:
    """A server on which tests have databases of their own.

    Args:
        url: of a database that may be connected to, while others are made.
    """

    def __init__(self, url: str) -> None:
        self._url = sa.make_url(url)
        self._engine = sa.create_engine(self._url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        self._template = f"arena_{uuid4().hex}"
        self._make(self._template, "template0")
        Store(self._of(self._template)).close()

    @contextmanager
    def database(self, empty: bool = False) -> Iterator[str]:
        """The URL of a database of the newest schema, or an empty one; it is gone after the block."""
        name = f"arena_{uuid4().hex}"
        self._make(name, "template0" if empty else self._template)
        try:
            yield self._of(name)
        finally:
            self._drop(name)

    def close(self) -> None:
        """Leave nothing on it."""
        self._drop(self._template)

    def _of(self, database: str) -> str:
        return self._url.set(database=database).render_as_string(hide_password=False)

    def _make(self, name: str, template: str) -> None:
        self._do(f"CREATE DATABASE {name} TEMPLATE {template}")

    def _drop(self, name: str) -> None:
        self._do(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _do(self, statement: str) -> None:
        with self._engine.connect() as connection:
            connection.exec_driver_sql(statement)


@contextmanager
def running() -> Iterator[Server]:
    """A server for the time of the block; the test is skipped where there can be none."""
    if named := os.environ.get(NAMED):
        yield from _on(named)
        return
    if (programs := _programs()) is None:
        pytest.skip(f"there is no PostgreSQL: name a server in {NAMED}, or install its programs")
    folder = Path(tempfile.mkdtemp(prefix="arena-pg-", dir="/tmp"))  # sockets need short paths
    try:
        with _started(programs, folder) as url:
            yield from _on(url)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _on(url: str) -> Iterator[Server]:
    server = Server(url)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def _started(programs: Path, folder: Path) -> Iterator[str]:
    """A server in a folder, which only unix sockets reach; gives its URL."""
    user = _unprivileged(folder)
    data = folder / "data"
    _run(user, [programs / "initdb", "-D", data, "-A", "trust", "-U", "arena", "--no-sync", "-E", "UTF8"])
    control: list[Path | str] = [programs / "pg_ctl", "-D", data, "-w"]
    _run(user, [*control, "-l", folder / "log", "-o", f"{_FAST} -k {folder}", "start"])
    try:
        yield f"postgresql+psycopg://arena@/postgres?host={folder}"
    finally:
        _run(user, [*control, "-m", "immediate", "stop"])


def _unprivileged(folder: Path) -> str | None:
    """The account that runs it: the server refuses root; None: our own."""
    if os.geteuid() != 0:
        return None
    user = "nobody"
    shutil.chown(folder, user)
    return user


def _run(user: str | None, command: Sequence[Path | str]) -> None:
    as_user = ["runuser", "-u", user, "--"] if user else []
    done = subprocess.run(
        [*as_user, *map(str, command)],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # the server would keep a pipe open
        stderr=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}"


def _programs() -> Path | None:
    """Folder of the server's programs, the newest of those that Debian installed."""
    found = sorted(
        (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        key=lambda path: int(path.parent.name),
    )
    if found:
        return found[-1]
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None
