"""Two bots against each other, and every match in which both sat, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from botarena.v1.record_pb2 import MatchRecord

from arena.errors import NotFoundError, TooMuchError, UsageError
from arena.match.verdicts import RATED, verdict_name
from arena.ratings.meetings import HeadToHead, Meeting, Tally
from arena.runs.names import match_name, match_number
from arena.runs.selecting import Filters, nothing_fits, tournaments_game
from arena.store.selection import BlockNumbers, BotFilter
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.several import selected_record

if TYPE_CHECKING:
    from arena.store.store import Store

Row = dict[str, Any]
Matches: TypeAlias = Iterable[tuple[StoredTournament, StoredMatch]]


def encounters_of(store: Store, filters: Filters, most: int | None = None) -> tuple[Encounters, Matches]:
    """Two bots that are to be compared, and the matches in which both sat, not added up yet.

    Args:
        store: where they are.
        filters: which matches; the two bots are `together`.
        most: how many matches there may be; None: any number.

    Raises:
        UsageError: it is one bot, or the matches are of several games.
        NotFoundError: they have not met.
        TooMuchError: there are more matches.
    """
    bot, against = filters.together
    if bot == against:
        raise UsageError(f"{bot} cannot meet itself", "both names are the same", "name two bots")
    selection = filters.selection(store)
    count = store.count(selection)
    if not count:
        raise NotFoundError(
            f"{bot} and {against} have not met",
            "no stored match that fits all that was asked for has both",
            f"run: arena tournament run GAME {bot} {against}",
        )
    tournaments_game(store.chosen(selection), "scores of different games do not add up")
    if most is not None and count > most:
        raise TooMuchError("these are too many matches", f"they are {count}", "name a tournament, or dates")
    return Encounters(*map(BotFilter.parse, (bot, against))), _some(store.selected(selection))


def _some(matches: Iterator[tuple[StoredTournament, StoredMatch]]) -> Matches:
    """Them, of which there must be one: all that were counted may have begun at another time."""
    first = next(matches, None)
    if first is None:
        raise nothing_fits()
    return chain([first], matches)


class Encounters:
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

    def rows(self, matches: Matches) -> Iterator[Row]:
        """A row for each match; a void one is not counted."""
        for of, played in matches:
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

    def summary(self) -> Row:
        """All of them in a row."""
        return self._names() | _tally_row(self._tallies.whole) | {"void": self.void}

    def seats(self) -> list[Row]:
        """A row for each seat in which the bot sat."""
        by_seat = sorted(self._tallies.by_seat.items())
        return [self._names() | {"seat": seat} | _tally_row(tally) for seat, tally in by_seat]

    def _names(self) -> Row:
        bot, against = self._bots
        return {"bot": str(bot), "against": str(against)}


def _seat_of(record: MatchRecord, wanted: BotFilter) -> int:
    return next(seat for seat, bot in enumerate(record.bots) if wanted.fits(bot.name, bot.version))


def _row(of: StoredTournament, played: StoredMatch, record: MatchRecord, seat: int, other: int) -> Row:
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


def _tally_row(tally: Tally) -> Row:
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
