"""Backups hold everything as of one moment, and become a database of either kind again."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

import pytest
import sqlalchemy as sa

from arena.errors import StateError, TakenError
from arena.store.store import Store, StoreError, migrate, sqlite_url
from arena.store.transfer import back_up, restore
from tests.store.conftest import KINDS
from tests.store.filling import Rows, contents, fill
from tests.store.test_store import NEW, match

Make: TypeAlias = Callable[[str], str]


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes a database without a table, of a kind; gives its URL."""
    with ExitStack() as stack:

        def database(kind: str) -> str:
            if kind == "sqlite":
                return sqlite_url(tmp_path / f"{uuid4().hex}.db")
            return str(stack.enter_context(request.getfixturevalue("postgres").database(empty=True)))

        yield database


def everything(url: str) -> Rows:
    with sa.create_engine(url, poolclass=sa.NullPool).connect() as connection:
        return contents(connection)


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_what_is_restored_is_what_was_backed_up(make: Make, tmp_path: Path, source: str, target: str) -> None:
    old, new, file = make(source), make(target), tmp_path / "backup"
    Store(old).close()
    with sa.create_engine(old, poolclass=sa.NullPool).begin() as connection:
        fill(connection)
    back_up(old, file)
    restore(file, new)
    assert everything(sqlite_url(file)) == everything(new) == everything(old)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".part", "-wal")) == []
    with closing(Store(new)) as store:  # rows to come get numbers of their own
        assert store.create(NEW).id > 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_before_an_upgrade_has_its_schema(make: Make, tmp_path: Path, kind: str) -> None:
    old, new, file = make(kind), make(kind), tmp_path / "backup"
    with sa.create_engine(old, poolclass=sa.NullPool).begin() as connection:
        migrate(connection, "0002")
        fill(connection)
    back_up(old, file)
    restore(file, new)
    assert everything(sqlite_url(file)) == everything(new) == everything(old)


def test_a_backup_is_of_one_moment_while_others_write(url: str, tmp_path: Path) -> None:
    written, enough = threading.Event(), threading.Event()

    def write() -> None:
        with closing(Store(url)) as own:
            number = own.create(NEW).id
            for block in range(100_000):
                own.add(number, [match(block, 0), match(block, 1)])
                if block == 20:
                    written.set()
                if enough.is_set():
                    return

    writer = threading.Thread(target=write)
    writer.start()
    assert written.wait(30)
    back_up(url, tmp_path / "backup", lambda done, of: None)
    enough.set()
    writer.join()
    rows = everything(sqlite_url(tmp_path / "backup"))
    blocks = Counter(row["block"] for row in rows["match"])
    assert len(blocks) > 20
    assert set(blocks.values()) == {2}
    assert Counter(row["match"] for row in rows["match_seat"]) == {row["id"]: 2 for row in rows["match"]}


def test_nothing_is_overwritten(store: Store, url: str, tmp_path: Path) -> None:
    store.create(NEW)
    file = tmp_path / "backup"
    back_up(url, file)
    with pytest.raises(TakenError, match="not overwritten"):
        back_up(url, file)
    store.create(replace(NEW, name="other"))
    with pytest.raises(StateError, match="not overwritten"):
        restore(file, url)
    assert len(store.tournaments()) == 2


@pytest.mark.parametrize("text", [None, "", "my diary, not a database" * 100])
def test_what_is_no_backup_is_told_and_leaves_nothing(tmp_path: Path, text: str | None) -> None:
    file, target = tmp_path / "backup", tmp_path / "new.db"
    if text is not None:
        file.write_text(text)
    with pytest.raises(StoreError):
        restore(file, sqlite_url(target))
    with pytest.raises(StoreError):
        back_up(sqlite_url(tmp_path / "nothing.db"), tmp_path / "other")
    assert {path.name for path in tmp_path.iterdir()} <= {"backup"}


def test_a_backup_that_is_interrupted_leaves_nothing(store: Store, url: str, tmp_path: Path) -> None:
    store.create(NEW)

    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(url, tmp_path / "backup", interrupt)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("backup")]
