"""Tests of the store run on both kinds of database: whoever asks for `store` gets one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.store.store import Store, sqlite_url
from tests.postgres import Server

KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database of the newest schema."""
    if request.param == "sqlite":
        yield sqlite_url(tmp_path / "arena.db")
        return
    server: Server = request.getfixturevalue("postgres")
    with server.database() as of:
        yield of


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An empty database, open."""
    with closing(Store(url)) as opened:
        yield opened
