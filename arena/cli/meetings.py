"""`arena head-to-head`: two bots against each other, and every match in which both sat."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from botarena.v1.record_pb2 import MatchRecord

from arena.cli.common import DEFAULT_DB, DbOption, open_store
from arena.cli.filters import (
    BeforeOption,
    BotsOption,
    Filters,
    GameOption,
    OnlyOption,
    OptionsOption,
    SeatsOption,
    SinceOption,
    TournamentsOption,
    tournaments_game,
    tracked,
)
from arena.cli.output import OUT
from arena.cli.tables import plain_table
from arena.errors import NotFoundError, UsageError
from arena.match.verdicts import RATED, verdict_name
from arena.ratings.meetings import HeadToHead, Meeting, Tally
from arena.runs.names import match_name, match_number
from arena.store.selection import BlockNumbers, BotFilter, Selection
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.several import selected_record

if TYPE_CHECKING:
    from arena.store.store import Store

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
    if bot == against:
        raise UsageError(f"{bot} cannot meet itself", "both names are the same", "name two bots")
    filters = Filters(
        game, tournament or (), bots or (), only, (bot, against), option or (), seats, since, before
    )
    with open_store(db) as store:
        selection = filters.selection(store)
        if not store.count(selection):
            raise NotFoundError(
                f"{bot} and {against} have not met",
                "no stored match that fits all that was asked for has both",
                f"run: arena tournament run GAME {bot} {against}",
            )
        tournaments_game(store.chosen(selection), "scores of different games do not add up")
        encounters = _Encounters(*map(BotFilter.parse, (bot, against)))
        rows = encounters.rows(store, selection)
        if OUT.csv:
            for first, row in enumerate(rows):
                OUT.csv_rows([row], head=not first)
        elif OUT.json:
            OUT.lines("head_to_head_match", rows)
            OUT.lines("head_to_head_seat", encounters.seats())
            OUT.lines("head_to_head", [encounters.summary()])
        else:
            _show(encounters, deque(rows, maxlen=SHOWN))


class _Encounters:
    """The matches of two bots, added up as they are read.

    Args:
        bot: from whose side.
        against: the other.
    """

    def __init__(self, bot: BotFilter, against: BotFilter) -> None:
        self._bots = bot, against
        self._tallies = HeadToHead()
        self._blocks = BlockNumbers()
        self.void = 0

    def rows(self, store: Store, selection: Selection) -> Iterator[_Row]:
        """A row for each match; a void one is not counted."""
        for of, played in tracked(store, selection, "reading"):
            record = selected_record(of, played)
            seats = [_seat_of(record, bot) for bot in self._bots]
            if record.verdict in RATED:
                self._add(self._blocks.number(of, played), record, *seats)
            else:
                self.void += 1
            yield _row(of, played, record, *seats)

    def _add(self, block: int, record: MatchRecord, seat: int, other: int) -> None:
        ranks, scores = record.ranks, record.scores
        self._tallies.add(
            Meeting(block, seat, ranks[seat], ranks[other], margin=scores[seat] - scores[other])
        )

    def summary(self) -> _Row:
        """All of them in a row."""
        return self._names() | _tally_row(self._tallies.whole) | {"void": self.void}

    def seats(self) -> list[_Row]:
        """A row for each seat in which the bot sat."""
        by_seat = sorted(self._tallies.by_seat.items())
        return [self._names() | {"seat": seat} | _tally_row(tally) for seat, tally in by_seat]

    def _names(self) -> _Row:
        bot, against = self._bots
        return {"bot": str(bot), "against": str(against)}


def _seat_of(record: MatchRecord, wanted: BotFilter) -> int:
    return next(seat for seat, bot in enumerate(record.bots) if wanted.fits(bot.name, bot.version))


def _row(of: StoredTournament, played: StoredMatch, record: MatchRecord, seat: int, other: int) -> _Row:
    match = match_name(match_number(of, played.block, played.seating))
    ranks = record.ranks or [None] * len(record.bots)
    scores = record.scores or [None] * len(record.bots)
    return {
        "name": f"{of.name}/{match}",
        "tournament": of.name,
        "match": match,
        "block": played.block,
        "verdict": verdict_name(record.verdict),
        "seats": len(record.bots),
        "seat": seat,
        "against_seat": other,
        "rank": ranks[seat],
        "against_rank": ranks[other],
        "score": scores[seat],
        "against_score": scores[other],
    }


def _tally_row(tally: Tally) -> _Row:
    low, high = tally.interval
    return {
        "matches": tally.matches,
        "share": tally.share,
        "error": tally.error,
        "low": low,
        "high": high,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "mean_margin": tally.mean_margin,
    }


def _show(encounters: _Encounters, last: deque[_Row]) -> None:
    summary = encounters.summary()
    OUT.text(_headline(summary))
    heads = ("seat", "share", "95 %", "matches", "W–D–L", "mean margin")
    cells = [[f"{row['seat']}", *_cells(row)] for row in encounters.seats()]
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
