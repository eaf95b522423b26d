"""Hochstapler as people read it."""

from __future__ import annotations

from arena.games import find_game
from arena.games.hochstapler.rules import ALL_ACTIONS, COLOURS
from tests.games.hochstapler.positions import (
    UNSHUFFLED,
    call,
    doubt,
    exchange,
    game_of,
    lose,
    play,
    table,
    table_of,
)

HOCHSTAPLER = find_game("hochstapler")
PILES = {"wine": (3, 2, 1, 4), "yacht": (1, 5, 0, 2), "ring": (5, 4, 3)}


def test_a_table() -> None:
    state = table(3, PILES)
    play(state, call(9, "ring"), exchange("wine"), call(13, "ring"), doubt, call(4, "clock"))
    play(state, exchange("yacht"))
    assert HOCHSTAPLER.table_text(HOCHSTAPLER.view(state, 0)).splitlines() == [
        "4 clock by seat 2; seat 0 exchanged yacht and must call; highest call 18",
        "clock: 12 face down; card 0",
        "house: 12 face down; card 0",
        "car: 12 face down; card 0",
        "wine: 11 face down; discards 2(1); card 3",
        "diamond: 12 face down; card 0",
        "yacht: 11 face down; discards 1(0); drawn 2; card 2",
        "ring: 5 4 3 = 12, taken by seat 1",
        "> seat 0: 0 penalty points",
        "  seat 1: 1 penalty point; took ring",
        "  seat 2: 0 penalty points",
        "calls: 4 clock by seat 2",
    ]
    hand = "hand clock 0, house 0, car 0, wine 3, diamond 0, yacht 2"
    assert HOCHSTAPLER.private_text(HOCHSTAPLER.view(state, 0)) == hand


def test_a_spectator_sees_no_hand() -> None:
    state = table(3, PILES)
    play(state, exchange("wine"), call(9, "ring"))
    text = HOCHSTAPLER.table_text(HOCHSTAPLER.view(state, None))
    assert "; card" not in text
    assert "drawn" not in text
    assert text.splitlines()[-1] == "calls: 9 ring by seat 0 after exchanging wine"


def test_the_first_turn_of_an_auction() -> None:
    lines = HOCHSTAPLER.table_text(HOCHSTAPLER.view(table(4, start_seat=2), 0)).splitlines()
    assert lines[0] == "no call; highest call 23"
    assert lines[-1] == "calls: seat 2 begins"


def test_a_match() -> None:
    state = table_of(3, [UNSHUFFLED, UNSHUFFLED, game_of(PILES)], match=True)
    for loser in (0, 0, 0, 1, 1, 2, 2, 0, 0, 0, 0, 1, 1, 2):
        lose(state, loser)
    play(state, call(18, "wine"), doubt)
    lines = HOCHSTAPLER.table_text(HOCHSTAPLER.view(state, 0)).splitlines()
    assert lines[0] == "game 3; no call; highest call 18"
    assert lines[8:11] == [
        "> seat 0: 0 penalty points; 7 in the match, 3 + 4 before",
        "  seat 1: 0 penalty points; 4 in the match, 2 + 2 before",
        "  seat 2: 1 penalty point; took wine; 4 in the match, 2 + 1 before",
    ]


def test_a_match_that_is_over_has_nobody_to_move() -> None:
    state = table(3)
    for _ in COLOURS:
        lose(state, 1)
    lines = HOCHSTAPLER.table_text(HOCHSTAPLER.view(state, 0)).splitlines()
    assert lines[0] == "no call; over"
    assert lines[-3] == "  seat 1: 7 penalty points; took clock, house, car, wine, diamond, yacht, ring"
    assert lines[-1].endswith("18 ring by seat 1, doubted by seat 2, taken by seat 1")


def test_actions() -> None:
    assert HOCHSTAPLER.action_text(doubt) == "doubt"
    assert HOCHSTAPLER.action_text(exchange("wine")) == "exchange wine"
    assert HOCHSTAPLER.action_text(call(13, "ring")) == "call 13 ring"


def test_every_action_reads_differently() -> None:
    assert len({HOCHSTAPLER.action_text(action) for action in ALL_ACTIONS}) == 1 + 7 + 34 * 7
