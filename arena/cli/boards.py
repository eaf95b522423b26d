"""`arena leaderboard`: any selection of matches, rated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.common import DEFAULT_DB, DbOption, open_store
from arena.cli.filters import (
    BeforeOption,
    BotsOption,
    Filters,
    OnlyOption,
    OptionSet,
    OptionsOption,
    SeatsOption,
    SinceOption,
    TournamentsOption,
    nothing_fits,
    option_sets,
    tournaments_game,
    tracked,
)
from arena.cli.output import OUT
from arena.cli.results import show_details, show_standings
from arena.cli.tables import HISTORY_TITLE, OVERALL_TITLE, history_table, overall_table
from arena.errors import UsageError
from arena.games import GAMES, find_game
from arena.store.selection import Selection, entrants

if TYPE_CHECKING:
    from arena.store.store import Store
    from arena.tournament.report import Report

_POINTS = 20
"""Points of a rating history."""


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
    with open_store(db) as store:
        if not any((game, tournament, bot, option, seats, since, before, overall)):
            tournament = [store.tournament().name]
        filters = Filters(game, tournament or (), bot or (), only, (), option or (), seats, since, before)
        selection = filters.selection(store)
        if overall:
            _show_overall(store, selection)
            return
        game_meant = tournaments_game(store.chosen(selection), "a leaderboard is of one").name
        boards = _boards(store, replace(selection, game=game_meant))
        if not boards:
            raise nothing_fits()
        for board in boards:
            _show(store, board, history, details)


@dataclass(frozen=True, slots=True)
class _Board:
    """A leaderboard: matches of one game with one set of options.

    Attributes:
        selection: its matches.
        matches: how many they are.
        names: game and options, as data.
    """

    selection: Selection
    matches: int
    names: dict[str, Any]

    @property
    def title(self) -> str:
        """Its name for people."""
        options = ", ".join(f"{key}={value}" for key, value in self.names["options"].items()) or "none"
        return f"{self.names['game']} · options {options} · {self.matches} matches"


def _boards(store: Store, selection: Selection) -> list[_Board]:
    """One board for each set of options with which there are matches of the selection's game."""
    assert selection.game is not None
    game = find_game(selection.game)
    boards = (_board(store, selection, game.name, each) for each in option_sets(store, game))
    return [board for board in boards if board is not None]


def _board(store: Store, selection: Selection, game: str, options: OptionSet) -> _Board | None:
    wanted = selection.options
    stored = tuple(each for each in options.stored if wanted is None or each in wanted)
    chosen = replace(selection, game=game, options=stored)
    matches = store.count(chosen) if stored else 0
    names = {"game": game, "options": dict(options.options)}
    return _Board(chosen, matches, names) if matches else None


def _show(store: Store, board: _Board, history: bool, details: bool) -> None:
    if not OUT.json and not OUT.csv:
        OUT.text(board.title)
    report, points = _report(store, board.selection, history)
    if history:
        order = [row["bot"] for row in report.rows()]
        points = [board.names | point for point in points]
        OUT.table("history", points, lambda: history_table(points, order), HISTORY_TITLE)
        return
    show_standings(report, pairs=details, names=board.names)
    if details and not OUT.csv:
        show_details(report, names=board.names)


def _report(store: Store, selection: Selection, history: bool) -> tuple[Report, list[dict[str, Any]]]:
    """The report of a selection, and its ratings at points on the way if they are wanted."""
    from arena.tournament.report import Report, anchor_of
    from arena.tournament.several import as_of_one

    chosen = store.chosen(selection)
    labels = entrants(chosen)
    anchors = (bot for of in chosen for bot in of.bots if bot.name == anchor_of(of))
    anchor = next((labels[bot.name, bot.version] for bot in anchors), None)
    report = Report(chosen[0].game, anchor)
    every = max(1, -(-store.count(selection) // _POINTS)) if history else 0
    points: list[dict[str, Any]] = []
    for record in as_of_one(tracked(store, selection, "rating"), labels):
        report.add(record)
        if every and report.matches % every == 0:
            points += _points(report)
    if every and report.matches % every:
        points += _points(report)
    return report, points


def _points(report: Report) -> list[dict[str, Any]]:
    """A point of every bot's history."""
    columns = ("bot", "mu", "sigma", "rank_low", "rank_high", "matches")
    return [{"at": report.matches, **{name: row[name] for name in columns}} for row in report.rows()]


def _show_overall(store: Store, selection: Selection) -> None:
    """One rating over all games that were played, each with the options with which it was played most."""
    from arena.ratings.overall import overall as combine

    fits, played = {}, []
    for name in GAMES:
        boards = _boards(store, replace(selection, game=name))
        if boards:
            board = max(boards, key=lambda board: board.matches)
            fits[name] = _report(store, board.selection, history=False)[0].standings.fit()
            played.append(board.title)
    if not fits:
        raise nothing_fits()
    whole = combine(fits)
    rows = _overall_rows(whole.skills, whole.by_game)
    if not OUT.json and not OUT.csv:
        OUT.text("\n".join(played))
    OUT.table("overall", rows, lambda: overall_table(rows, list(fits)), OVERALL_TITLE)
    for bot, games in whole.missing.items():
        OUT.say(f"{bot} has no overall rating: no match of {', '.join(games)} with these options")


def _overall_rows(skills: Sequence[Any], by_game: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    return [
        {
            "rank_low": skill.low,
            "rank_high": skill.high,
            "group": skill.group,
            "bot": skill.bot,
            "mu": skill.mu,
            "sigma": skill.sigma,
            "games": {game: ratings[skill.bot] for game, ratings in by_game.items()},
        }
        for skill in skills
    ]
