"""What an action in Koffer looks worth: its points, its chips, and the cards that it opens or shuts out."""

from __future__ import annotations

from botarena.v1.koffer_pb2 import KofferAction, KofferView

EXTRA_TURN = 6
"""Points that an extra turn is worth."""


def worth(view: KofferView, seat: int, action: KofferAction) -> float:
    """Points by which a seat's prospects change with an action."""
    card = view.row[action.position - 1]
    paid = 0 if card.value == 4 and 2 in view.specials else action.position - 1
    chips = card.chips - paid
    points: float = card.value if action.face_up else -1
    points += -chips if 15 in view.specials else chips
    if 4 in view.specials and card.chips >= 3:
        points += EXTRA_TURN
    # What lies in the row and would still go face up is worth something; each seat gets its share of it.
    after = card.value if action.face_up else 0
    opened = open_cards(view, action, after) - open_cards(view, action, top_of(view, seat, action.row))
    return points + opened / len(view.players)


def open_cards(view: KofferView, action: KofferAction, top: int) -> int:
    """Other cards of the common row that would lie face up in the action's colour row on a top card."""
    return sum(
        card.colour == action.row and card.value > top
        for position, card in enumerate(view.row, 1)
        if position != action.position
    )


def top_of(view: KofferView, seat: int, colour: int) -> int:
    """Value that the next card of a colour must exceed to lie face up."""
    for row in view.players[seat].rows:
        if row.colour == colour:
            return row.values[-1] if row.face_up[-1] else 0
    return 0
