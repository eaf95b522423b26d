"""The arena must favour no seat and no place in a list: copies of one bot come out exactly equal.

Every deal is played in all rotations, and a bot's own chance follows from deal and seat. So all matches of a
deal go the same way, each copy has each seat once, and their totals are the same to the last digit.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.games import GAMES
from tests.e2e.arena import Arena


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("bot", ["house:greedy", "house:random"])
def test_copies_of_a_bot_come_out_equal(tmp_path: Path, game: str, bot: str) -> None:
    rows = Arena(tmp_path).lines("tournament", "run", game, bot, "--seats", "3", "--deals", "2")
    standings = [row for row in rows if row["kind"] == "standing"]
    counted = ("matches", "wins", "draws", "losses", "mean_rank", "mean_score", "points", "decisions")
    assert len(standings) == 3
    for row in standings:
        assert {name: row[name] for name in counted} == {name: standings[0][name] for name in counted}
        assert row["mu"] == pytest.approx(0, abs=1e-6)
        assert (row["rank_low"], row["rank_high"], row["group"]) == (1, 3, 1)
        assert row["expected_share"] == pytest.approx(0.5)
