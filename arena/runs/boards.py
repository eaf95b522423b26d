"""Leaderboards as plain data: what `--json` prints, and a server tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.errors import UsageError
from arena.games import GAMES, find_game
from arena.runs.rows import told
from arena.runs.selecting import Filters, OptionSet, nothing_fits, option_sets, tournaments_game
from arena.store.selection import Selection, entrants
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.report import Report, anchor_of
from arena.tournament.several import as_of_one

if TYPE_CHECKING:
    from arena.store.store import Store

Row: TypeAlias = dict[str, Any]
Matches: TypeAlias = Iterable[tuple[StoredTournament, StoredMatch]]
Track: TypeAlias = Callable[[Matches, int, str], Iterator[tuple[StoredTournament, StoredMatch]]]
"""Passes matches on, of which there are so many, and tells how far they are read, and what for."""
_POINTS = 20
"""Points of a rating history."""


def untold(matches: Matches, total: int, what: str) -> Iterator[tuple[StoredTournament, StoredMatch]]:
    """Passes them on and tells nothing."""
    yield from matches


@dataclass(frozen=True, slots=True)
class Board:
    """A leaderboard: matches of one game with one set of options.

    Attributes:
        selection: its matches.
        matches: how many they are.
        names: game and options, as data.
    """

    selection: Selection
    matches: int
    names: Row

    @property
    def title(self) -> str:
        """Its name for people."""
        return title_of(self.names, self.matches)


def title_of(names: Mapping[str, Any], matches: int) -> str:
    """What people call a board.

    Args:
        names: its game and options.
        matches: how many it is of.
    """
    options = ", ".join(f"{key}={value}" for key, value in names["options"].items()) or "none"
    return f"{names['game']} · options {options} · {matches} matches"


def asked_for(store: Store, filters: Filters, newest: bool = False) -> Selection:
    """The selection whose leaderboards somebody wants.

    Args:
        store: where it is.
        filters: what he asks for.
        newest: whether he means the newest tournament, where he asks for nothing.

    Raises:
        ArenaError, GameError: what of it means nothing, or that there is nothing of the kind.
    """
    if newest and filters.is_empty:
        filters = Filters(tournaments=[store.tournament().name])
    selection = replace(filters.selection(store), rated=not filters.tournaments)
    return replace(selection, game=tournaments_game(store.chosen(selection), "a leaderboard is of one").name)


def boards_of(store: Store, selection: Selection, count: Callable[[Board], int] | None = None) -> list[Board]:
    """One board for each set of options with which there are matches of the selection's game.

    Args:
        store: where they are.
        selection: all of them.
        count: how many a board has, which has not counted them itself; if left out, they are counted.
    """
    assert selection.game is not None
    game = find_game(selection.game)
    boards = (_board(selection, game.name, each) for each in option_sets(store, game))
    counted = (
        replace(board, matches=count(board) if count else store.count(board.selection))
        for board in boards
        if board.selection.options
    )
    return [board for board in counted if board.matches]


def _board(selection: Selection, game: str, options: OptionSet) -> Board:
    wanted = selection.options
    stored = tuple(each for each in options.stored if wanted is None or each in wanted)
    chosen = replace(selection, game=game, options=stored)
    return Board(chosen, 0, {"game": game, "options": dict(options.options)})


def labels_of(chosen: Iterable[StoredTournament]) -> tuple[dict[tuple[str, str], str], str | None]:
    """What the bots of tournaments are called, and which of them is rated 0."""
    tournaments = list(chosen)
    labels = entrants(tournaments)
    anchors = (bot for of in tournaments for bot in of.bots if bot.name == anchor_of(of))
    return labels, next((labels[bot.name, bot.version] for bot in anchors), None)


def board_report(
    store: Store, selection: Selection, history: bool = False, track: Track = untold
) -> tuple[Report, list[Row]]:
    """The report of a selection, and its ratings at points on the way if they are wanted.

    Raises:
        NotFoundError: there is no match.
    """
    chosen = store.chosen(selection)
    labels, anchor = labels_of(chosen)
    total = store.count(selection)
    every = max(1, -(-total // _POINTS)) if history else 0
    points: list[Row] = []
    report = Report(chosen[0].game, anchor)
    for record in as_of_one(track(store.selected(selection), total, "rating"), labels):
        report.add(record)
        if every and report.matches % every == 0:
            points += _points(report)
    if not report.matches:
        raise nothing_fits()
    if every and report.matches % every:
        points += _points(report)
    return report, points


def _points(report: Report) -> list[Row]:
    """A point of every bot's history."""
    columns = ("bot", "mu", "sigma", "rank_low", "rank_high", "matches")
    return [{"at": report.matches, **{name: row[name] for name in columns}} for row in report.rows()]


def told_tournament(
    store: Store, tournament: StoredTournament, details: bool = False, track: Track = untold
) -> Row:
    """The leaderboard of a tournament, of which perhaps nothing is stored yet."""
    report = Report(tournament.game, anchor_of(tournament))
    selection = Selection(tournaments=(tournament.name,))
    labels, _ = labels_of([tournament])
    for record in as_of_one(track(store.selected(selection), store.count(selection), "rating"), labels):
        report.add(record)
    return told(report, details)


# over all games


def overall(
    store: Store,
    filters: Filters,
    report_of: Callable[[Board], Report],
    count: Callable[[Board], int] | None = None,
) -> Row:
    """One rating over all games that were played, each with the options with which it was played most.

    Args:
        report_of: makes the report of a board.
        count: as for `boards_of`.

    Raises:
        UsageError: one game is named.
        NotFoundError: there is no match.
    """
    from arena.ratings.overall import overall as combine

    if filters.game is not None:
        raise UsageError("--overall means nothing here", "it is over all games", "leave out the game")
    selection = replace(filters.selection(store), rated=not filters.tournaments)
    fits, played = {}, []
    for name in GAMES:
        if boards := boards_of(store, replace(selection, game=name), count):
            board = max(boards, key=lambda board: board.matches)
            fits[name] = report_of(board).standings.fit()
            played.append(board.title)
    if not fits:
        raise nothing_fits()
    whole = combine(fits)
    return {
        "rows": _overall_rows(whole.skills, whole.by_game),
        "games": list(fits),
        "played": played,
        "missing": [{"bot": bot, "games": games} for bot, games in whole.missing.items()],
    }


def _overall_rows(skills: Iterable[Any], by_game: Mapping[str, Mapping[str, float]]) -> list[Row]:
    return [
        {
            "rank_low": skill.low,
            "rank_high": skill.high,
            "group": skill.group,
            "bot": skill.bot,
            "mu": skill.mu,
            "sigma": skill.sigma,
            "games": {game: ratings[skill.bot] for game, ratings in sorted(by_game.items())},
        }
        for skill in skills
    ]
