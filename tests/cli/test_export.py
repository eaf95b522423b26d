"""`arena export`: each table in each format, what is selected, and what goes wrong."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from botarena.v1.record_pb2 import MatchRecord
from pyarrow import parquet

from arena.cli.export import What
from arena.cli.writers import WRITERS
from arena.games import find_game
from arena.match.record import identity, unseal
from arena.runs.selecting import option_sets
from arena.store.selection import Selection, entrants
from arena.store.store import Store
from arena.tournament.export import TABLES, Played, Row
from arena.tournament.report import Report, report_of
from arena.tournament.several import as_of_one
from tests.bench.export import fill, measure
from tests.cli.command import Command
from tests.cli.test_writers import read

MOST_GROWTH_MIB = 16
"""More memory that an export may take for 24,000 decisions than for 8,000: held rows take 100 MiB."""


def rows(store: Store, table: str, tournament: str) -> list[Row]:
    of = store.tournament(tournament)
    return [
        row
        for number, stored in enumerate(store.matches(of.id))
        for row in TABLES[table].rows(Played.read(f"m{number:04d}", of, stored))
    ]


@pytest.mark.parametrize(("table", "form"), list(product(TABLES, WRITERS)))
def test_a_file_has_the_rows_of_all_that_is_selected(
    arena: Command, store: Store, tmp_path: Path, table: str, form: str
) -> None:
    out = tmp_path / f"rows.{form}"
    done = arena("export", table, "--game", "koffer", "--out", str(out))
    expected = [row for name in ("one", "two", "three") for row in rows(store, table, name)]
    assert read(out.read_bytes(), form, TABLES[table].columns) == expected
    assert done.err.splitlines()[-1] == f"{len(expected)} {table}: {out}"
    assert done.out == ""


def test_the_decisions_rebuild_the_records(arena: Command, store: Store, tmp_path: Path) -> None:
    out = tmp_path / "decisions.parquet"
    arena("export", "decisions", "--out", str(out))
    rebuilt: dict[tuple[str, int, int], tuple[list[int], list[int]]] = {}
    for row in parquet.read_table(out).to_pylist():
        seats, actions = rebuilt.setdefault((row["tournament"], row["block"], row["seating"]), ([], []))
        seats.append(row["seat"])
        actions.append(row["choice"])
    stored = {
        (of.name, played.block, played.seating): unseal(played.record)
        for of, played in store.selected(Selection())
    }
    assert rebuilt == {key: (list(r.seats), list(r.actions)) for key, r in stored.items()}


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        (["export", "seats"], '{"schema": 2, "kind": "seat", "tournament": "one"'),
        (["--json", "export", "seats"], '{"schema": 2, "kind": "seat", "tournament": "one"'),
        (["--csv", "export", "seats"], "tournament,match,game,block"),
        (["export", "seats", "--format", "csv"], "tournament,match,game,block"),
        (["export", "seats", "--csv", "--format", "csv"], "tournament,match,game,block"),
    ],
)
def test_standard_output_has_the_format_that_is_asked_for(
    arena: Command, line: list[str], begins: str
) -> None:
    assert arena(*line).out.startswith(begins)


@pytest.mark.parametrize(
    ("name", "more", "begins"),
    [
        ("x.csv", [], b"tournament,"),
        ("x.parquet", [], b"PAR1"),
        ("x.txt", [], b'{"schema"'),
        ("x", ["--format", "parquet"], b"PAR1"),
        ("x.csv", ["--json"], b'{"schema"'),
    ],
)
def test_a_file_has_the_format_of_its_ending_if_no_other_is_asked_for(
    arena: Command, tmp_path: Path, name: str, more: list[str], begins: bytes
) -> None:
    arena("export", "matches", "--out", str(tmp_path / name), *more)
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_parquet_goes_through_a_pipe(played_database: Path, tmp_path: Path) -> None:
    line = ["export", "seats", "--format", "parquet", "--db", str(played_database)]
    done = subprocess.run(
        [sys.executable, "-m", "arena.cli.main", *line], capture_output=True, check=True, timeout=60
    )
    (tmp_path / "x.parquet").write_bytes(done.stdout)
    assert parquet.read_table(tmp_path / "x.parquet").num_rows == 6 * 2 + 6 * 3 + 4 * 2 + 2 * 2


def test_a_reader_that_leaves_is_no_failure_of_ours(played_database: Path) -> None:
    line = ["export", "decisions", "--db", str(played_database)]
    with subprocess.Popen(
        [sys.executable, "-m", "arena.cli.main", *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"{")
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_standings_of_one_tournament_are_its_leaderboard(arena: Command, store: Store) -> None:
    told = arena("export", "standings", "--tournament", "two").rows
    of = store.tournament("two")
    assert [_plain(row) for row in told] == report_of(of, store.matches(of.id)).rows()


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("schema", "kind", "game", "options")}


def test_standings_are_apart_by_options_and_rate_versions_apart(arena: Command, store: Store) -> None:
    told = arena("export", "standings", "--game", "koffer").rows
    sets = option_sets(store, find_game("koffer"))
    assert len(sets) == 2
    expected = [row for each in sets for row in _board(store, each.tournaments).rows()]
    assert [_plain(row) for row in told] == expected
    assert "a@2" in {row["bot"] for row in told}
    assert [row["options"] for row in told] == [
        each.options for each in sets for _ in _board(store, each.tournaments).rows()
    ]


def _board(store: Store, tournaments: Sequence[str]) -> Report:
    """What these tournaments add up to."""
    report = Report("koffer")
    labels = entrants(store.tournament(name) for name in tournaments)
    for record in as_of_one(store.selected(Selection(tournaments=tuple(tournaments))), labels):
        report.add(record)
    return report


def _koffer_records(store: Store) -> list[MatchRecord]:
    return [unseal(played.record) for _, played in store.selected(Selection(game="koffer"))]


def test_records_are_files_that_verify(arena: Command, store: Store, tmp_path: Path) -> None:
    arena("export", "records", "--bot", "c", "--out", str(tmp_path / "x"))
    files = {str(path.relative_to(tmp_path / "x")): path for path in (tmp_path / "x").rglob("*.record")}
    assert set(files) == {f"two/m{n:04d}.record" for n in range(6)} | {
        f"three/m{n:04d}.record" for n in range(4)
    }
    (stored,) = [m for m in store.matches(store.tournament("two").id) if (m.block, m.seating) == (1, 2)]
    assert identity(files["two/m0005.record"].read_bytes()) == identity(stored.record)
    arena("verify", str(files["three/m0003.record"]))


@pytest.mark.parametrize(
    ("line", "code", "what"),
    [
        (["seats", "--tournament", "nope"], 4, "there is no tournament 'nope'"),
        (["seats", "--game", "chess"], 4, "there is no such game"),
        (["seats", "--bot", "nobody"], 4, "there is no bot 'nobody'"),
        (["seats", "--since", "soon"], 2, "'soon' is no date"),
        (["seats", "--game", "koffer", "--option", "games=3"], 4, "there is no such match"),
        (["decisions", "--seats", "4"], 4, "there is no such match"),
        (["standings", "--game", "koffer", "--since", "2024-01-01"], 4, "there is no such match"),
        (["standings"], 2, "several games are meant"),
        (["records"], 2, "records need a folder"),
        (["records", "--out", "x", "--format", "csv"], 2, "records have no --format"),
        (["seats", "--csv", "--format", "parquet"], 2, "two formats are asked for"),
        (["seats", "--csv", "--json"], 2, "two formats are asked for"),
        (["seats", "--out", "no/such/folder/x.csv"], 2, "cannot be written"),
        (["records", "--game", "kotki", "--out", "file/x"], 2, "cannot be written"),
    ],
)
def test_what_cannot_be_exported(
    arena: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], code: int, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert what in arena.refused("export", *line, code=code)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("line", [["nothing"], ["seats", "--format", "xls"], ["seats", "--seats", "0"], []])
def test_bad_usage(arena: Command, line: list[str]) -> None:
    assert "Traceback" not in arena("export", *line, code=2).err


def test_no_match_leaves_the_file_as_it_was(arena: Command, tmp_path: Path) -> None:
    out = tmp_path / "x.csv"
    out.write_text("older")
    arena.refused("export", "seats", "--seats", "4", "--out", str(out), code=4)
    assert out.read_text() == "older"


@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_record_is_named_and_nothing_is_written(
    played_database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    arena = Command(tmp_path / "arena.db", capsys)
    shutil.copy(played_database, arena.database)
    with closing(sqlite3.connect(arena.database)) as connection, connection:
        connection.execute(
            "UPDATE match SET record = x'00' WHERE tournament = 2 AND block = 1 AND seating = 2"
        )
    told = arena.refused("export", table, "--out", str(tmp_path / "x.csv"), code=3)
    assert "two, block 1, seating 2" in told
    assert not (tmp_path / "x.csv").exists()
    arena("export", table, "--tournament", "one", "--out", str(tmp_path / "x.csv"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_export_says_so_and_leaves_nothing(
    arena: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setattr("arena.tournament.export.message_json", lambda _: signal.raise_signal(number))
    done = arena("export", "decisions", "--out", str(tmp_path / "x.parquet"), code=130)
    assert "x.parquet was not written" in done.err
    assert list(tmp_path.iterdir()) == []


def test_help_tells_every_column(arena: Command) -> None:
    told = arena("export", "--help").out
    for name, table in TABLES.items():
        assert f"{name}: " in told
        for column in table.columns:
            assert f"  {column.name} ({column.kind}) {column.help}".rstrip() in told
    assert all(what.value in told for what in What)


def test_memory_does_not_grow_with_what_is_exported(tmp_path: Path) -> None:
    peaks = []
    for decisions in (8_000, 24_000):
        database = tmp_path / f"{decisions}.db"
        assert fill(database, decisions) >= decisions
        peaks.append(measure(database, tmp_path / "x.parquet").peak_mib)
    assert parquet.ParquetFile(tmp_path / "x.parquet").metadata.num_rows >= 24_000
    assert peaks[1] - peaks[0] < MOST_GROWTH_MIB
