"""Single matches as plain data: how they went, and what is known of the faults in them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botarena.v1.record_pb2 import MatchRecord

from arena.match.evidence import ToldFault
from arena.match.verdicts import FAULTS, fault_name
from arena.runs.names import match_name, match_number, match_place, parse_match
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.export import Played, seat_rows

if TYPE_CHECKING:
    from arena.store.store import Store

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A match of the database."""

    tournament: StoredTournament
    played: StoredMatch

    @property
    def match(self) -> str:
        """Its name within its tournament."""
        return match_name(match_number(self.tournament, self.played.block, self.played.seating))

    @property
    def name(self) -> str:
        """Its name, as commands take it."""
        return f"{self.tournament.name}/{self.match}"


def find_match(store: Store, text: str) -> Found:
    """The match that somebody means by NAME/m0312 or m0312.

    Raises:
        UsageError: it is no name of a match.
        NotFoundError: there is none.
    """
    name, number = parse_match(text)
    tournament = store.tournament(name)
    return Found(tournament, store.match(tournament.id, *match_place(tournament, number)))


def match_row(tournament: StoredTournament, played: StoredMatch) -> Row:
    """How a match went."""
    name = match_name(match_number(tournament, played.block, played.seating))
    told = Played.read(name, tournament, played)
    record, seats = told.record, list(seat_rows(told))
    return {
        **{key: seats[0][key] for key in ("tournament", "match", "deal", "seating", "verdict", "decisions")},
        "bots": [seat["bot"] for seat in seats],
        "ranks": list(record.ranks),
        "scores": list(record.scores),
        "faults": [f"{seats[f.seat]['bot']} {fault_name(f.kind)}" for f in record.faults],
    }


def has_faults(row: Row) -> bool:
    """Whether a match is void, or a bot failed in it."""
    return bool(row["faults"] or not row["ranks"])


def fault_row(record: MatchRecord, told: ToldFault) -> Row:
    """All that is known of a fault, for the bot's author and the organiser alone."""
    fault, detail, evidence = told
    return {
        "bot": record.bots[fault.seat].name,
        "seat": fault.seat,
        "decision": fault.decision,
        "fault": fault_name(fault.kind),
        "forfeit": fault.forfeit,
        "time": _time(evidence.at_us) if evidence.at_us else None,
        "detail": detail,
        "exit_code": evidence.exit_code if evidence.HasField("exit_code") else None,
        "signal": evidence.signal,
        "memory_peak_bytes": evidence.memory_peak_bytes or None,
        "stderr": evidence.stderr,
        "advice": FAULTS[fault.kind].advice,
    }


def _time(microseconds: int) -> str:
    """A time as the bots' logs have it."""
    found = datetime.fromtimestamp(microseconds // 1000 / 1e3, UTC)
    return f"{found.isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"


_ENTRY = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+Z) (out|err) (.*)", re.DOTALL)


def log_rows(path: Path, record: MatchRecord, whole: bool) -> Iterator[Row]:
    """Lines of a log, by default those of the time in which the match was played."""
    if not path.is_file():
        return
    begin = datetime.fromtimestamp(record.circumstances.started_us / 1e6, UTC) - timedelta(milliseconds=1)
    end = begin + timedelta(microseconds=record.circumstances.length_us + 100_000)
    with path.open(encoding="utf-8", errors="backslashreplace") as file:
        for line in file:
            if entry := _ENTRY.fullmatch(line.rstrip("\n")):
                if whole or begin <= datetime.fromisoformat(entry[1]) <= end:
                    yield {"time": entry[1], "stream": entry[2], "text": entry[3]}
            elif whole:
                yield {"time": "", "stream": "", "text": line.rstrip("\n")}


def last_rows(rows: Iterator[Row], most_bytes: int) -> tuple[list[Row], bool]:
    """The last lines of a log that fit into so many bytes, and whether there are more before them."""
    kept: deque[Row] = deque()
    size, cut = 0, False
    for row in rows:
        kept.append(row)
        size += len(row["text"]) * 4
        while size > most_bytes and len(kept) > 1:
            size -= len(kept.popleft()["text"]) * 4
            cut = True
    return list(kept), cut
