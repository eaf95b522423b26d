"""The store: tournaments and their records in a database.

It knows rows and sealed records, not games or bots. One writer at a time; any number of readers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from arena.errors import ArenaError, NotFoundError, TakenError
from arena.store.schema import (
    alembic_version,
    hosted,
    lost_block,
    match,
    match_seat,
    metadata,
    pairing,
    tournament,
    tournament_bot,
)
from arena.store.selection import Selection, indexes
from arena.store.stored import StoredBot, StoredLoss, StoredMatch, StoredPairing, StoredSeat, StoredTournament

HEAD = "0004"
"""The newest schema."""
_DB_ATTEMPT_S = 30
_TURN = 0x61_72_65_6E_62
"""Number of the advisory lock that writers hold on PostgreSQL."""
_JSON = ("options", "settings")
"""Columns of a tournament that hold plain data."""
Along: TypeAlias = Callable[[sa.Connection, int], object]
"""What else is written in a transaction, of a number: what number, says whoever takes one."""
_Chosen: TypeAlias = "tuple[StoredTournament, list[sa.ColumnElement[bool]]]"


class StoreError(ArenaError):
    """The database cannot do what was asked."""


class NameTakenError(TakenError):
    """There is a tournament of this name already."""


class NotStoredError(NotFoundError):
    """There is no such tournament or match."""


class Store:
    """An open database.

    Args:
        url: a SQLAlchemy URL, such as "sqlite:///arena.db".
        called: what messages call it; if left out, its URL without the password.

    Raises:
        StoreError: it cannot be opened.
    """

    def __init__(self, url: str, called: str | None = None) -> None:
        self.url = url
        self._called = called or shown_url(url)
        try:
            self._engine, self._writer = _engines(url)
            with self._writer.begin() as connection:
                _upgrade(connection)
        except (DBAPIError, sa.exc.ArgumentError, sa.exc.NoSuchModuleError) as error:
            raise StoreError(
                f"the database {self._called} cannot be opened",
                _reason(error),
                "give the path of a file that this user may write, or another --db",
            ) from error
        # From now on: while it opens there is another thing to do about it.
        sa.event.listen(self._engine, "handle_error", self._explain)

    def close(self) -> None:
        """Close it."""
        self._engine.dispose()

    # tournaments

    def create(self, new: StoredTournament, along: Along | None = None) -> StoredTournament:
        """Store a tournament before its first match.

        Args:
            new: the tournament.
            along: is done in the same transaction, and told its row number.

        Raises:
            NameTakenError: its name is taken.
        """
        values = {
            column.name: getattr(new, column.name) for column in tournament.columns if column.name != "id"
        }
        values |= {name: _data_text(values[name]) for name in _JSON}
        try:
            with self.writing() as connection:
                number = connection.execute(sa.insert(tournament).values(values)).inserted_primary_key
                assert number is not None
                rows = [_bot_row(number[0], index, bot) for index, bot in enumerate(new.bots)]
                connection.execute(sa.insert(tournament_bot), rows)
                if along is not None:
                    along(connection, number[0])
        except sa.exc.IntegrityError:
            raise NameTakenError(
                f"the tournament {new.name!r} cannot be created",
                f"there is one of this name in {self._called}",
                f"choose another --name, or continue it: arena tournament resume {new.name}",
            ) from None
        return self.tournament(new.name)

    def tournament(self, name: str | None = None) -> StoredTournament:
        """The tournament of this name; without one the newest.

        Raises:
            NotStoredError: there is none.
        """
        query = sa.select(tournament)
        query = query.where(tournament.c.name == name) if name else query.order_by(tournament.c.id.desc())
        with self._engine.connect() as connection:
            row = connection.execute(query.limit(1)).mappings().first()
            if row is None:
                raise self._no_tournament(name)
            return self._read(connection, row)

    def tournaments(self) -> list[tuple[StoredTournament, int]]:
        """All tournaments, oldest first, each with the number of its stored matches."""
        counts = sa.select(match.c.tournament, sa.func.count()).group_by(match.c.tournament)
        with self._engine.connect() as connection:
            stored: dict[int, int] = {row[0]: row[1] for row in connection.execute(counts)}
            rows = connection.execute(sa.select(tournament).order_by(tournament.c.id)).mappings().all()
            return [(self._read(connection, row), stored.get(row["id"], 0)) for row in rows]

    def finish(self, number: int, deals: int | None = None, matches: int | None = None) -> None:
        """Note that all matches of a tournament are stored.

        Args:
            number: row number of the tournament.
            deals: how many there were, if that was not decided before.
            matches: likewise.
        """
        played = {"deals": deals, "matches": matches}
        with self.writing() as connection:
            connection.execute(
                sa.update(tournament)
                .where(tournament.c.id == number, tournament.c.finished_us.is_(None))
                .values(
                    finished_us=time.time_ns() // 1000,
                    **{name: value for name, value in played.items() if value is not None},
                )
            )

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only reads: all of it as of one moment."""
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that may write, one at a time; all of it is stored at its end, or nothing."""
        with self._writer.begin() as connection:
            yield connection

    def _read(self, connection: sa.Connection, row: sa.RowMapping) -> StoredTournament:
        bots = connection.execute(
            sa.select(tournament_bot)
            .where(tournament_bot.c.tournament == row["id"])
            .order_by(tournament_bot.c.bot)
        ).mappings()
        return StoredTournament(
            **{**row, **{name: json.loads(row[name]) for name in _JSON}},
            bots=tuple(map(_read_bot, bots)),
        )

    # rounds

    def pair(self, number: int, decided: Sequence[StoredPairing]) -> list[StoredPairing]:
        """Store the tables of a round before it is played, in one transaction, unless they are there already.

        Returns:
            The round as it is stored: another run may have been the first.
        """
        (turn,) = {table.round for table in decided}
        with self.writing() as connection:
            if not (stored := _pairings(connection, number, pairing.c.round == turn)):
                rows = [
                    {
                        "tournament": number,
                        "block": table.block,
                        "round": table.round,
                        "deal": table.deal,
                        "seatings": json.dumps(table.seatings),
                    }
                    for table in decided
                ]
                connection.execute(sa.insert(pairing), rows)
                stored = list(decided)
        return stored

    def drop_undone(self, number: int) -> None:
        """Take back the tables that were decided and of which no match is stored."""
        played = sa.select(match.c.block).where(match.c.tournament == number)
        with self.writing() as connection:
            connection.execute(sa.delete(lost_block).where(lost_block.c.tournament == number))
            connection.execute(
                sa.delete(pairing).where(pairing.c.tournament == number, pairing.c.block.not_in(played))
            )

    # bots of a league

    def add_bot(self, number: int, bot: StoredBot) -> None:
        """Let another bot take part in a tournament."""
        indices = sa.select(sa.func.count()).where(tournament_bot.c.tournament == number)
        with self.writing() as connection:
            index = connection.execute(indices).scalar_one()
            connection.execute(sa.insert(tournament_bot), [_bot_row(number, index, bot)])

    def retire_bot(self, number: int, index: int, retired: bool = True) -> None:
        """Let a bot play no further round, or have it back."""
        with self.writing() as connection:
            connection.execute(
                sa.update(tournament_bot)
                .where(tournament_bot.c.tournament == number, tournament_bot.c.bot == index)
                .values(retired=retired)
            )

    def pairings(self, number: int, first: int = 0) -> list[StoredPairing]:
        """The tables that were decided, in the order of their blocks.

        Args:
            number: row number of the tournament.
            first: block to begin with.
        """
        with self._engine.connect() as connection:
            return _pairings(connection, number, pairing.c.block >= first)

    def ranks(self, number: int, first: int = 0) -> Iterator[tuple[int, int, tuple[int, ...] | None]]:
        """(block, seating, ranks by seat or None for a void match) of the stored matches, in this order.

        Args:
            number: row number of the tournament.
            first: block to begin with.
        """
        query = (
            sa.select(match.c.block, match.c.seating, match_seat.c.rank)
            .join(match_seat, match_seat.c.match == match.c.id)
            .where(match.c.tournament == number, match.c.block >= first)
            .order_by(match.c.block, match.c.seating, match_seat.c.seat)
        )
        with (
            self._engine.connect().execution_options(yield_per=5000) as connection,
            connection.execute(query) as rows,
        ):
            for (block, seating), seats in groupby(rows, key=lambda row: (row[0], row[1])):
                ranks = tuple(row[2] for row in seats)
                yield block, seating, None if None in ranks else ranks

    def _no_tournament(self, name: str | None) -> NotStoredError:
        return NotStoredError(
            f"there is no tournament {name!r}" if name else "there is no tournament yet",
            f"{self._called} holds none" + (" of this name" if name else ""),
            "see what there is: arena tournament list" if name else "run one: arena tournament run",
        )

    # matches

    def add(self, number: int, matches: Sequence[StoredMatch], along: Along | None = None) -> int:
        """Store matches of a tournament in one transaction; those that are there already stay as they are.

        Args:
            number: row number of the tournament.
            matches: of it.
            along: is done in the same transaction, and told how many were new; if none was, not at all.

        Returns:
            How many were new.
        """
        with self.writing() as connection:
            stored = _places(connection, number, matches)
            new = [played for played in matches if (played.block, played.seating) not in stored]
            if new:
                _insert(connection, number, new)
                _forget_losses(connection, number, {played.block for played in new})
                if along is not None:
                    along(connection, len(new))
        return len(new)

    def lose(self, number: int, reasons: Mapping[int, str]) -> None:
        """Note why blocks could not be played, unless another run has stored them meanwhile.

        Args:
            number: row number of the tournament.
            reasons: by block.
        """
        mine = (lost_block.c.tournament == number) & lost_block.c.block.in_(reasons)
        stored = sa.select(match.c.block).where(match.c.tournament == number, match.c.block.in_(reasons))
        with self.writing() as connection:
            played = set(connection.execute(stored).scalars())
            runs = {row.block: row.runs for row in connection.execute(sa.select(lost_block).where(mine))}
            connection.execute(sa.delete(lost_block).where(mine))
            rows = [
                {
                    "tournament": number,
                    "block": block,
                    "runs": runs.get(block, 0) + 1,
                    "reason": reason,
                    "lost_us": time.time_ns() // 1000,
                }
                for block, reason in reasons.items()
                if block not in played
            ]
            if rows:
                connection.execute(sa.insert(lost_block), rows)

    def lost(self, number: int) -> list[StoredLoss]:
        """The blocks of a tournament that could not be played, and have not been since."""
        query = sa.select(lost_block).where(lost_block.c.tournament == number).order_by(lost_block.c.block)
        with self._engine.connect() as connection:
            return [
                StoredLoss(row.block, row.runs, row.reason, row.lost_us) for row in connection.execute(query)
            ]

    def done(self, number: int, first: int = 0) -> Iterator[tuple[int, int]]:
        """(block, seating) of the stored matches of a tournament, in any order, in constant memory.

        Args:
            number: row number of the tournament.
            first: only blocks from this one on.
        """
        query = sa.select(match.c.block, match.c.seating).where(
            match.c.tournament == number, match.c.block >= first
        )
        with (
            self._engine.connect().execution_options(yield_per=5000) as connection,
            connection.execute(query) as rows,
        ):
            for row in rows:
                yield row[0], row[1]

    def stored_of(self, number: int, block: int) -> int:
        """How many matches of a block of a tournament are stored."""
        query = sa.select(sa.func.count()).where(match.c.tournament == number, match.c.block == block)
        with self._engine.connect() as connection:
            return connection.execute(query.select_from(match)).scalar_one()

    def matches(self, number: int, block: int = 0, seating: int = 0) -> Iterator[StoredMatch]:
        """The stored matches of a tournament in the order of its schedule, in constant memory.

        Args:
            number: row number of the tournament.
            block, seating: of the match to begin with.
        """
        from_there = (match.c.block > block) | ((match.c.block == block) & (match.c.seating >= seating))
        conditions = [match.c.tournament == number, match.c.block >= block, from_there]
        with self._engine.connect().execution_options(yield_per=500) as connection:
            yield from _read_matches(connection, conditions)

    def match(self, number: int, block: int, seating: int) -> StoredMatch:
        """One stored match.

        Raises:
            NotStoredError: it is not stored.
        """
        query = sa.select(match).where(
            match.c.tournament == number, match.c.block == block, match.c.seating == seating
        )
        with self._engine.connect() as connection:
            row = connection.execute(query).first()
            if row is None:
                raise NotStoredError(
                    "there is no such match",
                    "it is not in this tournament, or has not been played yet",
                    "see what there is: arena match list",
                )
            of_match = sa.select(match_seat).where(match_seat.c.match == row.id).order_by(match_seat.c.seat)
            seats = [StoredSeat(s.bot, s.rank, s.score, s.fault) for s in connection.execute(of_match)]
            return _stored(row, seats)

    # matches of several tournaments

    def chosen(self, selection: Selection) -> list[StoredTournament]:
        """The tournaments that may have selected matches, oldest first, stored or still to be played.

        Raises:
            NotStoredError: there is none of a name that it has.
        """
        with self._engine.connect() as connection:
            return [of for of, _ in self._chosen(connection, selection)]

    def count(self, selection: Selection) -> int:
        """How many matches are selected; of a tournament that reaches out of the period, all are counted.

        Raises:
            NotStoredError: there is no tournament of a name that it has.
        """
        counting = sa.select(sa.func.count()).select_from(match)
        with self._engine.connect() as connection:
            chosen = self._chosen(connection, selection)
            return sum(connection.execute(counting.where(*rest)).scalar_one() for _, rest in chosen)

    def selected(self, selection: Selection) -> Iterator[tuple[StoredTournament, StoredMatch]]:
        """The selected matches, each with its tournament, in constant memory.

        They come by tournament, oldest first, then in the order of its schedule, as they were stored
        when the first of them was read.

        Raises:
            NotStoredError: there is no tournament of a name that it has.
        """
        # One tournament after the other: so the order is that of an index, and nothing is sorted.
        with self._engine.connect().execution_options(yield_per=500) as connection:
            for of, conditions in self._chosen(connection, selection):
                for played in _read_matches(connection, conditions):
                    if selection.began_within(of, played):
                        yield of, played

    def option_sets(self, game: str) -> list[tuple[dict[str, str], list[str]]]:
        """The distinct sets of options of a game, as they are stored, each with names of tournaments."""
        query = sa.select(tournament.c.options, tournament.c.name).where(tournament.c.game == game)
        sets: dict[str, list[str]] = {}
        with self._engine.connect() as connection:
            for row in connection.execute(query.order_by(tournament.c.id)):
                sets.setdefault(row.options, []).append(row.name)
        return [(json.loads(options), names) for options, names in sets.items()]

    def _chosen(self, connection: sa.Connection, selection: Selection) -> list[_Chosen]:
        """The tournaments that may have selected matches, and what those must fulfil."""
        columns, conditions = tournament.c, []
        if selection.game is not None:
            conditions.append(columns.game == selection.game)
        if selection.rated:
            unrated = sa.select(hosted.c.tournament).where(hosted.c.rated == sa.false())
            conditions.append(columns.id.not_in(unrated))
        if selection.tournaments:
            self._check_names(connection, selection.tournaments)
            conditions.append(columns.name.in_(selection.tournaments))
        if selection.options is not None:
            conditions.append(columns.options.in_([_data_text(chosen) for chosen in selection.options]))
        if selection.seats is not None:
            conditions.append(columns.seats == selection.seats)
        if selection.since_us is not None:
            conditions.append(columns.finished_us.is_(None) | (columns.finished_us >= selection.since_us))
        if selection.before_us is not None:
            conditions.append(columns.created_us < selection.before_us)
        query = sa.select(tournament).where(*conditions).order_by(columns.id)
        rows = connection.execute(query).mappings().all()
        of_all = [(of, _conditions(of, selection)) for of in (self._read(connection, row) for row in rows)]
        return [(of, conditions) for of, conditions in of_all if conditions is not None]

    def _check_names(self, connection: sa.Connection, names: Sequence[str]) -> None:
        there = set(
            connection.execute(sa.select(tournament.c.name).where(tournament.c.name.in_(names))).scalars()
        )
        for name in names:
            if name not in there:
                raise self._no_tournament(name)

    def _explain(self, context: sa.engine.ExceptionContext) -> None:
        """Tell what the machine did to the database, whether that was read or written."""
        # The others tell what it refuses for what is in it: an answer, and no failure.
        if type(context.sqlalchemy_exception) in (sa.exc.OperationalError, sa.exc.DatabaseError):
            raise StoreError(
                f"the database {self._called} cannot be used",
                str(context.original_exception),
                "mend it or make room and go on (arena tournament resume NAME): what was stored is not lost",
            ) from context.original_exception


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file."""
    return f"sqlite:///{path}"


def shown_url(url: str) -> str:
    """A URL, or a file, as anybody may read it."""
    if "://" not in url:
        return url
    try:
        return sa.make_url(url).render_as_string(hide_password=True)
    except sa.exc.ArgumentError:
        return "given by --db"


def _data_text(data: Mapping[str, Any]) -> str:
    """Plain data as it is stored: equal data as equal texts."""
    return json.dumps(dict(data), sort_keys=True)


def _conditions(of: StoredTournament, selection: Selection) -> list[sa.ColumnElement[bool]] | None:
    """What a tournament's matches must fulfil besides having begun within the period; None if none can."""
    conditions = [match.c.tournament == of.id]
    sat = match_seat.alias("sat")  # the query around this has the seats of its own
    seats = sa.select(sat.c.seat).where(sat.c.match == match.c.id).correlate(match)
    groups = [*([selection.anyone] if selection.anyone else []), *((bot,) for bot in selection.together)]
    for group in groups:
        if not (bots := indexes(of.bots, group)):
            return None
        conditions.append(seats.where(sat.c.bot.in_(bots)).exists())
    if selection.only:
        if len(bots := indexes(of.bots, selection.only)) < of.seats:
            return None
        conditions.append(~seats.where(sat.c.bot.not_in(bots)).exists())
    return conditions


def _read_matches(
    connection: sa.Connection, conditions: Sequence[sa.ColumnElement[bool]]
) -> Iterator[StoredMatch]:
    """Matches of one tournament, in the order of its schedule."""
    query = (
        sa.select(match, match_seat)
        .join(match_seat, match_seat.c.match == match.c.id)
        .where(*conditions)
        .order_by(match.c.block, match.c.seating, match_seat.c.seat)
    )
    head: Any = None
    seats: list[StoredSeat] = []
    with connection.execute(query) as rows:  # closed also if nobody wants the rest
        for row in rows:
            if head is not None and head.id != row.id:
                yield _stored(head, seats)
                seats = []
            head = row
            seats.append(StoredSeat(row.bot, row.rank, row.score, row.fault))
        if head is not None:
            yield _stored(head, seats)


def _places(
    connection: sa.Connection, number: int, matches: Sequence[StoredMatch]
) -> dict[tuple[int, int], int]:
    """Row numbers of what is stored of the blocks of these matches, by (block, seating)."""
    blocks = {played.block for played in matches}
    query = sa.select(match.c.block, match.c.seating, match.c.id).where(
        match.c.tournament == number, match.c.block.in_(blocks)
    )
    return {(row[0], row[1]): row[2] for row in connection.execute(query)}


def _insert(connection: sa.Connection, number: int, matches: Sequence[StoredMatch]) -> None:
    columns = ("block", "seating", "verdict", "record")
    rows = [{"tournament": number} | {name: getattr(m, name) for name in columns} for m in matches]
    connection.execute(sa.insert(match), rows)
    keys = _places(connection, number, matches)
    seats = [
        {
            "match": keys[m.block, m.seating],
            "seat": i,
            "bot": s.bot,
            "rank": s.rank,
            "score": s.score,
            "fault": s.fault,
        }
        for m in matches
        for i, s in enumerate(m.seats)
    ]
    connection.execute(sa.insert(match_seat), seats)


def _forget_losses(connection: sa.Connection, number: int, blocks: set[int]) -> None:
    """Blocks that are stored are lost no more."""
    connection.execute(
        sa.delete(lost_block).where(lost_block.c.tournament == number, lost_block.c.block.in_(blocks))
    )


def _read_bot(row: sa.RowMapping) -> StoredBot:
    spec = json.loads(row["spec"])
    return StoredBot(row["name"], row["version"], spec, row["retired"], row["owner"], row["entry"])


def _bot_row(number: int, index: int, bot: StoredBot) -> dict[str, Any]:
    return {
        "tournament": number,
        "bot": index,
        "name": bot.name,
        "version": bot.version,
        "spec": json.dumps(bot.spec),
        "retired": bot.retired,
        "owner": bot.owner,
        "entry": bot.entry,
    }


def _pairings(connection: sa.Connection, number: int, which: sa.ColumnElement[bool]) -> list[StoredPairing]:
    query = sa.select(pairing).where(pairing.c.tournament == number, which).order_by(pairing.c.block)
    return [
        StoredPairing(row.block, row.round, row.deal, tuple(tuple(bots) for bots in json.loads(row.seatings)))
        for row in connection.execute(query)
    ]


def _stored(row: Any, seats: Sequence[StoredSeat]) -> StoredMatch:
    return StoredMatch(row.block, row.seating, row.verdict, row.record, tuple(seats))


def _engines(url: str) -> tuple[sa.Engine, sa.Engine]:
    """What reads a database, each time as of one moment, and what writes to it, one at a time."""
    engine = sa.create_engine(url)
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    elif engine.dialect.name == "postgresql":
        sa.event.listen(engine, "begin", _begin_postgresql)
        # A writer must see what the one before it wrote, which was after it asked for its turn.
        writer = engine.execution_options(writing=True, isolation_level="READ COMMITTED")
        return engine.execution_options(isolation_level="REPEATABLE READ"), writer
    return engine, engine.execution_options(writing=True)


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # The driver's own idea of transactions begins them too late; we begin them ourselves.
    connection.isolation_level = None
    for pragma in (
        f"busy_timeout = {_DB_ATTEMPT_S * 1000}",
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    # A writer takes its turn at once: whoever reads first and writes then may be refused in between.
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _begin_postgresql(connection: sa.Connection) -> None:
    # A writer takes its turn at once, as on SQLite: what it reads stays so until it has written.
    if connection.get_execution_options().get("writing", False):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_TURN})")


def _upgrade(connection: sa.Connection) -> None:
    """Bring the schema to the newest version."""
    if not sa.inspect(connection).has_table(alembic_version.name):
        _create(connection)
    elif (found := connection.execute(sa.select(alembic_version)).scalar()) != HEAD:
        if found is not None and found > HEAD:
            raise StoreError(
                "the database is of a newer arena",
                f"its schema is {found}, and this arena knows those up to {HEAD}",
                "use that arena, or restore a backup from before (arena db restore)",
            )
        migrate(connection)


def _create(connection: sa.Connection) -> None:
    """Make the newest schema at once: the migrations lead to the same one, and take a third of a second."""
    # Nothing may be there yet: a table of one of these names is somebody else's.
    metadata.create_all(connection, checkfirst=False)
    alembic_version.create(connection)
    connection.execute(sa.insert(alembic_version).values(version_num=HEAD))


def migrate(connection: sa.Connection, revision: str = "head") -> None:
    """Run the migrations that are missing, up to a revision."""
    from alembic import command  # only here: nearly every start finds the newest schema
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _reason(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error)
