"""Tables in files: what was written is read again; a file is there whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from arena.cli.output import FORMULA_BEGINS
from arena.cli.writers import BATCH_ROWS, WRITERS, table_writer, whole_file
from arena.errors import UsageError
from arena.tournament.export import Column, Row

COLUMNS = (
    Column("name", "text"),
    Column("n", "integer"),
    Column("x", "number"),
    Column("ok", "flag"),
    Column("data", "json"),
)
FORMULAS = sorted(FORMULA_BEGINS)
# What begins like a formula is quoted out of it in CSV alone: it has a test of its own.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6).filter(
    lambda text: text[:1] not in FORMULAS
)
ROW: Row = {"name": "a", "n": 1, "x": None, "ok": True, "data": None}
JSON = st.lists(TEXT | st.integers() | st.none(), max_size=3) | st.dictionaries(TEXT, TEXT, max_size=2)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "name": TEXT,
            "n": st.none() | st.integers(-(2**63), 2**63 - 1),
            "x": st.none() | st.floats(allow_nan=False),
            "ok": st.booleans(),
            "data": st.none() | JSON.map(json.dumps),
        }
    ),
    max_size=3,
)


def read(data: bytes, form: str, columns: tuple[Column, ...] = COLUMNS) -> list[Row]:
    """The rows of a file as they were before they were written."""
    if form == "parquet":
        return list(parquet.read_table(io.BytesIO(data)).to_pylist())
    if form == "jsonl":
        lines = [json.loads(line) for line in data.splitlines()]
        return [{column.name: _from_json(column, line[column.name]) for column in columns} for line in lines]
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    return [{column.name: _from_cell(column, row[column.name]) for column in columns} for row in rows]


def _from_json(column: Column, value: Any) -> Any:
    return json.dumps(value) if column.kind == "json" and value is not None else value


def _from_cell(column: Column, cell: str) -> Any:
    if cell == "" and column.kind != "text":
        return None
    return _OF_CELLS[column.kind](cell)


_OF_CELLS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "integer": int,
    "number": float,
    "flag": "True".__eq__,
    "json": str,
}


def failing(row: Row, error: type[BaseException]) -> Iterator[Row]:
    """More rows than are held at once, and then an error."""
    yield from [row] * (BATCH_ROWS + 1)
    raise error


def write(path: Path, rows: Iterable[Row]) -> bytes:
    write_to(path, path.suffix[1:], rows)
    return path.read_bytes()


def write_to(out: Path | None, form: str, rows: Iterable[Row]) -> None:
    with table_writer(out, form, "thing", COLUMNS) as writer:
        for row in rows:
            writer.write(row)


@pytest.mark.parametrize("form", WRITERS)
@given(rows=ROWS)
@settings(max_examples=50)
def test_what_was_written_is_read_again(form: str, rows: list[Row]) -> None:
    stream = io.BytesIO()
    writer = WRITERS[form](stream, "thing", COLUMNS)
    for row in rows:
        writer.write(row)
    writer.finish()
    assert read(stream.getvalue(), form) == rows


@pytest.mark.parametrize("text", [f"{sign}1" for sign in FORMULAS])
def test_text_like_a_formula_is_none_in_csv_and_itself_elsewhere(tmp_path: Path, text: str) -> None:
    row: Row = {"name": text, "n": -1, "x": -1.5, "ok": True, "data": None}
    assert read(write(tmp_path / "rows.csv", [row]), "csv") == [{**row, "name": f"'{text}"}]
    for form in ("jsonl", "parquet"):
        assert read(write(tmp_path / f"rows.{form}", [row]), form) == [row]


def test_json_lines_carry_kind_and_schema_and_nest_their_data(tmp_path: Path) -> None:
    row: Row = {"name": "a", "n": 1, "x": 0.5, "ok": False, "data": '{"a": [1]}'}
    line = write(tmp_path / "rows.jsonl", [row])
    assert json.loads(line) == {"schema": 2, "kind": "thing", **row, "data": {"a": [1]}}


def test_parquet_is_in_groups_of_one_schema(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"name": "a", "n": None if n < BATCH_ROWS else n, "x": None, "ok": True, "data": None}
        for n in range(2 * BATCH_ROWS + 1)
    ]
    file = parquet.ParquetFile(io.BytesIO(write(tmp_path / "rows.parquet", rows)))
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [
        BATCH_ROWS,
        BATCH_ROWS,
        1,
    ]
    assert [str(field.type) for field in file.schema_arrow] == ["string", "int64", "double", "bool", "string"]
    metadata = {b"botarena.schema": b"2", b"botarena.kind": b"thing"}
    assert {key: file.schema_arrow.metadata[key] for key in metadata} == metadata
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_fails_in_the_middle_leaves_what_was_there(
    tmp_path: Path, form: str, error: type[BaseException]
) -> None:
    path = tmp_path / f"rows.{form}"
    path.write_text("older")
    with pytest.raises(error):
        write(path, failing(ROW, error))
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "older"


def test_nothing_has_the_files_name_before_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with whole_file(path) as stream:
        stream.write(b"x")
        assert not path.exists()
    assert path.read_bytes() == b"x"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    with whole_file(tmp_path / "link") as stream:
        stream.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"x"


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="no file"), whole_file(tmp_path / "pipe"):
        pass
    assert [found.name for found in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("no/such/folder/x", "No such file"),
        ("", "no file"),
        ("file/x", "Not a directory"),
        ("n" * 300, "too long"),
    ],
)
def test_a_place_that_cannot_be_written(tmp_path: Path, path: str, why: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=why), whole_file(tmp_path / path):
        pass
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


class Terminal(io.TextIOWrapper):
    """A terminal that keeps what it is sent."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("form", "shown"), [("csv", True), ("jsonl", True), ("parquet", False)])
def test_a_terminal_is_sent_text_alone(monkeypatch: pytest.MonkeyPatch, form: str, shown: bool) -> None:
    sent = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(sent))
    with nullcontext() if shown else pytest.raises(UsageError, match="terminal"):
        write_to(None, form, [ROW])
    assert bool(sent.getvalue()) == shown


def test_an_interrupted_pipe_of_parquet_gets_no_footer(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_to(None, "parquet", [ROW])
    assert capsysbinary.readouterr().out.endswith(b"PAR1")
    with pytest.raises(KeyboardInterrupt):
        write_to(None, "parquet", failing(ROW, KeyboardInterrupt))
    sent = capsysbinary.readouterr().out
    assert len(sent) > 4
    assert not sent.endswith(b"PAR1")
