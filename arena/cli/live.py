"""Live progress of a run: a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from botarena.v1.record_pb2 import MatchRecord

from arena.cli.output import LINE_EVERY_S, OUT, REDRAW_EVERY_S, eta_text, progress_line
from arena.cli.tables import standings_table
from arena.runs.names import is_open
from arena.store.stored import StoredTournament
from arena.tournament.formats import ENDLESS, Outlook

if TYPE_CHECKING:  # loaded for a terminal alone
    from rich.console import Group
    from rich.live import Live

    from arena.tournament.report import Report

_RATING_SHARE = 0.05
"""Share of the time that a live table may take for its ratings; those at the end are of all matches."""


class Progress:
    """Adds up what is played and shows it.

    Args:
        tournament: what is played.
        before: matches that were stored before this run.
        outlook: tells how near it is to an answer, if it ends with one.
    """

    def __init__(
        self, tournament: StoredTournament, before: int, outlook: Callable[[], Outlook | None] = lambda: None
    ) -> None:
        self._tournament = tournament
        self._outlook = outlook
        self._before = before
        self._matches = self._decisions = self._faults = 0
        # Only a live table needs ratings now: they cost as much as playing. They fold in the order
        # of arrival, and the final tables in the schedule's.
        self._report: Report | None = None
        self._rating_s = 0.0
        self._began = time.monotonic()
        self._shown = self._began
        # Rate and ETA count from the first result on: before it the bots were starting.
        self._first: tuple[float, int] | None = None
        self._live: Live | None = None

    @contextmanager
    def shown(self) -> Iterator[Progress]:
        """Show it until the end of the block."""
        if not OUT.live:
            yield self
            return
        from rich.live import Live

        from arena.tournament.report import Report, anchor_of

        self._report = Report(self._tournament.game, anchor_of(self._tournament), live=True)
        with Live(self._picture(), console=OUT.stderr(), auto_refresh=False, transient=True) as self._live:
            yield self
        self._live = None

    def add(self, records: list[MatchRecord]) -> None:
        """Count the matches of a block."""
        for record in records:
            self._matches += 1
            self._decisions += len(record.seats)
            self._faults += len(record.faults)
        if self._report is not None:
            self._rate(self._report, records)
        now = time.monotonic()
        self._first = self._first or (now, self._matches)
        if self._live is not None:
            if now - self._shown >= REDRAW_EVERY_S:
                self._shown = now
                self._live.update(self._picture(), refresh=True)
        elif now - self._shown >= LINE_EVERY_S:
            self._shown = now
            OUT.say(self._line())

    def _rate(self, report: Report, records: list[MatchRecord]) -> None:
        """Rate as many as there is time for: rating a match of quick bots takes longer than playing it."""
        allowed = _RATING_SHARE * (time.monotonic() - self._began) - self._rating_s
        begin = time.monotonic()
        for record in records:
            if time.monotonic() - begin > allowed:
                break
            report.add(record)
        self._rating_s += time.monotonic() - begin

    def summary(self) -> str:
        """What this run did, in a line."""
        seconds = time.monotonic() - self._began
        played = f"{self._matches} match{'' if self._matches == 1 else 'es'}"
        matches = self._matches / seconds
        shown = f"{matches:,.0f}" if matches >= 10 else f"{matches:.1f}"
        rates = f"{shown} matches/s, {self._decisions / seconds:,.0f} decisions/s"
        return f"{played}, {self._decisions} decisions in {seconds:.1f} s ({rates})"

    @property
    def _done(self) -> int:
        return self._before + self._matches

    def _line(self) -> str:
        since, matches = self._first or (self._began, 0)
        rate = (self._matches - matches) / max(time.monotonic() - since, 1e-9)
        total = self._tournament.matches
        line = f"{self._done}/{total}  starting"
        if total == ENDLESS:
            line = f"{self._done} matches  {rate:,.1f}/s"
        elif rate and (outlook := self._outlook()):
            line = f"{self._done}/≤{total}  {rate:,.1f}/s  {_outlook_text(outlook, rate)}"
        elif rate:
            line = progress_line(self._done, total, rate, is_open(self._tournament))
        return f"{line}  faults {self._faults}"

    def _picture(self) -> Group:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        bar = Table.grid(padding=(0, 2))
        bar.add_row(
            ProgressBar(total=self._tournament.matches, completed=self._done, width=36), Text(self._line())
        )
        report = self._report
        rows = report.rows() if report is not None else []
        if report is not None and 0 < report.matches < self._matches:
            bar.add_row(Text(f"ratings so far from {report.matches} of them"))
        return Group(bar, standings_table(rows, OUT.width(sys.stderr))) if rows else Group(bar)


def _outlook_text(outlook: Outlook, rate: float) -> str:
    """How near it is to an answer, and when that will be there as far as can be told."""
    if outlook.matches is None:
        return outlook.text
    return f"{outlook.text}, about {outlook.matches:,} matches to go  ETA {eta_text(outlook.matches / rate)}"
