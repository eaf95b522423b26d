"""The house bots stand in the order that they should, and the leaderboard is sure of it."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.arena import Arena


def test_search_beats_greedy_and_greedy_beats_the_rest_beyond_their_uncertainty(tmp_path: Path) -> None:
    arena = Arena(tmp_path)
    bots = [f"house:{name}" for name in ("first", "greedy", "random", "search")]
    arena.run("tournament", "run", "koffer", *bots, "--deals", "50", "--seed", "2026")
    rows = {row["bot"]: row for row in arena.lines("leaderboard")}
    for better, worse in (("search", "greedy"), ("greedy", "first"), ("greedy", "random")):
        assert rows[better]["rank_high"] < rows[worse]["rank_low"], (better, worse)
        assert rows[better]["mu"] - rows[worse]["mu"] > 2 * (rows[better]["sigma"] + rows[worse]["sigma"])
    assert all(row["faults"] == 0 for row in rows.values())
