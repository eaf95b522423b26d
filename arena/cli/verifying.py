"""`arena verify`: deal again and replay, a match or all of a tournament, of a database or of a server."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import typer
from botarena.v1.record_pb2 import MatchRecord

from arena.cli.common import DEFAULT_DB, DbOption, leave, open_store
from arena.cli.matches import record_of
from arena.cli.output import OUT
from arena.cli.remote import server_address
from arena.cli.source import Source, ToldRecord, open_source
from arena.cli.tables import plain_table
from arena.errors import CheckFailedError, StateError, UsageError
from arena.games import find_game
from arena.games.chance import deal_seed
from arena.games.game import GameError
from arena.match.record import RecordDamagedError
from arena.match.replay import VerificationError
from arena.match.replay import verify as verify_record
from arena.runs.names import match_name, match_number, seatings_of
from arena.runs.selecting import Filters
from arena.store.store import Store
from arena.store.stored import StoredBot, StoredMatch, StoredTournament
from arena.text import printable
from arena.tournament.formats import ENDLESS
from arena.tournament.report import played_record
from arena.tournament.runner import schedule_of, seats_of, tables_of
from arena.tournament.schedule import Table

Tables: TypeAlias = "Sequence[Table] | Mapping[int, Table] | None"
"""Tables by block; None: they followed from results, and nobody has told them."""
_FAILS = (RecordDamagedError, VerificationError, GameError)


def verify(
    match: Annotated[
        str | None, typer.Argument(metavar="MATCH|FILE", help="Such as m0312, or a record file.")
    ] = None,
    tournament: Annotated[
        str | None, typer.Option("--tournament", metavar="NAME", help="All matches of a tournament.")
    ] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Deal again and replay, bit for bit; exit code 3 if anything differs."""
    if (match is None) == (tournament is None):
        raise UsageError(
            "nothing to verify", "give either a match or --tournament NAME", "arena verify m0000"
        )
    if match is not None:
        _verify_match(match, db)
    elif tournament is not None and server_address() is not None:
        with open_source(db) as source:
            leave(_verify_told(source, tournament))
    else:
        with open_store(db) as store:
            leave(_verify_stored(store, store.tournament(tournament)))


def _verify_match(match: str, db: str) -> None:
    record = record_of(match, db)
    try:
        verify_record(record)
    except (VerificationError, GameError) as error:
        raise CheckFailedError(f"{match} differs", str(error), "get the record again") from None
    found = f"reproduces {printable(record.engine_error)}" if record.engine_error else "replays"
    OUT.table(
        "verified",
        [{"match": match, "ok": True, "engine_error": record.engine_error}],
        lambda: plain_table(("match", "result"), [[match, found]]),
    )


def _verify_stored(store: Store, tournament: StoredTournament) -> int:
    """Check what a database has of a tournament; the exit code."""
    check = _Check(tournament, tables_of(store, tournament))
    return _verify(check, map(check.stored, store.matches(tournament.id)))


def _verify_told(source: Source, name: str) -> int:
    """Check what a server tells of a tournament against the seed that it was committed to; the exit code."""
    row = source.result(name, False)
    tournament = _tournament(row["tournament"], row["clock"])
    if hashlib.sha256(tournament.seed).hexdigest() != row["tournament"]["commitment"]:
        raise CheckFailedError(
            f"{name} differs", "its seed is not the one that it was committed to", "ask who runs the server"
        )
    schedule = schedule_of(tournament)
    check = _Check(tournament, None if schedule.adaptive else schedule.round(0, ()))
    return _verify(check, map(check.told, source.records(Filters(tournaments=[name]), "verifying")))


def _tournament(row: Mapping[str, Any], clock: Mapping[str, Any]) -> StoredTournament:
    """A tournament as it was told.

    Raises:
        StateError: its seed is still secret.
    """
    if row["seed"] is None:
        raise StateError(
            f"{row['name']} cannot be verified yet",
            "its seed is told at its end",
            "wait until it is finished",
        )
    columns = ("name", "kind", "game", "options", "seats", "format", "settings")
    return StoredTournament(
        id=0,
        **{column: row[column] for column in columns},
        deals=row["deals"] or ENDLESS,
        matches=row["matches"] or ENDLESS,
        seed=bytes.fromhex(row["seed"]),
        **clock,
        start_us=0,
        bots=tuple(StoredBot(bot["name"], bot["version"], {}) for bot in row["bots"]),
        created_us=0,
        finished_us=0,
    )


Checked: TypeAlias = "tuple[int, str | None]"
"""Number of a match in its tournament, and what of it differs; None: nothing."""


def _verify(check: _Check, matches: Iterator[Checked]) -> int:
    """Tell what differs, and how much there is in all; the exit code."""
    tournament, differing, count = check.tournament, [], 0
    for number, why in OUT.track(matches, tournament.matches, "verifying"):
        count += 1
        if why is not None:
            differing.append({"match": match_name(number), "ok": False, "why": printable(why)})
    for row in differing:
        OUT.say(f"{tournament.name}/{row['match']} differs: {row['why']}")
    summary = {
        "tournament": tournament.name,
        "matches": count,
        "differing": len(differing),
        "missing": max(0, check.decided - count),
        "seed": tournament.seed.hex(),
        "commitment": hashlib.sha256(tournament.seed).hexdigest(),
    }
    if OUT.json:
        OUT.lines("verified", [*differing, summary])
    else:
        OUT.text(
            f"{tournament.name}: {count - len(differing)} of {count} matches replay bit for bit"
            + (f", {len(differing)} differ" if differing else "")
            + (f"; {summary['missing']} are not played yet" if summary["missing"] else "")
        )
    return CheckFailedError.code if differing else 0


class _Check:
    """What each match of a tournament must be.

    Attributes:
        tournament: it.
    """

    def __init__(self, tournament: StoredTournament, tables: Tables) -> None:
        self.tournament = tournament
        self._tables = tables
        self._bots = {bot.name: index for index, bot in enumerate(tournament.bots)}

    @property
    def decided(self) -> int:
        """Matches that are to be played as far as it is decided."""
        if self._tables is None:
            return self.tournament.matches
        return min(self.tournament.matches, len(self._tables) * seatings_of(self.tournament))

    def stored(self, played: StoredMatch) -> Checked:
        """Check a stored match, with the columns beside its record."""
        number = match_number(self.tournament, played.block, played.seating)
        try:
            record = played_record(played)
            self._record(record, played.block, played.seating)
            self._equal("verdict beside it", played.verdict, record.verdict)
            self._equal("seats beside it", played.seats, seats_of(record, self._bots))
        except _FAILS as error:
            return number, str(error)
        return number, None

    def told(self, played: ToldRecord) -> Checked:
        """Check a match that a server told."""
        number = int(played.match.lstrip("m"))
        try:
            record = played.record()
            seating = number - match_number(self.tournament, played.block, 0)
            self._record(record, played.block, seating)
        except _FAILS as error:
            return number, str(error)
        return number, None

    def _record(self, record: MatchRecord, block: int, seating: int) -> None:
        """Check a record against seed, schedule, settings and rules."""
        t = self.tournament
        game = find_game(t.game)
        bots = [(bot.name, bot.version) for bot in record.bots]
        if self._tables is None:  # at least nobody sits there who does not play
            deal, seated = record.deal, [bot for bot in t.bots if (bot.name, bot.version) in bots]
            seated.sort(key=lambda bot: bots.index((bot.name, bot.version)))
        else:
            table = self._table(block)
            deal, seated = table.deal, [t.bots[index] for index in table.seatings[seating]]
        self._equal("game", record.game, t.game)
        self._equal("deal", record.deal, deal)
        self._equal("seed", record.seed, deal_seed(t.seed, t.game, deal))
        self._equal("seating", record.seating, seating)
        self._equal("bots", bots, [(bot.name, bot.version) for bot in seated])
        self._equal("options", record.options, game.options_message(game.options(t.options)))
        self._equal("clock", (record.time.move_us, record.time.bank_us), (t.move_us, t.bank_us))
        self._equal("faults allowed", record.faults_allowed, t.faults_allowed)
        verify_record(record)

    def _equal(self, what: str, is_: object, ought: object) -> None:
        if is_ != ought:
            raise VerificationError(f"its {what} is not what the tournament's seed and schedule give")

    def _table(self, block: int) -> Table:
        assert self._tables is not None
        try:
            return self._tables[block]
        except LookupError:
            raise VerificationError("the tournament's schedule has no such block") from None
