"""Combo Up as text for people: options as they write them, the table as they read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from botarena.v1.combo_up_pb2 import ComboUpEdition, ComboUpLaid, ComboUpPhase, ComboUpPlayer, ComboUpView

from arena.games.combo_up.rules import (
    CARD_NAMES,
    COMBO_UP,
    EDITIONS,
    GIVE,
    KIND_NAMES,
    PLAY,
    SPECIAL,
    TAKE,
    Action,
    Options,
    kind_and_high,
)
from arena.games.game import OptionError

_FLAGS = {"true": True, "false": False}
OPTION_HELP = {
    "edition": "combo_up (default), or krass_kariert: the classic game without Take Up and Pass On",
    "scoring": "false (default): whoever loses all tokens loses; or true: points are counted and decide",
}
_DECIDED = {
    ComboUpPhase.COMBO_UP_PHASE_TURN: "to play",
    ComboUpPhase.COMBO_UP_PHASE_TAKE_UP: "to take a reserve by Take Up",
    ComboUpPhase.COMBO_UP_PHASE_GIVE: "to give a card by Pass On",
    ComboUpPhase.COMBO_UP_PHASE_RECEIVE: "to insert the card given by Pass On",
    ComboUpPhase.COMBO_UP_PHASE_DRAW: "to insert a drawn card",
}


def options_from_text(values: Mapping[str, str]) -> Options:
    """Options as a person gives them.

    Raises:
        OptionError: what was given and what is allowed.
    """
    if unknown := sorted(values.keys() - OPTION_HELP.keys()):
        raise OptionError(f"Combo Up has no option {', '.join(unknown)}; it has {', '.join(OPTION_HELP)}")
    edition, scoring = values.get("edition", COMBO_UP).strip(), values.get("scoring", "false").strip()
    if edition not in EDITIONS:
        raise OptionError(f"{edition!r} is no edition; edition: {OPTION_HELP['edition']} (U27)")
    if scoring not in _FLAGS:
        raise OptionError(f"{scoring!r} is neither true nor false; scoring: {OPTION_HELP['scoring']} (U27)")
    return Options(edition, _FLAGS[scoring])


def action_text(action: Action) -> str:
    """An action in a few words. Places in hand are counted from 0, as on the wire."""
    verb, length, index, strength, reserve, position = action
    if verb == PLAY:
        kind, high = kind_and_high(strength)
        cards = f"card {index}" if length == 1 else f"cards {index} to {index + length - 1}"
        return f"play {cards} as {KIND_NAMES[kind]} {high}"
    if verb == SPECIAL:
        return f"play special card {index}"
    if verb == TAKE:
        return f"take reserve {reserve} to place {position}"
    if verb == GIVE:
        return f"give card {index}"
    return f"insert at place {position}"


def table_text(view: ComboUpView) -> str:
    """The table in a few lines. `>` marks whoever is to move, `4 Joker (pair 4)` is what cards count as."""
    lines = [_headline(view)]
    lines += [f"table: {'; '.join(map(_laid, view.table)) or 'empty'}"]
    if view.aside:
        lines.append(f"set aside: {_cards(view.aside)}")
    lines += [
        f"{_marker(view, seat)} seat {seat}: {_player(view, player)}"
        for seat, player in enumerate(view.players)
    ]
    if view.HasField("seat"):
        lines.append(f"seat {view.seat}: {private_text(view)}")
    return "\n".join(lines)


def private_text(view: ComboUpView) -> str:
    """The hand of the view's own seat, and what it saw in this hand that not all others did."""
    if not view.HasField("seat"):
        return ""
    parts = [f"hand {_cards(view.hand) or 'empty'}"]
    if view.incoming:
        parts.append(f"to be inserted: {CARD_NAMES[view.incoming]}")
    return "; ".join(parts + _unseen_by_others(view))


def _headline(view: ComboUpView) -> str:
    parts = [f"hand {view.hand_index + 1}, round {view.round + 1}", f"{view.pile} in the pile"]
    if view.draws:
        parts.append(f"3 Draw x{view.draws}")
    if view.draws_left:
        parts.append(f"{view.draws_left} more to draw")
    if view.edition == ComboUpEdition.COMBO_UP_EDITION_KRASS_KARIERT:
        parts.append("Krass Kariert")
    parts.append(_DECIDED.get(view.phase, "over"))
    return "; ".join(parts)


def _laid(laid: ComboUpLaid) -> str:
    counted = f" ({KIND_NAMES[laid.kind]} {laid.high})" if laid.kind else ""
    return f"seat {laid.seat} {_cards(laid.cards)}{counted}"


def _marker(view: ComboUpView, seat: int) -> str:
    return ">" if seat in view.to_move else " "


def _player(view: ComboUpView, player: ComboUpPlayer) -> str:
    parts = [
        f"{player.cards} card{'' if player.cards == 1 else 's'}{', out' if player.out else ''}",
        f"reserves {_cards(player.reserves) or 'none'}",
        f"{player.tokens} token{'' if player.tokens == 1 else 's'}",
    ]
    if view.scoring:
        parts.append(f"{player.points} point{'' if player.points == 1 else 's'}")
    return "; ".join(parts)


def _unseen_by_others(view: ComboUpView) -> list[str]:
    """What the seat saw in this hand and not all others did: cards handed on and drawn."""
    drew = [CARD_NAMES[event.drew.card] for event in view.log if event.HasField("drew")]
    gave = [
        f"{CARD_NAMES[event.gave.card]} from seat {event.gave.giver} to seat {event.gave.receiver}"
        for event in view.log
        if event.HasField("gave")
    ]
    lines = [f"handed on: {', '.join(gave)}"] if gave else []
    return [*lines, f"drawn: {' '.join(drew)}"] if drew else lines


def _cards(cards: Iterable[int]) -> str:
    return " ".join(CARD_NAMES[card] for card in cards)
