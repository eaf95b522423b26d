"""Fixtures of the server's tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.store.accounts import Accounts
from arena.store.store import Store, sqlite_url


@pytest.fixture
def server_store(tmp_path: Path) -> Iterator[Store]:
    """An empty database."""
    with closing(Store(sqlite_url(tmp_path / "server.db"), called="the server's database")) as opened:
        yield opened


@pytest.fixture
def accounts(server_store: Store) -> Accounts:
    """Its users and tokens."""
    return Accounts(server_store)
