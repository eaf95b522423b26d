"""`arena leaderboard`: any selection of matches, rated."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arena.cli.common import DEFAULT_DB, DbOption
from arena.cli.filters import (
    BeforeOption,
    BotsOption,
    OnlyOption,
    OptionsOption,
    SeatsOption,
    SinceOption,
    TournamentsOption,
)
from arena.cli.output import OUT
from arena.cli.results import show_details, show_standings
from arena.cli.source import open_source
from arena.cli.tables import HISTORY_TITLE, OVERALL_TITLE, history_table, overall_table
from arena.errors import UsageError
from arena.runs.selecting import Filters, nothing_fits


def leaderboard(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Only of this game.")] = None,
    tournament: TournamentsOption = None,
    bot: BotsOption = None,
    only: OnlyOption = False,
    option: OptionsOption = None,
    seats: SeatsOption = None,
    since: SinceOption = None,
    before: BeforeOption = None,
    overall: Annotated[bool, typer.Option("--overall", help="One rating over all games.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Ratings against matches played.")] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Also who is surely better, seats, and luck.")
    ] = False,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Rating with its uncertainty, places, results and faults of every bot: of the newest tournament, or of
    all matches that fit what is asked for, apart by the game's options."""
    if overall and (game or history):
        raise UsageError(
            "--overall means nothing here", "it is over all games, and has no history", "leave out the rest"
        )
    filters = Filters(game, tournament or (), bot or (), only, (), option or (), seats, since, before)
    with open_source(db) as source:
        if overall:
            _show_overall(source.overall(filters))
            return
        shown = 0
        for board in source.leaderboards(filters, details and not history, history, newest=True):
            _show(board, history, details)
            shown += 1
        if not shown:
            raise nothing_fits()


def _show(board: dict[str, Any], history: bool, details: bool) -> None:
    from arena.runs.boards import title_of

    names = {"game": board["game"], "options": board["options"]}
    if not OUT.json and not OUT.csv:
        OUT.text(title_of(names, board["matches"]))
    if history:
        order = [row["bot"] for row in board["standings"]]
        points = [names | point for point in board["history"]]
        OUT.table("history", points, lambda: history_table(points, order), HISTORY_TITLE)
        return
    show_standings(board, pairs=details, names=names)
    if details and not OUT.csv:
        show_details(board, names=names)


def _show_overall(whole: dict[str, Any]) -> None:
    rows, games = whole["rows"], whole["games"]
    if not OUT.json and not OUT.csv:
        OUT.text("\n".join(whole["played"]))
    OUT.table("overall", rows, lambda: overall_table(rows, games), OVERALL_TITLE)
    for row in whole["missing"]:
        lacking = ", ".join(row["games"])
        OUT.say(f"{row['bot']} has no overall rating: no match of {lacking} with these options")
