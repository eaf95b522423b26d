"""What is missing of a tournament since the machine lost it, and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from arena.cli.common import match_name, match_number, seatings_of
from arena.cli.output import OUT, printable
from arena.store.stored import StoredLoss, StoredTournament

_NAMED = 3
"""Blocks that are named of those that were lost for one reason."""


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


def show_losses(rows: Sequence[dict[str, Any]], tell: Callable[[str], None]) -> None:
    """Data, or a line for each reason.

    Args:
        tell: takes the lines.
    """
    if OUT.json:
        OUT.lines("lost_block", rows)
        return
    for reason in dict.fromkeys(row["reason"] for row in rows):
        tell(_line(reason, [row for row in rows if row["reason"] == reason]))


def _line(reason: str, rows: Sequence[dict[str, Any]]) -> str:
    named = ", ".join(f"{row['first']} to {row['last']}" for row in rows[:_NAMED])
    more = f" and {len(rows) - _NAMED} blocks more" if len(rows) > _NAMED else ""
    runs = max(row["runs"] for row in rows)
    often = f" in {runs} runs" if runs > 1 else ""
    return f"missing, INFRA_FAULT: {named}{more}: {reason}{often}, last at {rows[-1]['lost']}"
