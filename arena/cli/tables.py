"""Tables as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def _empty() -> Table:
    from rich import box  # takes a while to load, and JSON and CSV do without
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False)


_GAP = 3
"""Characters between two columns of a table."""


_STANDING_HEADS = (
    *("#", "bot", "rating", "±2σ", "group", "field\n%", "matches", "W–D–L", "mean\nrank"),
    *("think ms\np50/p99", "faults"),
)
_SPARED = (9, 8, 5, 7)
"""Columns of the leaderboard that a narrow terminal goes without, the first one first."""


def standings_table(rows: Sequence[dict[str, Any]], width: int) -> Table:
    """The leaderboard.

    Args:
        width: columns of the terminal; what does not fit is left out, column by column.
    """
    several = any(row["pool"] > 1 for row in rows)
    cells = [_standing_cells(row, several) for row in rows]
    shown = _fitting([_STANDING_HEADS, *cells], width)
    table = _empty()
    for number in shown:
        left = {"style": "bold"} if _STANDING_HEADS[number] == "bot" else {"justify": "right"}
        table.add_column(_STANDING_HEADS[number], no_wrap=True, **left)  # type: ignore[arg-type]
    for row, of_row in zip(rows, cells, strict=True):
        table.add_row(*(of_row[number] for number in shown), style="red" if row["faults"] else None)
    return table


def _fitting(cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that there is room for."""
    widths = [max(max(map(len, cell.split("\n"))) for cell in column) for column in zip(*cells, strict=True)]
    shown = list(range(len(widths)))
    for spared in _SPARED:
        if sum(widths[number] + _GAP for number in shown) <= width:
            break
        shown.remove(spared)
    return shown


def standings_title(rows: Sequence[dict[str, Any]]) -> str:
    """What the numbers of a leaderboard mean, in a few lines."""
    zero = next((row["bot"] for row in rows if row["mu"] == 0 and len(rows) > 1), None)
    lines = [
        f"rating: points above {zero or 'the mean of all'}, ± 2σ; # and group: bots of a group cannot be "
        "told from its first with 95 %",
        "field %: expected share of opponents outranked",
    ]
    if any(row["provisional"] for row in rows):
        lines[1] += "; ?: provisional, too few matches to say much"
    if any(row["pool"] > 1 for row in rows):
        lines.append(
            "bots of different pools (I, II, …) have not met, nor has any chain of opponents: compare none"
        )
    return "\n".join(lines)


def _standing_cells(row: dict[str, Any], several_pools: bool) -> list[str]:
    pool = f"{_roman(row['pool'])} " if several_pools else ""
    return [
        pool + rank_range(row),
        row["bot"],
        f"{_tenths(row['mu'])}{'?' if row['provisional'] else ''}",
        f"{2 * row['sigma']:.1f}",
        _letters(row["group"]),
        f"{100 * row['expected_share']:.0f}",
        str(row["matches"]),
        f"{row['wins']}–{row['draws']}–{row['losses']}",
        f"{row['mean_rank']:.2f}",
        think_text(row),
        faults_text(row),
    ]


def _tenths(number: float) -> str:
    """A number with one decimal; what rounds to 0 has no sign."""
    return f"{round(number, 1) + 0.0:.1f}"


def _roman(number: int) -> str:
    """A small number in Roman numerals, above 8 in ours."""
    return ("I", "II", "III", "IV", "V", "VI", "VII", "VIII")[number - 1] if number <= 8 else str(number)


def _letters(number: int) -> str:
    """The name of a group: a, b, … z, aa, ab, …"""
    number, letter = divmod(number - 1, 26)
    return (_letters(number) if number else "") + "abcdefghijklmnopqrstuvwxyz"[letter]


def rank_range(row: dict[str, Any]) -> str:
    """A place, or a range of places where the matches do not decide."""
    low, high = row["rank_low"], row["rank_high"]
    return str(low) if low == high else f"{low}–{high}"


def think_text(row: dict[str, Any]) -> str:
    """Median and 99th percentile of a bot's think times."""
    if row["think_p50_us"] is None:
        return "–"
    return f"{row['think_p50_us'] / 1000:.1f}/{row['think_p99_us'] / 1000:.1f}"


def faults_text(row: dict[str, Any]) -> str:
    """How often a bot failed, and how; rates are per 1,000 of its decisions."""
    if not row["faults"]:
        return "0"
    rates = row["faults_per_1000"]
    kinds = ", ".join(f"{kind} {rates[kind]:.2g}‰" for kind in sorted(row["faults_by_kind"]))
    return f"{row['faults']} ({kinds})"


def crosstable(order: Sequence[str], cells: Sequence[dict[str, Any]]) -> Table:
    """Who ranked above whom: share of common matches in per cent, with its standard error."""
    return _square(order, {(cell["bot"], cell["against"]): _cell(cell) for cell in cells})


def _square(order: Sequence[str], texts: Mapping[tuple[str, str], str]) -> Table:
    """A table of all bots against all: texts by row and column."""
    table = _empty()
    table.add_column("", style="bold")
    for name in order:
        table.add_column(name, justify="right", no_wrap=True)
    for name in order:
        table.add_row(name, *(texts.get((name, other), "·") for other in order))
    return table


CROSSTABLE_TITLE = "share of matches in which the row ranked above the column, % ± standard error"


def _cell(cell: dict[str, Any]) -> str:
    if cell["share"] is None:
        return "·"
    error = "" if cell["error"] is None else f" ± {100 * cell['error']:.1f}"
    return f"{100 * cell['share']:.1f}{error}"


def superiority_table(order: Sequence[str], cells: Sequence[dict[str, Any]]) -> Table:
    """How sure it is that the row's bot is better than the column's, in per cent."""
    return _square(order, {(cell["bot"], cell["against"]): _sure(cell["better"]) for cell in cells})


SUPERIORITY_TITLE = "probability that the row is better than the column, %"


def _sure(probability: float) -> str:
    """A probability in per cent that never claims more than there is: 99.97 is not 100."""
    if 0.001 <= probability <= 0.999:
        return f"{100 * probability:.1f}"
    return ">99.9" if probability > 0.5 else "<0.1"


SEATS_TITLE = "by seat: advantage in rating points ± 2σ, and share of opponents outranked, % ± standard error"


def seats_table(rows: Sequence[dict[str, Any]], order: Sequence[str]) -> Table:
    """How each seat fared, with all bots and with each of them."""
    table = _empty()
    for head in ("seat", "advantage", "all bots", *order):
        table.add_column(head, justify="right", no_wrap=True)
    found = {(row["seats"], row["seat"], row["bot"]): row for row in rows}
    for size, seat in sorted({(row["seats"], row["seat"]) for row in rows}):
        whole = found[size, seat, None]
        advantage = "–" if whole["sigma"] is None else f"{whole['advantage']:+.1f} ± {2 * whole['sigma']:.1f}"
        shares = (_points(found.get((size, seat, bot))) for bot in (None, *order))
        table.add_row(f"{seat} of {size}", advantage, *shares)
    return table


def _points(row: dict[str, Any] | None) -> str:
    if row is None:
        return "·"
    error = "" if row["error"] is None else f" ± {100 * row['error']:.1f}"
    return f"{100 * row['points']:.1f}{error}"


SURPRISES_TITLE = (
    "pairs whose results their ratings tell least: share of matches in which the first ranked above, %; "
    "z above 3 is rarely luck"
)


def surprises_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Pairs that did not do as expected."""
    cells = [
        [
            f"{row['bot']} against {row['against']}",
            f"{100 * row['observed']:.1f}",
            f"{100 * row['expected']:.1f} ± {100 * row['error']:.1f}",
            f"{row['z']:.1f}",
            row["matches"],
        ]
        for row in rows
    ]
    return plain_table(("pair", "observed", "expected", "z", "matches"), cells)


PARTNERS_TITLE = (
    "bots that do better or worse when another sits at their table: change of the share of third bots "
    "outranked, %; p is corrected for the number of pairs"
)


def partners_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Bots that another one seems to help or harm."""
    cells = [
        [
            f"{row['bot']} with {row['with']}",
            f"{100 * row['effect']:+.1f} ± {100 * row['error']:.1f}",
            f"{row['p_corrected']:.1g}",
            row["matches"],
        ]
        for row in rows
    ]
    return plain_table(("bot", "change", "p", "matches"), cells)


HISTORY_TITLE = "rating ± 2σ against matches played"


def history_table(points: Sequence[dict[str, Any]], order: Sequence[str]) -> Table:
    """Ratings of every bot at points on the way."""
    table = _empty()
    for head in ("matches", *order):
        table.add_column(head, justify="right", no_wrap=True)
    found = {(point["at"], point["bot"]): point for point in points}
    for at in sorted({point["at"] for point in points}):
        table.add_row(str(at), *(_rating(found.get((at, bot))) for bot in order))
    return table


def _rating(row: dict[str, Any] | None) -> str:
    return "·" if row is None else f"{_tenths(row['mu'])} ± {2 * row['sigma']:.1f}"


OVERALL_TITLE = "rating: mean of the games' ratings, each in standard deviations of these bots' skills, ± 2σ"


def overall_table(rows: Sequence[dict[str, Any]], games: Sequence[str]) -> Table:
    """Ratings over several games."""
    table = _empty()
    for head in ("#", "bot", "rating", "±2σ", "group", *games):
        left = {"style": "bold"} if head == "bot" else {"justify": "right"}
        table.add_column(head, no_wrap=True, **left)  # type: ignore[arg-type]
    for row in rows:
        rating = (f"{row['mu']:+.2f}", f"{2 * row['sigma']:.2f}", _letters(row["group"]))
        table.add_row(rank_range(row), row["bot"], *rating, *(f"{row['games'][game]:+.2f}" for game in games))
    return table


def plain_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Any small table."""
    table = _empty()
    for head in heads:
        table.add_column(head, no_wrap=True)
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    return table
