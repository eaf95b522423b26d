"""What is missing of a tournament since the machine lost it, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arena.cli.output import OUT

_NAMED = 3
"""Blocks that are named of those that were lost for one reason."""


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
