"""Tables as people read them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from arena.cli.tables import standings_table, standings_title


def row(bot: str, mu: float, **others: Any) -> dict[str, Any]:
    counted = {"matches": 12345, "wins": 4000, "draws": 345, "losses": 8000, "mean_rank": 2.25}
    known = {"pool": 1, "rank_low": 1, "rank_high": 2, "group": 27, "sigma": 1.0, "provisional": False}
    times = {
        "think_p50_us": 1000,
        "think_p99_us": 20_000,
        "faults": 0,
        "faults_by_kind": {},
        "faults_per_1000": {},
    }
    return {"bot": bot, "mu": mu, "expected_share": 0.5, **counted, **known, **times, **others}


def drawn(rows: list[dict[str, Any]], width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(standings_table(rows, width))
    return stream.getvalue()


@pytest.mark.parametrize("width", [56, 60, 80, 100, 200])
def test_what_a_leaderboard_shows_is_whole_however_narrow_the_terminal(width: int) -> None:
    shown = drawn([row("search", 12.0), row("greedy", -3.04)], width)
    assert "…" not in shown.replace("p50/p99", "")
    assert all(word in shown for word in ("search", "12.0", "-3.0", "1–2", "aa", "faults"))
    assert ("4000–345–8000" in shown) == (width >= 80)
    assert ("1.0/20.0" in shown) == (width >= 100)


def test_a_rating_that_rounds_to_nothing_has_no_sign() -> None:
    assert "-0.0" not in drawn([row("first", -1e-9), row("random", 1e-9)], 200)


def test_faults_are_told_per_thousand_decisions() -> None:
    failing = row("bad", 0.0, faults=3, faults_by_kind={"TIMEOUT": 3}, faults_per_1000={"TIMEOUT": 1.25})
    assert "3 (TIMEOUT 1.2‰)" in drawn([failing], 200)


def test_the_title_says_what_is_zero_and_what_cannot_be_compared() -> None:
    assert "points above random" in standings_title([row("a", 3.0), row("random", 0)])
    assert "points above the mean of all" in standings_title([row("a", 3.0), row("b", -3.0)])
    assert "provisional" in standings_title([row("a", 3.0, provisional=True)])
    assert "have not met" in standings_title([row("a", 3.0), row("b", 1.0, pool=2)])
    assert drawn([row("a", 3.0), row("b", 1.0, pool=2)], 200).count("II 1–2") == 1
