"""What came out of a tournament, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from arena.runs.answers import answer_of
from arena.runs.rows import loss_rows, place_rows, tournament_row
from arena.store.stored import StoredTournament

if TYPE_CHECKING:
    from arena.store.store import Store

Row = dict[str, Any]


CLOCK = ("move_us", "bank_us", "faults_allowed", "rotate")
"""What is told of a tournament besides its row."""


def clock_row(tournament: StoredTournament) -> Row:
    """The clock of every seat, and its tolerance."""
    return {name: getattr(tournament, name) for name in CLOCK}


def result_of(store: Store, tournament: StoredTournament, board: Row) -> Row:
    """What came out of it so far.

    Args:
        store: where it is.
        tournament: as stored.
        board: its leaderboard.
    """
    kind, answer = answer_of(store, tournament) or ("", None)
    return {
        "tournament": tournament_row(tournament, board["matches"]),
        "clock": clock_row(tournament),
        "board": board,
        "places": place_rows(store, tournament),
        "losses": loss_rows(tournament, store.lost(tournament.id)),
        "answer_kind": kind,
        "answer": answer,
        "retired": [bot.name for bot in tournament.bots if bot.retired],
    }


def repeat_command(tournament: StoredTournament) -> str:
    """The command that plays the same again; empty while its seed is secret.

    Bots are named as they were called: whoever repeats it puts his own references in their places.
    """
    if tournament.finished_us is None:
        return ""
    return " ".join(["arena tournament run", tournament.game, *_words(tournament)])


def _words(t: StoredTournament) -> Iterator[str]:
    for bot in t.bots:
        reference = bot.spec.get("reference", "")
        yield reference if str(reference).startswith("house:") else bot.name
    for key, value in t.options.items():
        yield f"--option {key}={value}"
    yield f"--seats {t.seats}"
    if t.format != "round-robin":
        yield f"--format {t.format}"
    yield f"--deals {t.settings.get('deals', t.deals)}"
    yield f"--seed {t.seed.hex()}"
    if not t.rotate:
        yield "--no-rotate"
