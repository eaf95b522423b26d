"""House bots play for themselves, and a real tournament of theirs says so."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from arena.games import find_game
from arena.match.verdicts import RATED
from arena.ratings.fit import fit
from arena.ratings.fold import Result, TieRule
from arena.ratings.partners import partners
from arena.ratings.residuals import residuals
from arena.ratings.results import Results
from arena.store.store import Store, sqlite_url
from arena.tournament.report import played_record
from tests.e2e.arena import Arena

BOTS = ("house:first", "house:greedy", "house:random", "house:search")


def stored_results(path: Path, tournament: str) -> Results:
    results = Results()
    with closing(Store(sqlite_url(path))) as store:
        for played in store.matches(store.tournament(tournament).id):
            record = played_record(played)
            assert record.verdict in RATED
            names = tuple(bot.name for bot in record.bots)
            results.add(Result(names, tuple(record.ranks), record.seed), record.deal)
    return results


@pytest.mark.parametrize(("game", "deals"), [("koffer", "44"), ("kamozza", "44")])
def test_house_bots_are_no_partners(tmp_path: Path, game: str, deals: str) -> None:
    arena = Arena(tmp_path)
    run = ("tournament", "run", game, *BOTS, "--seats", "3", "--deals", deals, "--seed", "1", "--name", "cup")
    arena.run(*run)
    results = stored_results(tmp_path / "arena.db", "cup")
    assert len(results) == 3 * int(deals)
    rated = fit(results, TieRule(find_game(game).ties.value))
    found = partners(results, rated)
    assert found.reason is None
    assert len(found.pairs) == len(BOTS) * (len(BOTS) - 1)
    assert [pair for pair in found.pairs if pair.flagged] == []
    assert max((each.z for each in residuals(results, rated)), default=0.0) < 4
