"""Records of several tournaments, read and counted as if they were one's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from botarena.v1.record_pb2 import MatchRecord

from arena.match.record import RecordDamagedError
from arena.store.selection import BlockNumbers
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.report import played_record


def selected_record(of: StoredTournament, played: StoredMatch) -> MatchRecord:
    """The record of a match out of several tournaments.

    Raises:
        RecordDamagedError: which match of which tournament, and what is wrong with it.
    """
    try:
        record = played_record(played)
    except RecordDamagedError as error:
        raise RecordDamagedError(f"{of.name}, {error}") from error
    if [bot.name for bot in record.bots] != [of.bots[seat.bot].name for seat in played.seats]:
        where = f"{of.name}, block {played.block}, seating {played.seating}"
        raise RecordDamagedError(f"{where}: its bots are not those that are stored beside it")
    return record


def check_seated(of: StoredTournament, played: StoredMatch) -> None:
    """See that a match is what is stored beside it.

    Raises:
        RecordDamagedError: it is not, or cannot be read.
    """
    selected_record(of, played)


def as_of_one(
    matches: Iterable[tuple[StoredTournament, StoredMatch]], labels: Mapping[tuple[str, str], str]
) -> Iterator[MatchRecord]:
    """Records as a report adds them up: deals are numbered on over all tournaments, bots have their labels.

    Args:
        labels: what each (name, version) is called, see `arena.store.selection.entrants`.

    Raises:
        RecordDamagedError: which match cannot be read.
    """
    blocks = BlockNumbers()
    for of, played in matches:
        record = selected_record(of, played)
        record.deal = blocks.number(of, played)
        for bot in record.bots:
            bot.name = labels[bot.name, bot.version]
        yield record
