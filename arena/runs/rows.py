"""Tournaments and what is known of them as plain data: what `--json` prints and the server tells."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.runs.names import is_open, match_name, match_number, seatings_of
from arena.store.stored import StoredLoss, StoredTournament
from arena.text import printable
from arena.tournament.formats import ENDLESS
from arena.tournament.runner import commitment, places_of

if TYPE_CHECKING:
    from arena.store.store import Store
    from arena.tournament.report import Report


def tournament_row(tournament: StoredTournament, stored: int) -> dict[str, Any]:
    """A tournament as plain data, with the number of its stored matches."""
    finished = tournament.finished_us is not None
    return {
        "name": tournament.name,
        "kind": tournament.kind,
        "game": tournament.game,
        "options": tournament.options,
        "bots": [{"name": bot.name, "version": bot.version} for bot in tournament.bots],
        "seats": tournament.seats,
        "format": tournament.format,
        "settings": tournament.settings,
        "deals": None if tournament.matches == ENDLESS else tournament.deals,
        "matches": None if tournament.matches == ENDLESS else tournament.matches,
        "at_most": is_open(tournament),
        "stored": stored,
        "state": "finished" if finished else "unfinished",
        "created": time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(tournament.created_us / 1e6)),
        "commitment": commitment(tournament.seed),
        # Before the end the seed would tell the deals that are still to come.
        "seed": tournament.seed.hex() if finished else None,
    }


def place_rows(store: Store, tournament: StoredTournament) -> list[dict[str, Any]]:
    """The places that a format gives besides the ratings; bots of one group share theirs."""
    rows: list[dict[str, Any]] = []
    for group in places_of(store, tournament):
        place = len(rows) + 1
        rows += [{"place": place, "bot": tournament.bots[bot].name} for bot in group]
    return rows


def loss_rows(tournament: StoredTournament, losses: Sequence[StoredLoss]) -> list[dict[str, Any]]:
    """The blocks that are missing, as plain data: with their matches, why, and after how many runs."""
    return [
        {
            "tournament": tournament.name,
            "block": loss.block,
            "first": match_name(match_number(tournament, loss.block, 0)),
            "last": match_name(match_number(tournament, loss.block, seatings_of(tournament) - 1)),
            "verdict": "INFRA_FAULT",
            "reason": printable(loss.reason),
            "runs": loss.runs,
            "lost": time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(loss.lost_us / 1e6)),
        }
        for loss in losses
    ]


def told(report: Report, details: bool = False) -> dict[str, Any]:
    """A report as plain data.

    Args:
        report: what is told.
        details: whether with seats, luck, and pairs that are conspicuous.
    """
    rows: dict[str, Any] = {
        "matches": report.matches,
        "standings": report.rows(),
        "pairs": report.crosstable(),
        "details": None,
        "history": [],
    }
    return rows | {"details": told_details(report)} if details else rows


def told_details(report: Report) -> dict[str, Any]:
    """What else is known of its matches."""
    partnerships, reason = report.partners()
    return {
        "seats": report.seats(),
        "luck": report.luck(),
        "residuals": report.surprises(),
        "partnerships": partnerships,
        "partnerships_reason": reason,
    }
