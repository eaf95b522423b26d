"""How commands speak: data on stdout, talk on stderr, colours only on a terminal."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from arena.errors import ArenaError
from arena.text import printable

if TYPE_CHECKING:  # loaded where something is drawn
    from rich.console import Console
    from rich.table import Table

LINE_EVERY_S = 5.0
"""How often progress is told without a terminal."""
REDRAW_EVERY_S = 0.5
"""How often progress is drawn on a terminal."""

SCHEMA = 2
"""Raised when a field of any JSON output changes its meaning or goes away."""


T = TypeVar("T")
_Show = Callable[[int, str, str], object]
"""Shows how many items are done, of what, and a line about it."""


class Output:
    """What a command writes to.

    Attributes:
        json: data as JSON lines instead of tables.
        csv: tables as CSV.
        quiet: no talk but errors.
        verbose: 0; 1 for more talk; 2 also for tracebacks.
    """

    def __init__(self) -> None:
        self.json = False
        self.csv = False
        self.quiet = False
        self.verbose = 0
        self.color = True

    def set(self, *, as_json: bool, as_csv: bool, quiet: bool, verbose: int, color: bool) -> None:
        """Take the global options."""
        self.json, self.csv, self.quiet, self.verbose, self.color = as_json, as_csv, quiet, verbose, color

    def stdout(self) -> Console:
        """A console for data."""
        return self._console(stderr=False)

    def stderr(self) -> Console:
        """A console for talk."""
        return self._console(stderr=True)

    def _console(self, *, stderr: bool) -> Console:
        from rich.console import Console

        stream = sys.stderr if stderr else sys.stdout
        plain = not self.color or not stream.isatty() or "NO_COLOR" in os.environ
        # What is shown has names and labels of strangers in it: no text of ours or theirs is markup.
        return Console(
            stderr=stderr,
            no_color=plain,
            markup=False,
            emoji=False,
            highlight=False,
            width=self.width(stream),
            soft_wrap=True,
        )

    def width(self, stream: TextIO) -> int:
        """Columns that a table on a stream may take."""
        # Without a terminal nobody's window is too narrow: a table keeps its lines whole.
        return shutil.get_terminal_size().columns if stream.isatty() else 200

    # data

    def table(
        self, name: str, rows: Sequence[Mapping[str, Any]], drawn: Callable[[], Table], title: str = ""
    ) -> None:
        """A table: JSON lines or CSV of its rows if asked for, else as drawn, under its title."""
        if self.json:
            self.lines(name, rows)
        elif self.csv:
            self.csv_rows(rows)
        else:
            if title:
                self.text(title)
            self.stdout().print(drawn(), soft_wrap=False)

    def lines(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """JSON lines, each with its kind and the schema's number."""
        for row in rows:
            print(json.dumps({"schema": SCHEMA, "kind": name, **row}), flush=True)

    def csv_rows(self, rows: Sequence[Mapping[str, Any]], head: bool = True) -> None:
        """CSV. Text that a spreadsheet would take for a formula is quoted out of it."""
        write = csv_writer(sys.stdout.write)
        if rows and head:
            write(rows[0].keys())
        for row in rows:
            write(row.values())

    def text(self, text: str) -> None:
        """A line of data for people."""
        _print(text, sys.stdout)

    # talk

    def say(self, text: str) -> None:
        """A line of talk."""
        if not self.quiet:
            _print(text, sys.stderr)

    def track(self, items: Iterable[T], total: int, what: str) -> Iterator[T]:
        """Pass items on and show how far it is: a bar on a terminal, a line every few seconds elsewhere."""
        with self._bar(what, total) if self.live else nullcontext(self._progress) as show:
            began = shown = time.monotonic()
            for done, item in enumerate(items, 1):
                yield item
                now = time.monotonic()
                if now - shown >= (REDRAW_EVERY_S if self.live else LINE_EVERY_S):
                    shown = now
                    show(done, what, progress_line(done, total, done / (now - began)))

    @contextmanager
    def _bar(self, what: str, total: int) -> Iterator[_Show]:
        """A bar until the end of the block."""
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn(what), BarColumn(), TextColumn("{task.fields[line]}"))
        with Progress(*columns, console=self.stderr(), transient=True) as bar:
            task = bar.add_task(what, total=total, line="")
            yield lambda done, what, line: bar.update(task, completed=done, line=line)

    def _progress(self, done: int, what: str, line: str) -> None:
        """A line instead of a bar."""
        self.say(f"{what}: {line}")

    @property
    def live(self) -> bool:
        """Whether what goes on may be drawn while it does."""
        return sys.stderr.isatty() and not self.quiet

    def error(self, error: ArenaError) -> None:
        """An error: what, why, what to do."""
        from rich.text import Text

        console = self.stderr()
        console.print(Text.assemble(("error:", "bold red"), f" {printable(error.what)}"))
        console.print(f"why: {printable(error.why)}")
        console.print(f"do: {printable(error.do)}")
        if self.verbose >= 2:
            traceback.print_exception(error, file=sys.stderr)


OUT = Output()
"""The output of this process."""


def progress_line(done: int, total: int, rate: float, at_most: bool = False) -> str:
    """How far something is, how fast it goes and when it will be done, at the latest if total is the most."""
    few = "≤" if at_most else ""
    share = f"{100 * done / total:.0f} %"
    return f"{done}/{few}{total}  {share}  {rate:,.1f}/s  ETA {few}{eta_text((total - done) / rate)}"


def eta_text(seconds: float) -> str:
    """A time that something will yet take, as minutes and seconds."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"


# What rings a bell, or moves or wipes what is written already. Colour codes are `printable`'s business.
_CONTROL = dict.fromkeys((7, 8, 11, 12, 13))


def _print(text: str, stream: TextIO) -> None:
    print(text.translate(_CONTROL).expandtabs(), file=stream, flush=True)


def csv_writer(write: Callable[[str], object]) -> Callable[[Iterable[Any]], None]:
    """What writes values as a line of CSV: nested data as JSON, and no cell that is a formula.

    Args:
        write: takes the text of a line.
    """
    # The module quotes what would end its own lines: a lone \r in a text would end them for others.
    lines = csv.writer(_Lines(write), lineterminator="\r\n")
    return lambda values: lines.writerow(map(_csv_cell, values))


class _Lines:
    """Takes lines that end in \\r\\n and ends them in \\n."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def write(self, line: str) -> object:
        return self._write(f"{line[:-2]}\n")


FORMULA_BEGINS = frozenset("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 - these look alike, and some programs take them
"""Characters at which some spreadsheet takes a text for a formula."""


def _csv_cell(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in FORMULA_BEGINS:
        return "'" + value
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value)
    return value
