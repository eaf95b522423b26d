"""Tables as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def _empty() -> Table:
    from rich import box  # takes a while to load, and JSON and CSV do without
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False)


def standings_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The leaderboard."""
    table = _empty()
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("bot", no_wrap=True, style="bold")
    for head in ("rating", "±2σ", "matches", "W–D–L", "mean rank", "think p50/p99", "faults"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            rank_range(row),
            row["bot"],
            f"{row['mu']:.2f}",
            f"{2 * row['sigma']:.2f}",
            str(row["matches"]),
            f"{row['wins']}–{row['draws']}–{row['losses']}",
            "–" if row["mean_rank"] is None else f"{row['mean_rank']:.2f}",
            think_text(row),
            faults_text(row),
            style="red" if row["faults"] else None,
        )
    return table


def rank_range(row: dict[str, Any]) -> str:
    """A place, or a range of places where the matches do not decide."""
    low, high = row["rank_low"], row["rank_high"]
    return str(low) if low == high else f"{low}–{high}"


def think_text(row: dict[str, Any]) -> str:
    """Median and 99th percentile of a bot's think times."""
    if row["think_p50_us"] is None:
        return "–"
    return f"{row['think_p50_us'] / 1000:.1f}/{row['think_p99_us'] / 1000:.1f} ms"


def faults_text(row: dict[str, Any]) -> str:
    """How often a bot failed, and how."""
    if not row["faults"]:
        return "0"
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(row["faults_by_kind"].items()))
    return f"{row['faults']} ({kinds})"


def crosstable(order: Sequence[str], cells: Sequence[dict[str, Any]]) -> Table:
    """Who ranked above whom: share of common matches in per cent, with its standard error."""
    table = _empty()
    table.add_column("", style="bold")
    for name in order:
        table.add_column(name, justify="right", no_wrap=True)
    found = {(cell["bot"], cell["against"]): cell for cell in cells}
    for name in order:
        table.add_row(name, *(_cell(found.get((name, other))) for other in order))
    return table


CROSSTABLE_TITLE = "share of matches in which the row ranked above the column, % ± standard error"


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None or cell["share"] is None:
        return "·"
    error = "" if cell["error"] is None else f" ± {100 * cell['error']:.1f}"
    return f"{100 * cell['share']:.1f}{error}"


def plain_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Any small table."""
    table = _empty()
    for head in heads:
        table.add_column(head, no_wrap=True)
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    return table
