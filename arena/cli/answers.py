"""How the answers of tournaments that end with one are shown."""

from __future__ import annotations

from arena.cli.output import OUT
from arena.cli.tables import plain_table
from arena.runs.answers import Row


def show_answer(answer: tuple[str, Row] | None) -> None:
    """Data for programs, figures of a comparison for people, and what they come to as a sentence."""
    if answer is None:
        return
    kind, row = answer
    if OUT.json:
        OUT.lines(kind, [row])
    elif kind == "comparison" and not OUT.csv:
        OUT.stdout().print(plain_table(("new against old", ""), _figures(row)), soft_wrap=False)
    OUT.say(row["statement"])


def _figures(row: Row) -> list[tuple[str, str]]:
    return [
        ("opponents outranked", _interval(row, "share", 100, " %")),
        ("mean score", _interval(row, "score", 1, "")),
        ("identical pairs of matches", f"{row['identical']} of {row['pairs']}"),
        ("log-likelihood ratio", f"{row['llr']:+.2f} (decided beyond ±{row['llr_bound']:.2f})"),
        ("verdict", row["verdict"]),
    ]


def _interval(row: Row, what: str, scale: float, unit: str) -> str:
    low, high = row[f"{what}_low"], row[f"{what}_high"]
    ends = "" if low is None else f" (95 %: {scale * low:+.2f} to {scale * high:+.2f})"
    return f"{scale * row[f'{what}_difference']:+.2f}{unit}{ends}"
