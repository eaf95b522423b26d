"""`arena leaderboard` and `arena tournament list|show`: what came out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from botarena.v1.record_pb2 import MatchRecord

from arena.cli.common import DEFAULT_DB, DbOption, match_name, match_number, open_store
from arena.cli.output import OUT
from arena.cli.tables import CROSSTABLE_TITLE, crosstable, plain_table, standings_table
from arena.errors import NotFoundError, UsageError
from arena.games import find_game
from arena.match.replay import replay
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.runner import commitment

if TYPE_CHECKING:
    from arena.store.store import Store
    from arena.tournament.report import Report

NameArgument = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="Name of the tournament; the newest if left out.")
]


def leaderboard(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Only of this game.")] = None,
    tournament: Annotated[
        str | None, typer.Option("--tournament", metavar="NAME", help="The newest if left out.")
    ] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Rating with its uncertainty, places, results and faults of every bot of a tournament."""
    with open_store(db) as store:
        report = read_report(store, _chosen(store, game, tournament))
        rows = report.rows()
        OUT.table("standing", rows, lambda: standings_table(rows))


def _chosen(store: Store, game: str | None, name: str | None) -> StoredTournament:
    if game is None or name is not None:
        return store.tournament(name)
    find_game(game)
    of_game = [tournament for tournament, _ in store.tournaments() if tournament.game == game]
    if not of_game:
        raise NotFoundError(
            f"there is no leaderboard of {game}",
            "no tournament of it has been played",
            f"run: arena tournament run {game}",
        )
    return of_game[-1]


def list_(db: DbOption = DEFAULT_DB) -> None:
    """All tournaments, oldest first."""
    with open_store(db) as store:
        rows = [_row(tournament, stored) for tournament, stored in store.tournaments()]
    heads = ("name", "kind", "game", "bots", "seats", "matches", "state", "created")
    cells = [
        [
            *(row[head] for head in heads[:3]),
            len(row["bots"]),
            row["seats"],
            f"{row['stored']}/{row['matches']}",
            row["state"],
            row["created"],
        ]
        for row in rows
    ]
    OUT.table("tournament", rows, lambda: plain_table(heads, cells))


def show(name: NameArgument = None, db: DbOption = DEFAULT_DB) -> None:
    """State, settings, seed commitment, leaderboard and crosstable of a tournament."""
    with open_store(db) as store:
        tournament = store.tournament(name)
        report = read_report(store, tournament)
        row = _row(tournament, report.matches)
    if OUT.json:
        OUT.lines("tournament", [row])
    elif not OUT.csv:
        options = ", ".join(f"{key}={value}" for key, value in tournament.options.items()) or "none"
        OUT.text(
            f"{tournament.name}: {tournament.game}, {len(tournament.bots)} bots at {tournament.seats} seats, "
            f"{row['stored']}/{tournament.matches} matches, {row['state']}\n"
            f"options {options} · time {tournament.move_us / 1e6:g} s a decision, "
            f"{tournament.bank_us / 1e6:g} s a match · faults allowed {tournament.faults_allowed}\n"
            f"commitment {row['commitment']} · seed {row['seed'] or 'revealed at the end'}"
        )
    show_standings(report)


def _row(tournament: StoredTournament, stored: int) -> dict[str, Any]:
    finished = tournament.finished_us is not None
    return {
        "name": tournament.name,
        "kind": tournament.kind,
        "game": tournament.game,
        "options": tournament.options,
        "bots": [{"name": bot.name, "version": bot.version} for bot in tournament.bots],
        "seats": tournament.seats,
        "deals": tournament.deals,
        "matches": tournament.matches,
        "stored": stored,
        "state": "finished" if finished else "unfinished",
        "created": time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(tournament.created_us / 1e6)),
        "commitment": commitment(tournament.seed),
        # Before the end the seed would tell the deals that are still to come.
        "seed": tournament.seed.hex() if finished else None,
    }


def load() -> None:
    """Load now what shows results, which else is loaded when they are shown."""
    import arena.tournament.report  # noqa: F401

    if not OUT.json and not OUT.csv:
        import rich.console
        import rich.table  # noqa: F401


def read_report(store: Store, tournament: StoredTournament) -> Report:
    """The report of all that is stored of a tournament, in the order of its schedule."""
    from arena.tournament.report import report_of

    return report_of(tournament, OUT.track(store.matches(tournament.id), tournament.matches, "rating"))


def show_standings(report: Report) -> None:
    """Leaderboard and crosstable."""
    rows, cells = report.rows(), report.crosstable()
    OUT.table("standing", rows, lambda: standings_table(rows))
    if OUT.csv:
        return
    order = [row["bot"] for row in rows]
    OUT.table("pair", cells, lambda: crosstable(order, cells), CROSSTABLE_TITLE)


def show_result(store: Store, tournament: StoredTournament, block: int, seating: int) -> None:
    """How one match ended, seat by seat."""
    from arena.tournament.export import Played, seat_rows

    name = match_name(match_number(tournament, block, seating))
    played = Played.read(name, tournament, store.match(tournament.id, block, seating))
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


def write_records(store: Store, tournament: StoredTournament, folder: Path) -> None:
    """Write the record of every match of a tournament to a file of its own."""
    count = 0
    for played in store.matches(tournament.id):
        write_record(folder, tournament, played)
        count += 1
    OUT.say(f"{count} records: {folder}")


def write_record(folder: Path, tournament: StoredTournament, played: StoredMatch) -> None:
    """Write the record of a match to a file that is named like it; the folder is made if need be."""
    name = match_name(match_number(tournament, played.block, played.seating))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.record").write_bytes(played.record)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written to", str(error.strerror), "name another folder"
        ) from None
