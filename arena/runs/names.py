"""What tournaments, their matches and their files are called."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.errors import UsageError
from arena.store.stored import StoredTournament
from arena.tournament.formats import COMPARE, ENDLESS

_MATCH = re.compile(r"(?:(?P<tournament>.+)/)?m?(?P<number>\d+)")


def database_file(db: str) -> Path | None:
    """The file that holds the database that `--db` names; None if it is on a server or in memory."""
    scheme, is_url, rest = db.partition("://")
    if not is_url:
        return Path(db)
    name = rest.partition("?")[0].removeprefix("/")
    return Path(name) if scheme.startswith("sqlite") and name not in ("", ":memory:") else None


def logs_folder(db: str, tournament: str) -> Path:
    """Where the bots' output of a tournament is kept: beside the database."""
    base = Path(os.environ.get("ARENA_LOGS", "arena-logs" if "://" in db else f"{db}.logs"))
    return base / tournament


def match_name(number: int) -> str:
    """Name of a match within its tournament, such as m0312."""
    return f"m{number:04d}"


def match_place(tournament: StoredTournament, number: int) -> tuple[int, int]:
    """Block and seating of a match number."""
    return divmod(number, seatings_of(tournament))


def match_number(tournament: StoredTournament, block: int, seating: int) -> int:
    """Number of a match in its tournament."""
    return block * seatings_of(tournament) + seating


def seatings_of(tournament: StoredTournament) -> int:
    """Matches per block."""
    rotations = tournament.seats if tournament.rotate else 1
    # Both versions take each seat.
    return 2 * rotations if tournament.format == COMPARE else rotations


def is_open(tournament: StoredTournament) -> bool:
    """Whether results still decide how many matches it will have."""
    # An adaptive format keeps the deals that it was given among its settings.
    return tournament.finished_us is None and "deals" in tournament.settings


def matches_text(tournament: StoredTournament) -> str:
    """The number of its matches, as far as it is known."""
    matches = None if tournament.matches == ENDLESS else tournament.matches
    return count_text(matches, is_open(tournament))


def count_text(matches: int | None, at_most: bool) -> str:
    """A number of matches; None: without end."""
    if matches is None:
        return "endless"
    return f"at most {matches}" if at_most else str(matches)


def format_text(tournament: StoredTournament) -> str:
    """Its format and settings, such as "swiss (rounds 5, deals 10)"."""
    return settings_text(tournament.format, tournament.settings)


def settings_text(form: str, values: Mapping[str, Any]) -> str:
    """The same of a format and its settings."""
    settings = ", ".join(
        f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in values.items()
    )
    name = form.replace("-", " ")
    return f"{name} ({settings})" if settings else name


def parse_match(text: str) -> tuple[str | None, int]:
    """Tournament (None: the newest) and number of a match as a person writes it: NAME/m0312 or m0312."""
    found = _MATCH.fullmatch(text)
    if found is None:
        raise UsageError(
            f"{text!r} is no match",
            "it is neither a file nor like m0312 or NAME/m0312",
            "see: arena match list",
        )
    return found["tournament"], int(found["number"])
