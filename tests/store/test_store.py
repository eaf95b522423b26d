"""The store: everything once, nothing lost, the newest schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import arena.store.store
from arena.store.schema import metadata
from arena.store.store import HEAD, NameTakenError, NotStoredError, Store, StoreError, migrate, sqlite_url
from arena.store.stored import StoredBot, StoredMatch, StoredPairing, StoredSeat, StoredTournament

NEW = StoredTournament(
    id=0,
    name="cup",
    kind="tournament",
    game="koffer",
    options={"games": "2"},
    seats=2,
    deals=3,
    rotate=True,
    matches=6,
    seed=bytes(range(32)),
    move_us=1,
    bank_us=2,
    start_us=3,
    faults_allowed=4,
    bots=(StoredBot("a", "1", {"command": ["x"]}), StoredBot("b", "2", {})),
    created_us=5,
    finished_us=None,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.db"


def match(block: int, seating: int, record: bytes = b"r") -> StoredMatch:
    return StoredMatch(block, seating, 1, record, (StoredSeat(0, 1, 5, None), StoredSeat(1, 2, -3, 4)))


def test_a_tournament_comes_back_as_it_was_stored(store: Store) -> None:
    stored = store.create(NEW)
    assert replace(stored, id=0) == NEW
    assert store.tournament() == stored


def test_names_are_unique(store: Store) -> None:
    store.create(NEW)
    with pytest.raises(NameTakenError, match="resume cup"):
        store.create(NEW)


def test_matches_are_stored_once_and_the_first_stays(store: Store) -> None:
    number = store.create(NEW).id
    assert store.add(number, [match(0, 0), match(0, 1)]) == 2
    assert store.add(number, [match(0, 0, b"other"), match(0, 1, b"other"), match(1, 0)]) == 1
    assert [m.record for m in store.matches(number)] == [b"r"] * 3
    assert set(store.done(number)) == {(0, 0), (0, 1), (1, 0)}


def test_matches_come_in_the_order_of_the_schedule(store: Store) -> None:
    number = store.create(NEW).id
    for block in (2, 0, 1):
        store.add(number, [match(block, 1), match(block, 0)])
    assert [(m.block, m.seating) for m in store.matches(number)] == [
        (block, seating) for block in range(3) for seating in range(2)
    ]
    assert next(iter(store.matches(number))) == match(0, 0)
    assert store.match(number, 2, 1) == match(2, 1)


def test_what_is_not_there(store: Store) -> None:
    with pytest.raises(NotStoredError, match="no tournament yet"):
        store.tournament()
    number = store.create(NEW).id
    with pytest.raises(NotStoredError, match="'nope'"):
        store.tournament("nope")
    with pytest.raises(NotStoredError):
        store.match(number, 0, 0)


def test_the_list_counts_and_finishing_is_noted_once(store: Store) -> None:
    number = store.create(NEW).id
    store.add(number, [match(0, 0)])
    ((tournament, count),) = store.tournaments()
    assert (tournament.name, count, tournament.finished_us) == ("cup", 1, None)
    store.finish(number)
    first = store.tournament("cup").finished_us
    store.finish(number)
    assert store.tournament("cup").finished_us == first is not None


def test_two_writers_at_once_store_everything_once(store: Store, url: str) -> None:
    number = store.create(NEW).id

    def write(writer: int) -> int:
        with closing(Store(url)) as own:
            return sum(own.add(number, [match(block, s) for s in range(2)]) for block in range(40))

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(write, range(2))) == 80
    assert len(list(store.done(number))) == 80


def test_the_migrations_lead_to_the_schema(store: Store) -> None:
    with store._engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_fresh_database_is_what_the_migrations_make(path: Path, tmp_path: Path) -> None:
    Store(sqlite_url(path)).close()
    engine = sa.create_engine(sqlite_url(tmp_path / "migrated.db"))
    with engine.begin() as connection:
        migrate(connection)
    assert declared(tmp_path / "migrated.db") == declared(path)


def declared(database: Path) -> tuple[list[tuple[str, ...]], list[tuple[str]]]:
    """Every table and index as it was declared, and the noted version."""
    with closing(sqlite3.connect(database)) as connection:
        made = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name")
        versions = connection.execute("SELECT version_num FROM alembic_version")
        return [(*map(str, row[:3]), *_parts(str(row[3]))) for row in made], versions.fetchall()


def _parts(declared: str) -> list[str]:
    """What a table is declared of, sorted: a column that a migration adds stands behind the constraints."""
    body, depth, parts = " ".join(declared.split()), 0, [""]
    for letter in body:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if (letter in "()" and depth in (0, 1)) or (letter == "," and depth == 1):
            parts.append("")
        else:
            parts[-1] += letter
    return sorted(part.strip() for part in parts)


def test_the_newest_schema_is_that_of_the_last_migration(store: Store) -> None:
    folder = Path(arena.store.store.__file__).parent / "migrations"
    assert ScriptDirectory(str(folder)).get_current_head() == HEAD


def test_an_older_schema_is_brought_to_the_newest(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:  # the first migration begins from this
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    with closing(Store(sqlite_url(path))) as store:
        assert store.create(NEW).name == "cup"


def test_a_database_of_somebody_else_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE tournament (players TEXT)")
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        Store(sqlite_url(path))
    assert "already exists" in caught.value.why
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("tournament",)]


def test_a_block_that_fails_in_the_middle_leaves_nothing(store: Store) -> None:
    number = store.create(NEW).id
    with pytest.raises(sa.exc.IntegrityError, match=r"(?i)not.null"):
        store.add(number, [match(0, 0), replace(match(0, 1), record=None)])  # type: ignore[arg-type]
    assert set(store.done(number)) == set()


def test_a_file_that_is_no_database(path: Path) -> None:
    path.write_text("my diary, not a database, and longer than a header of sqlite is" * 20)
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        Store(sqlite_url(path))
    assert "--db" in caught.value.do
    assert path.read_text().startswith("my diary")


@pytest.mark.parametrize("url", ["sqlite:////no/such/folder/x.db", "nonsense://x", "nonsense"])
def test_a_database_that_cannot_be_opened(url: str) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(url)


@pytest.mark.parametrize("ask", [Store.tournaments, lambda store: store.create(NEW)])
def test_a_database_that_breaks_is_told_of_whatever_is_asked(
    path: Path, ask: Callable[[Store], object]
) -> None:
    with closing(Store(sqlite_url(path))) as store:
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TABLE tournament")
        with pytest.raises(StoreError, match=r"cannot be used: no such table.*; mend it"):
            ask(store)


def test_a_database_that_others_hold_is_read_meanwhile(store: Store, url: str) -> None:
    number = store.create(NEW).id
    store.add(number, [match(0, 0)])
    with closing(Store(url)) as holder, holder.writing():
        assert len(list(store.matches(number))) == 1


def test_a_round_is_stored_once_and_the_first_stays(store: Store) -> None:
    number = store.create(NEW).id
    first = [StoredPairing(0, 0, 0, ((0, 1), (1, 0))), StoredPairing(1, 0, 1, ((1, 0),))]
    other = [StoredPairing(0, 0, 5, ((1, 0),))]
    assert store.pair(number, first) == first
    assert store.pair(number, other) == first
    second = [StoredPairing(2, 1, 2, ((0, 1),))]
    assert store.pair(number, second) == second
    assert store.pairings(number) == first + second
    assert store.pairings(number, 1) == first[1:] + second


def test_ranks_are_read_without_records(store: Store) -> None:
    number = store.create(NEW).id
    void = replace(match(1, 0), seats=(StoredSeat(0, None, None, None), StoredSeat(1, None, None, None)))
    store.add(number, [void, match(0, 1), match(0, 0)])
    assert list(store.ranks(number)) == [(0, 0, (1, 2)), (0, 1, (1, 2)), (1, 0, None)]
    assert list(store.ranks(number, 1)) == [(1, 0, None)]


def test_what_was_played_counts_when_a_format_ends(store: Store) -> None:
    number = store.create(replace(NEW, format="swiss", settings={"rounds": 3})).id
    store.finish(number, deals=2, matches=4)
    ended = store.tournament("cup")
    assert (ended.deals, ended.matches, ended.format, ended.settings) == (2, 4, "swiss", {"rounds": 3})


def test_a_tournament_of_the_first_schema_is_a_round_robin(path: Path) -> None:
    later = ("bots", "format", "settings")
    row = {key: value for key, value in asdict(NEW).items() if key not in later} | {"id": 1, "options": "{}"}
    with sa.create_engine(sqlite_url(path)).begin() as connection:
        migrate(connection, "0001")
        connection.execute(sa.insert(sa.table("tournament", *map(sa.column, row))), row)
    with closing(Store(sqlite_url(path))) as store:
        old = store.tournament("cup")
        assert (old.format, old.settings, old.seed) == ("round-robin", {}, NEW.seed)


def test_bots_of_a_league_come_and_go_and_keep_their_numbers(store: Store) -> None:
    number = store.create(NEW).id
    store.add_bot(number, StoredBot("c", "3", {}))
    store.retire_bot(number, 0)
    store.retire_bot(number, 1)
    store.retire_bot(number, 1, retired=False)
    bots = store.tournament("cup").bots
    assert [(bot.name, bot.retired) for bot in bots] == [("a", True), ("b", False), ("c", False)]


def test_tables_without_matches_are_taken_back(store: Store) -> None:
    number = store.create(NEW).id
    decided = [StoredPairing(block, 0, block, ((0, 1), (1, 0))) for block in range(3)]
    store.pair(number, decided)
    store.add(number, [match(1, 0), match(1, 1)])
    store.drop_undone(number)
    assert store.pairings(number) == decided[1:2]


def test_a_lost_block_is_known_until_it_is_played(store: Store) -> None:
    number = store.create(NEW).id
    store.lose(number, {2: "no disk", 1: "killed"})
    store.lose(number, {2: "no disk yet"})
    lost = store.lost(number)
    assert [(each.block, each.runs, each.reason) for each in lost] == [
        (1, 1, "killed"),
        (2, 2, "no disk yet"),
    ]
    store.add(number, [match(2, 0), match(2, 1)])
    assert [each.block for each in store.lost(number)] == [1]


def test_a_block_that_another_run_stored_meanwhile_is_not_lost(store: Store) -> None:
    number = store.create(NEW).id
    store.add(number, [match(1, 0), match(1, 1)])
    store.lose(number, {0: "killed", 1: "killed"})
    assert [each.block for each in store.lost(number)] == [0]


def test_tables_that_are_taken_back_were_not_lost(store: Store) -> None:
    number = store.create(NEW).id
    store.pair(number, [StoredPairing(0, 0, 0, ((0, 1), (1, 0)))])
    store.lose(number, {0: "killed"})
    store.drop_undone(number)
    assert store.lost(number) == []
