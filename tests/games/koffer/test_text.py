"""Koffer as people read it."""

from __future__ import annotations

from arena.games import find_game
from arena.games.koffer import rules
from arena.games.koffer.rules import Options
from tests.games.koffer.positions import position, take

KOFFER = find_game("koffer")


def test_a_table() -> None:
    state = position(
        "r10(2) k2 r1 y6 b4(11) k6 y10",
        specials=(3, 4),
        layouts={0: {"black": "k4 k8 [k3] r7", "yellow": "y5"}},
        chips=(1, 0),
    )
    state.extra_turn = True
    assert KOFFER.table_text(KOFFER.view(state, 1)).splitlines() == [
        "28 in the pile; special cards 3, 4; extra turn",
        "row: 1: red 10 +2 | 2: black 2 | 3: red 1 | 4: yellow 6 | 5: blue 4 +11 | 6: black 6 | 7: yellow 10",
        "> seat 0: 1 chip; black 4 8 [3] 7(red); yellow 5",
        "  seat 1: 0 chips",
    ]


def test_a_short_row_of_the_final_round() -> None:
    text = KOFFER.table_text(KOFFER.view(position("r10 k2", pile="", turn=1), None))
    assert text.splitlines()[:2] == ["0 in the pile; final round", "row: 1: red 10 | 2: black 2"]
    assert "> seat 1" in text


def test_a_series() -> None:
    state = position("r10 k2 r1 y6 b4 k6 y10")
    state.options, state.game, state.series = Options(games=3), 1, (61, -4)
    lines = KOFFER.table_text(KOFFER.view(state, 0)).splitlines()
    assert lines[0] == "game 2 of 3; 33 in the pile"
    assert lines[2] == "> seat 0: 7 chips, 61 points so far"
    assert lines[3] == "  seat 1: 7 chips, -4 points so far"


def test_a_match_that_is_over_has_nobody_to_move() -> None:
    state = position("", pile="")
    state.over = True
    lines = KOFFER.table_text(KOFFER.view(state, 0)).splitlines()
    assert lines[0] == "0 in the pile; final round; over"
    assert lines[1] == "row: empty"
    assert lines[2:] == ["  seat 0: 7 chips", "  seat 1: 7 chips"]


def test_actions() -> None:
    assert KOFFER.action_text(take(3, "red", "up")) == "take 3 into red, face up"
    assert KOFFER.action_text(take(1, "yellow", "down")) == "take 1 into yellow, face down"


def test_every_action_reads_differently() -> None:
    assert len({KOFFER.action_text(action) for action in rules.ALL_TAKES}) == 7 * 4 * 2
