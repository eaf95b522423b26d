"""What each game's rules never break: checked at every position of every match that the tests play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from arena.games.koffer import rules as koffer
from tests.games.combo_up.invariants import check as check_combo_up
from tests.games.hochstapler.invariants import check_hochstapler
from tests.games.kamozza.invariants import check_kamozza
from tests.games.kotki.invariants import check_kotki


def check_koffer(state: koffer.State) -> None:
    """Cards and chips are conserved, rows are well formed, actions stand in canonical order."""
    rows = [row for layout in state.layouts for row in layout]
    laid = [card for row in rows for card in row]
    pile = list(state.deck[state.drawn :])
    assert sorted([card % koffer.FACE_DOWN for card in laid] + state.row + pile) == list(range(koffer.CARDS))
    assert sum(state.chips) + sum(state.row_chips) <= koffer.CHIPS * state.seats
    if state.row:
        assert sum(state.chips) + sum(state.row_chips) == koffer.CHIPS * state.seats
    assert min(state.chips) >= 0
    assert len(state.row) == len(state.row_chips)
    assert len(state.row) == koffer.ROW_LENGTH or state.final_round
    # Every colour row counts at least 1.
    assert all(koffer.row_points(row) >= 1 for row in rows if row)
    for seat in koffer.to_move(state):
        actions = koffer.actions(state, seat)
        assert actions == sorted(actions, key=lambda take: (take.position, take.row, not take.face_up))
        assert set(actions) == {take for take in koffer.ALL_TAKES if koffer.is_legal(state, seat, take)}


INVARIANTS: Mapping[str, Callable[[Any], None]] = {
    "koffer": check_koffer,
    "hochstapler": check_hochstapler,
    "kamozza": check_kamozza,
    "kotki": check_kotki,
    "combo_up": check_combo_up,
}
"""By game: raises AssertionError if a state cannot be."""
