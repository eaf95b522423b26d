"""Combo Up as people read it."""

from __future__ import annotations

import pytest

from arena.games import find_game
from arena.games.combo_up import rules
from arena.games.combo_up.rules import KRASS_KARIERT, Action, Options
from tests.games.combo_up.positions import action, give, insert, play, position, solo, special, take

COMBO_UP = find_game("combo_up")


def test_a_table() -> None:
    state = position("4 J 1", "S", "2 9 9", reserves={1: "7 J", 2: "3"}, pile="1 2 3", tokens=(3, 1, 2))
    state.aside = rules.cards_of([rules.SpecialPlayed(0, rules.TAKE_UP)])
    play(state, 0, 2, "pair", 4)
    assert COMBO_UP.table_text(COMBO_UP.view(state, 2)).splitlines() == [
        "hand 1, round 1; 3 in the pile; to play",
        "table: seat 0 4 Joker (pair 4)",
        "set aside: Take Up",
        "  seat 0: 1 card; reserves none; 3 tokens",
        "> seat 1: 1 card; reserves 7 Joker; 1 token",
        "  seat 2: 3 cards; reserves 3; 2 tokens",
        "seat 2: hand 2 9 9",
    ]


def test_a_spectator_sees_no_hand() -> None:
    state = position("4 J 1", "S", "2 9 9", options=Options(KRASS_KARIERT, True), out=(1,))
    state.points = (1, 0, 3)
    text = COMBO_UP.table_text(COMBO_UP.view(state, None))
    assert text.splitlines()[0] == "hand 1, round 1; 0 in the pile; Krass Kariert; to play"
    assert "  seat 1: 1 card, out; reserves none; 3 tokens; 0 points" in text
    assert "> seat 0: 3 cards; reserves none; 3 tokens; 1 point" in text
    assert "hand 2 9 9" not in text
    assert not COMBO_UP.private_text(COMBO_UP.view(state, None))


def test_drawing() -> None:
    state = position("6 2", "D 8", "9", pile="4 S 9 7")
    solo(state, 6)
    special(state, 0)
    solo(state, 9)
    insert(state, 0)
    lines = COMBO_UP.table_text(COMBO_UP.view(state, 2)).splitlines()
    assert lines[0] == "hand 1, round 1; 2 in the pile; 3 Draw x1; 1 more to draw; to insert a drawn card"
    assert lines[1] == "table: seat 0 6 (solo 6); seat 1 3 Draw; seat 2 9 (solo 9)"
    assert lines[-1] == "seat 2: hand 4; to be inserted: Stop; drawn: 4 Stop"
    assert "drawn" not in COMBO_UP.table_text(COMBO_UP.view(state, 0)).replace("a drawn card", "")


def test_handing_on_and_taking_up() -> None:
    state = position("P T 3", "5 1", "6 6", reserves={1: "8"})
    special(state, 0)
    assert "to give a card by Pass On" in COMBO_UP.table_text(COMBO_UP.view(state, 0))
    give(state, 1, 0, 0)
    lines = COMBO_UP.table_text(COMBO_UP.view(state, 0)).splitlines()
    assert lines[0].endswith("to insert the card given by Pass On")
    handed_on = "handed on: 3 from seat 0 to seat 1, 6 from seat 2 to seat 0"
    assert lines[-1] == f"seat 0: hand Take Up; to be inserted: 6; {handed_on}"
    state = position("T 3", "5 1", "6 6", reserves={1: "8"})
    special(state, 0)
    assert "to take a reserve by Take Up" in COMBO_UP.table_text(COMBO_UP.view(state, 0))
    take(state, 0, 0)
    assert COMBO_UP.table_text(COMBO_UP.view(state, 0)).splitlines()[1] == "table: seat 0 Take Up"


def test_a_match_that_is_over_has_nobody_to_move() -> None:
    state = position("7", "8", "9", tokens=(1, 1, 1))
    for value in (7, 8, 9):
        solo(state, value)
    lines = COMBO_UP.table_text(COMBO_UP.view(state, 0)).splitlines()
    assert lines[0] == "hand 1, round 1; 0 in the pile; over"
    assert lines[1] == "table: empty"
    assert not [line for line in lines if line.startswith(">")]
    assert "seat 0: hand empty" in lines


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        (action(2, 1, "solo", 9), "play card 2 as solo 9"),
        (action(0, 3, "run3", 12), "play cards 0 to 2 as run3 12"),
        (Action(rules.SPECIAL, at=4), "play special card 4"),
        (Action(rules.TAKE, reserve=1, position=7), "take reserve 1 to place 7"),
        (Action(rules.GIVE, at=3), "give card 3"),
        (Action(rules.INSERT, position=5), "insert at place 5"),
    ],
)
def test_actions(chosen: Action, text: str) -> None:
    assert COMBO_UP.action_text(chosen) == text


def test_every_action_reads_differently() -> None:
    assert len(set(rules.ALL_ACTIONS)) == len(rules.ALL_ACTIONS)
    assert len({COMBO_UP.action_text(action) for action in rules.ALL_ACTIONS}) == len(rules.ALL_ACTIONS)
