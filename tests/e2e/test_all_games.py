"""Every game through the protocol: house bots at its smallest and, with every option, largest table."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from botarena.v1.record_pb2 import Verdict

from arena.games import GAMES
from arena.match.record import unseal
from arena.match.replay import verify
from arena.store.store import Store, sqlite_url
from tests.e2e.arena import Arena
from tests.games.option_sets import GOLDEN_SETS, OptionSet, label

BOTS = [f"house:{name}" for name in ("random", "first", "greedy", "search")]
# The largest table meets every option, the smallest none and most of them.
TABLES = [
    pytest.param(name, seats, options, id=f"{name}-{seats}-{label(options)}")
    for name, game in GAMES.items()
    for seats, sets in (
        (game.seats[0], (GOLDEN_SETS[name][0], GOLDEN_SETS[name][-1])),
        (game.seats[-1], GOLDEN_SETS[name]),
    )
    for options in sets
]


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return Arena(tmp_path)


def test_all_five_games_are_listed(arena: Arena) -> None:
    rows = arena.lines("games", "list")
    assert [row["game"] for row in rows] == ["koffer", "hochstapler", "kamozza", "kotki", "combo_up"]
    assert all(set(BOTS) <= set(row["house_bots"]) for row in rows)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_tells_what_a_turn_shows_and_its_rules(arena: Arena, game: str) -> None:
    (row,) = arena.lines("games", "show", game)
    assert row["turn"]["what a turn shows"]
    assert row["turn"]["an action"]
    assert arena.run("games", "show", game, "--rules").stdout.startswith("# ")


def test_a_whole_replay_shows_every_hand_and_a_seats_replay_its_own(arena: Arena) -> None:
    arena.run("play", "combo_up", "house:first", "house:first", "house:first", "--seed", "1")
    whole, own = (arena.run("replay", "m0000", *only).stdout for only in ((), ("--seat", "1")))
    for seat in range(3):
        assert f"[seat {seat}: hand" in whole
        assert (f"seat {seat}: hand" in own) == (seat == 1)
    steps, own_steps = (arena.lines("replay", "m0000", *only) for only in ((), ("--seat", "1")))
    assert [len(view["hand"]) for view in steps[0]["views"]] == [10, 10, 10]
    assert steps[0]["views"][1] == own_steps[0]["view"]
    assert not any("views" in step for step in own_steps)


@pytest.mark.parametrize(("game", "seats", "options"), TABLES)
def test_a_tournament_without_a_fault(arena: Arena, game: str, seats: int, options: OptionSet) -> None:
    words = ["tournament", "run", game, *BOTS, "--seats", str(seats), "--deals", "1", "--name", "cup"]
    arena.run(*words, *(word for name, value in options.items() for word in ("--option", f"{name}={value}")))
    with closing(Store(sqlite_url(arena.folder / "arena.db"))) as store:
        records = [unseal(match.record) for match in store.matches(store.tournament("cup").id)]
    assert records
    for record in records:
        assert record.verdict == Verdict.VERDICT_PLAYED
        assert not record.faults
        verify(record)
    if options == GOLDEN_SETS[game][-1]:
        assert "rank 1" in arena.run("replay", "m0000").stdout
