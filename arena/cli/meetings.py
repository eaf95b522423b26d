"""`arena head-to-head`: two bots against each other, and every match in which both sat."""

from __future__ import annotations

from collections import deque
from typing import Annotated, Any

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
from arena.cli.source import open_source
from arena.cli.tables import plain_table
from arena.runs.selecting import Filters

SHOWN = 20
"""Matches that a person is shown; data has all."""

_Row = dict[str, Any]


def head_to_head(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="NAME, or NAME@VERSION.")],
    against: Annotated[str, typer.Argument(metavar="AGAINST", help="Likewise.")],
    game: GameOption = None,
    tournament: TournamentsOption = None,
    bots: BotsOption = None,
    only: OnlyOption = False,
    option: OptionsOption = None,
    seats: SeatsOption = None,
    since: SinceOption = None,
    before: BeforeOption = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """How BOT fared against AGAINST: share of matches in which it ranked above, by seat, and the matches.

    Ties count half. The 95 % interval takes blocks, not matches, as independent. --csv gives the matches.
    """
    filters = Filters(
        game, tournament or (), bots or (), only, (bot, against), option or (), seats, since, before
    )
    with open_source(db) as source:
        rows, ends = source.meetings(filters)
        if OUT.csv:
            for first, row in enumerate(rows):
                OUT.csv_rows([row], head=not first)
        elif OUT.json:
            OUT.lines("head_to_head_match", rows)
            by_seat, summary = ends()
            OUT.lines("head_to_head_seat", by_seat)
            OUT.lines("head_to_head", [summary])
        else:
            last = deque(rows, maxlen=SHOWN)
            _show(*ends(), last)


def _show(by_seat: list[_Row], summary: _Row, last: deque[_Row]) -> None:
    OUT.text(_headline(summary))
    heads = ("seat", "share", "95 %", "matches", "W–D–L", "mean margin")
    cells = [[f"{row['seat']}", *_cells(row)] for row in by_seat]
    OUT.stdout().print(plain_table(heads, [*cells, ["all", *_cells(summary)]]), soft_wrap=False)
    more = summary["matches"] + summary["void"] - len(last)
    if more > 0:
        OUT.text(f"the last {len(last)} matches; for {more} more: --json or --csv")
    columns = ("name", "verdict", "seat", "rank", "against_rank", "score", "against_score")
    listed = [["–" if row[column] is None else row[column] for column in columns] for row in last]
    titles = ("match", "verdict", "seat", "rank", "its rank", "score", "its score")
    OUT.stdout().print(plain_table(titles, listed), soft_wrap=False)
    OUT.text(f"replay: arena replay {last[-1]['name']}")


def _headline(summary: _Row) -> str:
    names = f"{summary['bot']} against {summary['against']}"
    if not summary["matches"]:
        return f"{names}: all {summary['void']} matches are void"
    return (
        f"{names}: it ranked above in {_percent(summary['share'])} % of {summary['matches']} matches, "
        f"ties half; 95 % interval {_interval(summary)} %"
        + (f"; {summary['void']} more are void" if summary["void"] else "")
    )


def _cells(row: _Row) -> list[str]:
    if not row["matches"]:
        return ["–"] * 5
    return [
        _percent(row["share"]),
        _interval(row),
        str(row["matches"]),
        f"{row['wins']}–{row['draws']}–{row['losses']}",
        f"{row['mean_margin']:+.2f}",
    ]


def _interval(row: _Row) -> str:
    return f"{_percent(row['low'])}–{_percent(row['high'])}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
