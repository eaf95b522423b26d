"""Tables in files, row by row: CSV, JSON lines and Parquet. A file is there whole, or not at all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from arena.cli.output import SCHEMA, csv_writer
from arena.errors import UsageError
from arena.tournament.export import Column, Row

if TYPE_CHECKING:  # it takes a quarter of a second to load, and one format alone needs it
    import pyarrow as pa

BATCH_ROWS = 4096
"""Rows of a row group of Parquet, which are held until it is full."""


class Writer(Protocol):
    """What rows of one table are written to."""

    def write(self, row: Row) -> None:
        """Write one."""
        ...

    def finish(self) -> None:
        """Write what is left and what comes at the end; the stream stays open."""
        ...

    def abandon(self) -> None:
        """Write no more: the table is not whole."""
        ...


class CsvWriter:
    """CSV in UTF-8 with a head. None is an empty cell; what looks like a formula is quoted out of it."""

    def __init__(self, stream: IO[bytes], kind: str, columns: Sequence[Column]) -> None:
        self._line = csv_writer(lambda line: stream.write(line.encode()))
        self._names = [column.name for column in columns]
        self._line(self._names)

    def write(self, row: Row) -> None:
        """Write one."""
        self._line([row[name] for name in self._names])

    def finish(self) -> None:
        """Nothing is left."""

    def abandon(self) -> None:
        """Nothing is left."""


class JsonLinesWriter:
    """A JSON object for each row, with its kind and the schema's number; columns of JSON are part of it."""

    def __init__(self, stream: IO[bytes], kind: str, columns: Sequence[Column]) -> None:
        self._stream = stream
        self._head = {"schema": SCHEMA, "kind": kind}
        self._nested = [column.name for column in columns if column.kind == "json"]
        self._plain = [column.name for column in columns if column.kind != "json"]

    def write(self, row: Row) -> None:
        """Write one."""
        plain = json.dumps(self._head | {name: row[name] for name in self._plain})
        nested = "".join(f', "{name}": {row[name] or "null"}' for name in self._nested)
        self._stream.write(f"{plain[:-1]}{nested}}}\n".encode())

    def finish(self) -> None:
        """Nothing is left."""

    def abandon(self) -> None:
        """Nothing is left."""


class ParquetWriter:
    """Parquet, compressed with zstd; JSON as text. The schema's metadata has its kind and number."""

    def __init__(self, stream: IO[bytes], kind: str, columns: Sequence[Column]) -> None:
        from pyarrow import parquet

        self._schema = _arrow_schema(kind, columns)
        self._sink = _Sink(stream)
        self._file = parquet.ParquetWriter(self._sink, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def write(self, row: Row) -> None:
        """Take one, and write them when there are enough."""
        self._rows.append(row)
        if len(self._rows) == BATCH_ROWS:
            self._flush()

    def finish(self) -> None:
        """Write what is left and the footer, without which it is no Parquet."""
        if self._rows:
            self._flush()
        self._file.close()

    def abandon(self) -> None:
        """Write no footer."""
        self._sink.open = False
        self._file.close()

    def _flush(self) -> None:
        import pyarrow as pa

        self._file.write_batch(pa.RecordBatch.from_pylist(self._rows, self._schema))
        self._rows = []


class _Sink:
    """A stream as the library wants it: also a pipe tells where it is, and what it is not to have is dropped.

    Attributes:
        open: whether anything is still written.
    """

    closed = False

    def __init__(self, stream: IO[bytes]) -> None:
        self.open = True
        self._stream = stream
        self._position = 0

    def write(self, data: bytes) -> int:
        if self.open:
            self._stream.write(data)
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """The stream is flushed by whoever closes it."""

    def close(self) -> None:
        """It is somebody else's."""


def _arrow_schema(kind: str, columns: Sequence[Column]) -> pa.Schema:
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
        "json": pa.string(),
    }
    fields = [pa.field(column.name, types[column.kind]) for column in columns]
    return pa.schema(fields, {"botarena.schema": str(SCHEMA), "botarena.kind": kind})


WRITERS: Mapping[str, Callable[[IO[bytes], str, Sequence[Column]], Writer]] = {
    "csv": CsvWriter,
    "jsonl": JsonLinesWriter,
    "parquet": ParquetWriter,
}
"""By format, which is also the ending of its files."""


@contextmanager
def table_writer(out: Path | None, form: str, kind: str, columns: Sequence[Column]) -> Iterator[Writer]:
    """A writer of a table until the end of the block.

    Args:
        out: the file; None: standard output.
        form: one of `WRITERS`.
        kind: what a row is.
        columns: of the table.

    Raises:
        UsageError: it cannot be written there.
    """
    with whole_file(out) if out is not None else _stdout(form) as stream:
        writer = WRITERS[form](stream, kind, columns)
        try:
            yield writer
            writer.finish()
        except BaseException:
            writer.abandon()
            raise


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to be written, which gets its name at the end of the block; if that fails nothing is left.

    Raises:
        UsageError: it cannot be written there.
    """
    path = path.resolve()  # a link stays one
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        is_other = path.exists() and not path.is_file()
        file = None if is_other else part.open("xb")
    except OSError as error:
        raise _unwritable(path, str(error.strerror)) from error
    if file is None:
        raise _unwritable(path, "there is something that is no file")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _unwritable(path: Path, why: str) -> UsageError:
    return UsageError(f"{path} cannot be written", why, "name another file")


@contextmanager
def _stdout(form: str) -> Iterator[IO[bytes]]:
    """Standard output, unless people would get to see bytes that are not for them."""
    if form == "parquet" and sys.stdout.isatty():
        raise UsageError(
            "a terminal cannot show Parquet",
            "it is not text",
            "name a file: --out FILE, or take --format csv",
        )
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
