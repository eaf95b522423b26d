"""`arena export`: selected matches as tables for other programs, or as record files."""

from __future__ import annotations

import enum
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.common import DEFAULT_DB, DbOption
from arena.cli.filters import (
    BeforeOption,
    BotsOption,
    GameOption,
    OnlyOption,
    OptionsOption,
    SeatsOption,
    SinceOption,
    TournamentsOption,
)
from arena.cli.output import OUT
from arena.cli.results import PrivateOption, write_record
from arena.cli.source import Source, ToldRecord, only_here, open_source
from arena.cli.writers import WRITERS, table_writer
from arena.errors import UsageError
from arena.runs.selecting import Filters, nothing_fits
from arena.tournament.export import PLACE, TABLES, Column, Played, as_table


class What(enum.StrEnum):
    """What can be exported."""

    MATCHES = "matches"
    SEATS = "seats"
    DECISIONS = "decisions"
    STANDINGS = "standings"
    RECORDS = "records"


class Format(enum.StrEnum):
    """How tables are written; the endings of their files."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


def export(
    what: Annotated[What, typer.Argument(metavar="matches|seats|decisions|standings|records")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where to; standard output if left out. DIR for records."),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="By the ending of FILE if left out; of standard output jsonl."),
    ] = None,
    private: PrivateOption = False,
    game: GameOption = None,
    tournament: TournamentsOption = None,
    bot: BotsOption = None,
    only: OnlyOption = False,
    option: OptionsOption = None,
    seats: SeatsOption = None,
    since: SinceOption = None,
    before: BeforeOption = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Write matches as a table: all that are stored, or those that the filters leave."""
    filters = Filters(game, tournament or (), bot or (), only, (), option or (), seats, since, before)
    written_as = _format(form, out)
    if private and what is not What.RECORDS:
        raise UsageError(
            f"{what.value} know no --private", "why bots failed stands in records alone", "leave it out"
        )
    if what is What.RECORDS and form is not None:
        raise UsageError("records have no --format", "each is kept as it was sealed", "leave it out")
    if private:
        only_here("an export of what is private")
    with open_source(db) as source, _ended_like_interrupted():
        try:
            if what is What.RECORDS:
                _records(source, filters, out, private)
            elif what is What.STANDINGS:
                _standings(source, filters, out, written_as)
            else:
                _table(source, filters, what, out, written_as)
        except KeyboardInterrupt:
            OUT.say(f"interrupted: {'the table is not whole' if out is None else f'{out} was not written'}")
            raise


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """Within the block SIGTERM is what Ctrl-C is, so that nothing half is left by it either."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def help_text() -> str:
    """What the command says of itself, with all columns."""
    lines = [export.__doc__ or "", "", "\b", "Every row of matches, seats and decisions begins with:"]
    lines += map(_column_line, PLACE)
    for name, table in TABLES.items():
        lines += ["", "\b", f"{name}: {table.help}, then with:"]
        lines += map(_column_line, table.columns[len(PLACE) :])
    lines += [""]
    lines += ["\b", "standings: a row for each bot, as arena leaderboard --json", ""]
    lines += [
        "\b",
        "records: a file for each match, DIR/TOURNAMENT/MATCH.record, as arena verify reads it;",
        "  without what is known about why bots failed, unless --private is given",
    ]
    return "\n".join(lines)


def _column_line(column: Column) -> str:
    return f"  {column.name} ({column.kind}) {column.help}".rstrip()


def _format(form: Format | None, out: Path | None) -> str:
    """The format that is meant by --format, --csv, --json or the ending of the file."""
    flags = [name for name, given in (("csv", OUT.csv), ("jsonl", OUT.json)) if given]
    named = [*flags, *([form.value] if form is not None else [])]
    if len(set(named)) > 1:
        raise UsageError("two formats are asked for", " and ".join(named), "choose one with --format")
    ending = out.suffix.removeprefix(".") if out is not None else ""
    return (named or [ending if ending in WRITERS else Format.JSONL.value])[0]


def _table(source: Source, filters: Filters, what: What, out: Path | None, form: str) -> None:
    table = TABLES[what.value]
    count = 0
    # The first is read before the file is made: there may be none.
    matches = _begun(source.records(filters, "exporting"))
    with table_writer(out, form, table.row, table.columns) as writer:
        for told in matches:
            for row in table.rows(Played(told.match, told.tournament, told.block, told.record())):
                writer.write(row)
                count += 1
    _say_written(count, what, out)


def _begun(records: Iterator[ToldRecord]) -> Iterator[ToldRecord]:
    return chain([first] if (first := next(records, None)) is not None else [], records)


def _standings(source: Source, filters: Filters, out: Path | None, form: str) -> None:
    boards = list(source.leaderboards(filters))
    if not boards:
        raise nothing_fits()
    columns, rows = as_table(
        [
            {"game": board["game"], "options": board["options"], **row}
            for board in boards
            for row in board["standings"]
        ]
    )
    with table_writer(out, form, "standing", columns) as writer:
        for row in rows:
            writer.write(row)
    _say_written(len(rows), What.STANDINGS, out)


def _records(source: Source, filters: Filters, out: Path | None, private: bool) -> None:
    if out is None:
        raise UsageError("records need a folder", "each match is a file", "name one: --out DIR")
    count = 0
    for told in source.records(filters, "exporting"):
        write_record(out / told.tournament, told, private)
        count += 1
    _say_written(count, What.RECORDS, out)


def _say_written(count: int, what: What, out: Path | None) -> None:
    if out is not None:
        OUT.say(f"{count} {what.value}: {out}")
