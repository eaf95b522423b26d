"""`arena tournament list|show`: what came out."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from botarena.v1.record_pb2 import MatchRecord

from arena.cli.answers import show_answer
from arena.cli.common import DEFAULT_DB, DbOption
from arena.cli.losses import show_losses
from arena.cli.output import OUT
from arena.cli.source import Source, ToldRecord, open_source
from arena.cli.tables import (
    CROSSTABLE_TITLE,
    PARTNERS_TITLE,
    SEATS_TITLE,
    SUPERIORITY_TITLE,
    SURPRISES_TITLE,
    crosstable,
    partners_table,
    plain_table,
    seats_table,
    standings_table,
    standings_title,
    superiority_table,
    surprises_table,
)
from arena.errors import UsageError
from arena.games import find_game
from arena.match.evidence import public_record
from arena.match.record import seal
from arena.match.replay import replay
from arena.runs.names import count_text, settings_text
from arena.runs.selecting import Filters
from arena.store.stored import StoredTournament
from arena.tournament.formats import ENDLESS

if TYPE_CHECKING:
    from arena.store.store import Store
    from arena.tournament.report import Report

NO_NAMES: Mapping[str, Any] = {}

NameArgument = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="Name of the tournament; the newest if left out.")
]


PrivateOption = Annotated[
    bool,
    typer.Option("--private", help="Records with why bots failed, which is for their authors alone."),
]


def list_(db: DbOption = DEFAULT_DB) -> None:
    """All tournaments, oldest first."""
    with open_source(db) as source:
        rows = source.tournaments()
    heads = ("name", "kind", "game", "format", "bots", "seats", "matches", "state", "created")
    cells = [
        [
            *(row[head] for head in heads[:4]),
            len(row["bots"]),
            row["seats"],
            f"{row['stored']}/{_total(row)}",
            row["state"],
            row["created"],
        ]
        for row in rows
    ]
    OUT.table("tournament", rows, lambda: plain_table(heads, cells))


def show(name: NameArgument = None, db: DbOption = DEFAULT_DB) -> None:
    """State, settings, seed commitment, leaderboard and crosstable of a tournament."""
    with open_source(db) as source:
        show_outcome(source.result(name, details=not OUT.csv))


def show_outcome(result: dict[str, Any]) -> None:
    """All that came out of a tournament."""
    if OUT.json:
        OUT.lines("tournament", [result["tournament"]])
    elif not OUT.csv:
        OUT.text(_settings_text(result["tournament"], result["clock"]))
    show_losses(result["losses"], OUT.say if OUT.csv else OUT.text)
    show_standings(result["board"])
    if not OUT.csv:
        show_places(result["places"])
        show_details(result["board"])
    show_answer((result["answer_kind"], result["answer"]) if result["answer"] else None)


def _settings_text(row: dict[str, Any], clock: dict[str, Any]) -> str:
    options = ", ".join(f"{key}={value}" for key, value in row["options"].items()) or "none"
    total = count_text(row["matches"], row["at_most"])
    return (
        f"{row['name']}: {row['game']}, {len(row['bots'])} bots at {row['seats']} seats, "
        f"{row['stored']}/{total} matches, {row['state']}\n"
        f"{settings_text(row['format'], row['settings'])} · options {options} · "
        f"time {clock['move_us'] / 1e6:g} s a decision, "
        f"{clock['bank_us'] / 1e6:g} s a match · faults allowed {clock['faults_allowed']}\n"
        f"commitment {row['commitment']} · seed {row['seed'] or 'revealed at the end'}"
    )


def _total(row: dict[str, Any]) -> str:
    if row["matches"] is None:
        return "∞"
    return f"{'≤' if row['at_most'] else ''}{row['matches']}"


def show_places(rows: list[dict[str, Any]]) -> None:
    """A table of them, if there are any."""
    if rows:
        cells = [[row["place"], row["bot"]] for row in rows]
        OUT.table("place", rows, lambda: plain_table(("place", "bot"), cells))


def load() -> None:
    """Load now what shows results, which else is loaded when they are shown."""
    import arena.tournament.report  # noqa: F401

    if not OUT.json and not OUT.csv:
        import rich.console
        import rich.table  # noqa: F401


def read_report(store: Store, tournament: StoredTournament) -> Report:
    """The report of all that is stored of a tournament, in the order of its schedule."""
    from arena.tournament.report import report_of

    total = tournament.matches
    if total == ENDLESS:
        total = sum(1 for _ in store.done(tournament.id))
    return report_of(tournament, OUT.track(store.matches(tournament.id), total, "rating"))


def show_standings(
    board: Mapping[str, Any], *, pairs: bool = True, names: Mapping[str, Any] = NO_NAMES
) -> None:
    """Leaderboard, and the crosstable if pairs are wanted.

    Args:
        board: as `arena.runs.boards.told` tells it.
        pairs: whether they are.
        names: what goes before every row of data, to tell one board from others.
    """
    rows = [{**names, **row} for row in board["standings"]]
    cells = [{**names, **cell} for cell in board["pairs"]]
    OUT.table("standing", rows, lambda: standings_table(rows, OUT.width(sys.stdout)), standings_title(rows))
    if OUT.csv or not pairs:
        return
    order = [row["bot"] for row in rows]
    OUT.table("pair", cells, lambda: crosstable(order, cells), CROSSTABLE_TITLE)


def show_details(board: Mapping[str, Any], *, names: Mapping[str, Any] = NO_NAMES) -> None:
    """What else is known: who is better for sure, the seats, how much was luck.

    Args:
        board: as `arena.runs.boards.told` tells it, with details.
        names: as for `show_standings`.
    """
    order, cells, details = [row["bot"] for row in board["standings"]], board["pairs"], board["details"]
    seats = [{**names, **seat} for seat in details["seats"]]
    if not OUT.json:  # there it stands with the pairs
        OUT.table("pair", cells, lambda: superiority_table(order, cells), SUPERIORITY_TITLE)
    OUT.table("seat", seats, lambda: seats_table(seats, order), SEATS_TITLE)
    if OUT.json:
        OUT.lines("luck", [{**names, **details["luck"]}])
    else:
        OUT.text(_luck_text(details["luck"]))
    surprises = [{**names, **pair} for pair in details["residuals"]]
    OUT.table("residual", surprises, lambda: surprises_table(surprises), SURPRISES_TITLE)
    _show_partners(details["partnerships"], details["partnerships_reason"], names)


def _show_partners(pairs: Sequence[Mapping[str, Any]], reason: str | None, names: Mapping[str, Any]) -> None:
    """Who does better or worse with whom; people are shown who is flagged."""
    rows = [{**names, **pair} for pair in pairs]
    flagged = [row for row in rows if row["flagged"]]
    if OUT.json:
        OUT.lines("partnership", rows)
    elif reason is not None:
        OUT.text(f"help among bots cannot be judged: {reason}")
    elif not flagged:
        OUT.text(f"no bot does better or worse because another sits at its table ({len(rows)} pairs judged)")
    else:
        OUT.table("partnership", flagged, lambda: partners_table(flagged), PARTNERS_TITLE)


def _luck_text(luck: dict[str, Any]) -> str:
    index, factor = luck["luck_index"], luck["duplicate_factor"]
    spread = (
        "the bots' skills do not differ as far as the matches show"
        if index is None
        else f"luck index {index:.1f}: one bot's luck in a match, in standard deviations of the bots' skills"
    )
    worth = (
        "what duplicate deals are worth cannot be measured here"
        if factor is None
        else f"duplicate factor {factor:.2f} ± {luck['duplicate_error']:.2f}: matches that each one on a "
        "repeated deal is worth"
    )
    return f"{spread}\n{worth}"


def show_result(told: ToldRecord) -> None:
    """How one match ended, seat by seat."""
    from arena.tournament.export import Played, seat_rows

    played = Played(told.match, told.tournament, told.block, told.record())
    details = _details(played.record)
    rows = [{**row, "details": details[row["seat"]]} for row in seat_rows(played)]
    heads = ("rank", "bot", "seat", "score", "fault", "details")
    ordered = sorted(rows, key=lambda row: (row["rank"] or 0, row["seat"]))
    cells = [[_shown(row[head]) for head in heads] for row in ordered]
    OUT.table("result", ordered, lambda: plain_table(heads, cells))


def _details(record: MatchRecord) -> tuple[str, ...]:
    """What the game says about each seat's result."""
    if not record.ranks:
        return ("",) * len(record.bots)
    last = list(replay(record))[-1]
    return find_game(record.game).outcome(last.state).details


def _shown(value: object) -> str:
    return "–" if value is None or value == "" else str(value)


def write_records(source: Source, tournament: str, folder: Path, private: bool) -> None:
    """Write the record of every match of a tournament to a file of its own, as `write_record` does."""
    count = 0
    for told in source.records(Filters(tournaments=[tournament]), "writing"):
        write_record(folder, told, private)
        count += 1
    OUT.say(f"{count} records: {folder}")


def write_record(folder: Path, told: ToldRecord, private: bool) -> Path:
    """Write the record of a match to a file that is named like it; the folder is made if need be.

    Args:
        folder: where to.
        told: the match.
        private: with what only the bots' authors and the organiser may know, that is as it is stored.

    Returns:
        The file.
    """
    data = told.data if private else seal(public_record(told.record()))
    file = folder / f"{told.match}.record"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written to", str(error.strerror), "name another folder"
        ) from None
    return file
