"""What the searching bot knows of Koffer: how a table looks, and how it quickly goes on for a round."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from arena.games.koffer import rules
from arena.games.koffer.rules import CARDS, COLOUR, FACE_DOWN, VALUE, ColourRow, State, Take

OPEN_CARD = 0.1
"""Part of its value that a card is worth to each layout in which it could still lie face up."""
ROOM = 0.5
"""Quicker and rougher: points for each value above a top card while the whole game is to come."""
EXTRA_TURN = 6
"""Points that an extra turn is worth."""


def playout(state: State, rng: Random) -> Sequence[float]:
    """Prospects after everybody has had a turn, or at the end of the game if that comes first."""
    game = state.game
    for _ in range(state.seats):
        if state.over or state.game != game:
            break
        rules.apply(state, {state.turn: rule_of_thumb(state)})
    return prospects(state)


def prospects(state: State) -> Sequence[float]:
    """By seat: what it has, and what it can hope for from the cards that are not taken yet."""
    if state.over:
        return state.series
    above = values_above(state)
    return [
        series
        + rules.total(state, seat)
        + OPEN_CARD * sum(above[c][top_of(row)] for c, row in enumerate(state.layouts[seat]))
        for seat, series in enumerate(state.series)
    ]


def values_above(state: State) -> list[list[int]]:
    """By colour and top value: the sum of all higher values that are not taken yet."""
    sums = [[0] * 11 for _ in range(4)]
    for card in (*state.row, *state.deck[state.drawn :]):
        sums[COLOUR[card]][VALUE[card] - 1] = VALUE[card]
    for of_colour in sums:
        for top in range(9, -1, -1):
            of_colour[top] += of_colour[top + 1]
    return sums


def rule_of_thumb(state: State) -> Take:
    """The action that looks best by its points, its chips and the room that it leaves."""
    specials, supply = state.specials, state.chips[state.turn]
    tops = [top_of(row) for row in state.layouts[state.turn]]
    room = ROOM * (CARDS + 3 - state.drawn) / (CARDS - 4)
    chip = -1 if rules.CHIPS_COUNT_MINUS in specials else 1
    rows_of = rules.rows_of_cards(specials)
    best, chosen = -100.0, (1, 0, False)
    for position, (card, gained) in enumerate(zip(state.row, state.row_chips, strict=True), 1):
        paid = rules.price(card, position, specials)
        if paid > supply:
            continue
        worth = chip * (gained - paid) + extra_turn_worth(gained, specials)
        value = VALUE[card]
        for row in rows_of[card]:
            face_up = value > tops[row] or rules.may_lie_face_up(card, specials)
            placed = value - room * (value - tops[row]) if face_up else room * tops[row] - 1
            if worth + placed > best:
                best, chosen = worth + placed, (position, row, face_up)
    return Take(*chosen)


def extra_turn_worth(gained: int, specials: Sequence[int]) -> int:
    earned = gained >= rules.CHIPS_FOR_EXTRA_TURN and rules.EXTRA_TURNS in specials
    return EXTRA_TURN if earned else 0


def top_of(row: ColourRow) -> int:
    """Value that the next card must exceed to lie face up."""
    return VALUE[row[-1]] if row and row[-1] < FACE_DOWN else 0
