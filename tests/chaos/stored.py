"""What is stored of a tournament: read without disturbing whoever writes, and compared with another run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from arena.match.record import unseal
from tests.e2e.arena import Arena

_BESIDE = """
SELECT block, seating, verdict, seat, bot, rank, score, fault
FROM match JOIN match_seat ON match_seat.match = match.id ORDER BY block, seating, seat
"""


def tournaments(arena: Arena) -> int:
    """How many there are; 0 if there is no database yet, or none that can be read."""
    return _number(arena, "SELECT count(*) FROM tournament")


def matches(arena: Arena) -> int:
    """Likewise."""
    return _number(arena, "SELECT count(*) FROM match")


def differences(one: Arena, two: Arena, name: str) -> Iterator[str]:
    """How what two arenas stored of the same tournament differs."""
    first, second = one.records(name), two.records(name)
    if first.keys() != second.keys():
        yield f"{len(first)} matches undisturbed, {len(second)} disturbed"
    if changed := [place for place in first if place in second and first[place] != second[place]]:
        place = changed[0]
        yield f"{len(changed)} records differ, such as block and seating {place}: {_faults(two, place)}"
    if (count := matches(two)) != len(second):
        yield f"{count} matches are stored, {len(second)} different ones"
    if _rows(one, _BESIDE) != _rows(two, _BESIDE):
        yield "what is stored beside the records differs"


def _faults(arena: Arena, place: tuple[int, int]) -> str:
    """What is said of the faults in a match."""
    query = f"SELECT record FROM match WHERE block = {place[0]} AND seating = {place[1]}"
    record = unseal(_rows(arena, query)[0][0])
    return f"{list(record.faults)} {list(record.circumstances.fault_details)}"


def _number(arena: Arena, query: str) -> int:
    try:
        return int(_rows(arena, query)[0][0])
    except sqlite3.OperationalError:
        return 0


def _rows(arena: Arena, query: str) -> list[Any]:
    database = sqlite3.connect(f"file:{arena.folder}/arena.db?mode=ro", uri=True, timeout=30)
    with closing(database):
        return database.execute(query).fetchall()
