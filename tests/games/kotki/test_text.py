"""Kotki as people read it."""

from __future__ import annotations

import pytest

from arena.games import find_game
from arena.games.kotki.rules import Action
from tests.games.kotki.positions import (
    ACCEPT,
    END,
    FINISH,
    REVEAL,
    STOP,
    draw,
    ignore,
    lure,
    padlock,
    place,
    place_drawn,
    play,
    position,
    shift,
    swap,
    yard,
)

KOTKI = find_game("kotki")


def test_a_table() -> None:
    state = position(
        "F|L+M - -",
        "-|- - -",
        "M|- - -",
        seats=2,
        start_seat=1,
        round=3,
        yard="11 1 0 30",
        cat_stack="28",
        cats={0: "4 5 7", 1: "20"},
        used="4",
        locked=(2,),
        stack="D L D F",
    )
    play(state, REVEAL)
    assert KOTKI.table_text(KOTKI.view(state, 1)).splitlines() == [
        "round 3 of at most 100, to 10 points; seat 0: revealing; seat 1 began",
        "yard: 0: cat 11 for food+milk, 2 points, substitute mouse+yarn | 1: cat 1 for food, 1 point, yard_1"
        " | 2: - | 3: cat 30 for milk+mouse+spider, 4 points, shift_left",
        "> pillow 0, seat 0: [food | milk+mouse - -]; 3 points; 4, 5 (draw_1), 7 (substitute yarn+spider)",
        "  pillow 1: [- | - - -]",
        "  pillow 2, seat 1: [mouse | - - -] locked; 2 points; 20 (padlock)",
        "  pillow 3: [- | - - -]",
        "bait: 50 in the stack, discard: dog",
        "cats: 25 in the stack, the top one has 4, discard: -",
        "collected: milk",
    ]


def test_what_was_done_in_the_turn() -> None:
    state = position("F|- - -", "L|- - -", "M|- - -", cats={0: "5"}, stack="L M Y")
    play(state, swap(1), swap(2), draw(5))
    lines = KOTKI.table_text(KOTKI.view(state, None)).splitlines()
    assert lines[0].endswith("seat 0: drawn, then start; swapped with pillows 1, 2; seat 0 began")
    assert lines[-1] == "drawn: milk"
    play(state, place_drawn("L", 3), REVEAL, REVEAL, STOP, place("Y", 1))
    lines = KOTKI.table_text(KOTKI.view(state, None)).splitlines()
    assert "seat 0: placing; swapped with pillows 1, 2; placed on field 1; seat 0 began" in lines[0]
    assert lines[-1] == "collected: mouse"


def test_stacks_that_are_empty_and_discards_that_are_not() -> None:
    state = position("F|- - -", rest="discard", yard="1 2 3 4", cat_rest="discard")
    lines = KOTKI.table_text(KOTKI.view(state, 0)).splitlines()
    assert lines[-2].startswith("bait: 0 in the stack, discard: 4 x food 5 x milk ")
    assert lines[-2].endswith("mouse+yarn+spider 10 x dog")
    assert lines[-1].startswith("cats: 0 in the stack, discard: 5, 6, 7, ")


def test_a_match_that_is_over_has_nobody_to_move() -> None:
    state = position("F|- - -", turn=3, cats={0: "28 30 11", 1: "1"})
    play(state, REVEAL, STOP, place("F", 0), END)
    lines = KOTKI.table_text(KOTKI.view(state, 0)).splitlines()
    assert lines[0] == "round 1 of at most 100, to 10 points; over"
    assert not any(line.startswith(">") for line in lines)
    assert lines[3] == "  pillow 1, seat 1: [- | - - -]; 1 point; 1 (yard_1)"


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (REVEAL, "reveal a card"),
        (STOP, "stop"),
        (ignore(4), "ignore the dog with cat 4"),
        (ACCEPT, "accept the dog"),
        (place("F+L", 2), "place food+milk on field 2"),
        (FINISH, "discard what is left"),
        (lure(1, (0, 3)), "lure from slot 1, paid with fields 0, 3"),
        (lure(1, (2,), (7, 11)), "lure from slot 1, paid with field 2 and cats 7, 11"),
        (lure(1, (), (7,)), "lure from slot 1, paid with cat 7"),
        (swap(3), "swap arrow cards with pillow 3"),
        (yard(1, 2), "discard slot 2 with cat 1"),
        (yard(2, 0, 2), "discard slots 0, 2 with cat 2"),
        (draw(5), "draw with cat 5"),
        (shift(8), "shift the pillows with cat 8"),
        (padlock(10), "lock the own pillow with cat 10"),
        (place_drawn("P", 0), "place drawn spider on field 0"),
        (END, "end the turn"),
    ],
)
def test_actions(action: Action, said: str) -> None:
    assert KOTKI.action_text(action) == said
