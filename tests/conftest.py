"""What holds for all tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgres import Server, running

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("arena", deadline=None)
settings.load_profile("arena")

# Whoever runs the tests in the background has Ctrl-C ignored, and so would all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, started when the first test asks for it."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of an empty database: a copy is made sooner than another one."""
    from arena.store.store import Store, sqlite_url

    path = tmp_path_factory.mktemp("empty") / "arena.db"
    Store(sqlite_url(path)).close()
    return path
