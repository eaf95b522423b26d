"""Fixtures of the server's tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.store.accounts import Accounts
from arena.store.store import Store, sqlite_url


@pytest.fixture
def server_store(empty_database: Path, tmp_path: Path) -> Iterator[Store]:
    """An empty database."""
    path = Path(shutil.copy(empty_database, tmp_path / "server.db"))
    with closing(Store(sqlite_url(path), called="the server's database")) as opened:
        yield opened


@pytest.fixture
def accounts(server_store: Store) -> Accounts:
    """Its users and tokens."""
    return Accounts(server_store)
