"""Whether a database is whole: what is stored twice in different forms must agree."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import sqlalchemy as sa

from arena.match.record import RecordDamagedError, unseal
from arena.runs.names import match_name, match_number
from arena.store.schema import blob, bot_version
from arena.store.store import Store
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.runner import seats_of


def matches_flaws(store: Store) -> Iterator[str | None]:
    """For each stored match what is wrong with it, in a line; None: nothing."""
    for tournament, _ in store.tournaments():
        bots = {bot.name: index for index, bot in enumerate(tournament.bots)}
        for match in store.matches(tournament.id):
            yield _flaw(tournament, match, bots)


def other_flaws(store: Store) -> Iterator[str]:
    """What is wrong with the rest."""
    yield from _of_the_file(store)
    yield from _of_archives(store)
    for tournament, stored in store.tournaments():
        if tournament.finished_us is not None and stored != tournament.matches:
            yield f"{tournament.name} is finished with {stored} matches, and not {tournament.matches}"


def _flaw(tournament: StoredTournament, match: StoredMatch, bots: dict[str, int]) -> str | None:
    name = f"{tournament.name}/{match_name(match_number(tournament, match.block, match.seating))}"
    try:
        record = unseal(match.record)
        agrees = match.seats == seats_of(record, bots) and match.verdict == record.verdict
    except RecordDamagedError as error:
        return f"{name}: {error}"
    except KeyError as error:
        return f"{name}: {error} is no bot of its tournament"
    return None if agrees else f"{name}: its record and its row differ"


def _of_the_file(store: Store) -> Iterator[str]:
    """What SQLite finds; a server looks after its own files."""
    with store.reading() as connection:
        if connection.dialect.name != "sqlite":
            return
        for (found,) in connection.exec_driver_sql("PRAGMA integrity_check"):
            if found != "ok":
                yield f"the file: {found}"
        for row in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            yield f"the file: row {row[1]} of {row[0]} refers to nothing in {row[2]}"


def _of_archives(store: Store) -> Iterator[str]:
    with store.reading() as connection:
        for digest in connection.execute(sa.select(blob.c.digest)).scalars().all():
            data = connection.execute(sa.select(blob.c.data).where(blob.c.digest == digest)).scalar_one()
            if hashlib.sha256(data).hexdigest() != digest:
                yield f"the archive {digest} is damaged"
        lacking = sa.select(bot_version.c.id, bot_version.c.digest).where(
            bot_version.c.digest.is_not(None), bot_version.c.digest.not_in(sa.select(blob.c.digest))
        )
        for row in connection.execute(lacking):
            yield f"the archive {row.digest} of version {row.id} is not there"
