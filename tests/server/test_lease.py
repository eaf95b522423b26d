"""Only one server plays on a database, of either kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.server.lease import lease_of
from tests.store.conftest import KINDS


@pytest.fixture(params=KINDS)
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """What `--db` names."""
    if request.param == "sqlite":
        yield str(tmp_path / "arena.db")
        return
    with request.getfixturevalue("postgres").database() as url:
        yield url


def test_one_has_it_until_it_gives_it_back(db: str) -> None:
    first, second = lease_of(db), lease_of(db)
    assert (first.take(), second.take(), first.held(), second.held()) == (True, False, True, False)
    second.give()  # it has none to give
    assert not lease_of(db).take()
    first.give()
    assert (first.held(), second.take()) == (False, True)
    second.give()


@pytest.mark.postgres
def test_a_server_whose_connection_is_cut_knows_that_it_has_it_no_more(
    request: pytest.FixtureRequest,
) -> None:
    with request.getfixturevalue("postgres").database() as url:
        first, second = lease_of(url), lease_of(url)
        assert first.take()
        cut = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        with sa.create_engine(url, poolclass=sa.NullPool).connect() as connection:
            connection.exec_driver_sql(cut)
        assert not first.held()
        first.give()
        assert second.take()
        second.give()


def test_a_database_in_memory_is_nobody_elses() -> None:
    first, second = lease_of("sqlite://"), lease_of("sqlite://")
    assert first.take()
    assert second.take()
