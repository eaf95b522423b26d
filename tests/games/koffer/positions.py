"""Koffer positions written the way people write them.

`r10` is the red 10, `k` black, `b` blue, `y` yellow. In the common row `r10(2)` carries two chips; in a
layout `[r10]` lies face down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from arena.games.koffer import rules
from arena.games.koffer.rules import COLOURS, FACE_DOWN, Card, Deal, GameDeal, Options, State, Take

LETTERS = "krby"
CANONICAL = tuple(range(rules.CARDS))


def card(text: str) -> Card:
    """`k1` is 0, `y10` is 39."""
    return LETTERS.index(text[0]) * 10 + int(text[1:]) - 1


def laid(text: str) -> bytes:
    """A colour row, bottom first: `k4 k6 [k2] k5`."""
    return bytes(card(c.strip("[]")) + FACE_DOWN * c.startswith("[") for c in text.split())


def deal_of(deck: Sequence[Card], specials: Sequence[int] = (), start_seat: int = 0) -> Deal:
    """A given deal of a single game."""
    return Deal(start_seat, (GameDeal(tuple(deck), tuple(specials)),))


def position(
    row: str,
    *,
    specials: tuple[int, ...] = (),
    seats: int = 2,
    chips: Sequence[int] = (),
    layouts: Mapping[int, Mapping[str, str]] | None = None,
    pile: str | None = None,
    turn: int = 0,
    start_seat: int = 0,
) -> State:
    """A position in the middle of a game.

    Args:
        row: the common row.
        chips: supplies; 7 each if not given.
        layouts: by seat and colour the colour rows.
        pile: its first cards, the others follow in canonical order; empty: the final round is on.
    """
    common = re.findall(r"([krby]\d+)(?:\((\d+)\))?", row)
    rows = [
        laid((layouts or {}).get(seat, {}).get(colour, "")) for seat in range(seats) for colour in COLOURS
    ]
    seen = [c % FACE_DOWN for cards in rows for c in cards] + [card(name) for name, _ in common]
    following = [card(name) for name in (pile or "").split()]
    rest = [c for c in CANONICAL if c not in seen + following]
    if pile == "":  # the cards that nobody needs here were drawn long ago
        deck, drawn = (*rest, *seen), rules.CARDS
    else:
        deck, drawn = (*seen, *following, *rest), len(seen)
    specials = tuple(sorted(specials))
    state, _ = rules.start(seats, Options(specials), deal_of(deck, specials, start_seat))
    state.drawn, state.turn, state.final_round = drawn, turn, pile == ""
    state.row = [card(name) for name, _ in common]
    state.row_chips = [int(number or 0) for _, number in common]
    state.layouts = [rules.layout_of(rows[4 * seat : 4 * seat + 4]) for seat in range(seats)]
    state.chips = list(chips) or [rules.CHIPS] * seats
    return state


def take(where: int, row: str, face: str = "up") -> Take:
    """An action as the vectors write it."""
    return Take(where, COLOURS.index(row), face == "up")


def play(state: State, where: int, row: str | None = None, face: str | None = None) -> list[rules.Event]:
    """Let the seat to move take from a position; row and face are needed only where there is a choice."""
    fitting = [
        action
        for action in rules.actions(state, state.turn)
        if action.position == where
        and (row is None or COLOURS[action.row] == row)
        and (face is None or action.face_up == (face == "up"))
    ]
    assert len(fitting) == 1, f"{len(fitting)} actions take {where} into {row} {face}"
    return rules.apply(state, {state.turn: fitting[0]})


def legal(state: State) -> list[Take]:
    return rules.actions(state, state.turn)


def legal_positions(state: State) -> list[int]:
    return sorted({action.position for action in legal(state)})


def row_text(state: State, seat: int, colour: str) -> str:
    """A colour row, the way `laid` reads it."""
    names = [
        (f"{LETTERS[rules.COLOUR[c]]}{rules.VALUE[c]}", c >= FACE_DOWN)
        for c in state.layouts[seat][COLOURS.index(colour)]
    ]
    return " ".join(f"[{name}]" if down else name for name, down in names)


def common_row(state: State) -> str:
    """The common row with all its chips."""
    return " ".join(
        f"{LETTERS[rules.COLOUR[c]]}{rules.VALUE[c]}({chips})"
        for c, chips in zip(state.row, state.row_chips, strict=True)
    )
