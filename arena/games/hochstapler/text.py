"""Hochstapler as text for people: options as they write them, the table as they read it."""

from __future__ import annotations

from collections.abc import Mapping

from botarena.v1.hochstapler_pb2 import HochstaplerAuction, HochstaplerCall, HochstaplerPile, HochstaplerView

from arena.games.game import OptionError
from arena.games.hochstapler.rules import CALL, COLOURS, EXCHANGE, MATCH_END, Action, Options

OPTION_HELP = {
    "match": (
        "false (default): one game; or true: games are played, and their penalty points added, until one "
        f"ends with somebody at {MATCH_END} or more"
    ),
}
_FLAGS = {"true": True, "false": False}


def options_from_text(values: Mapping[str, str]) -> Options:
    """Options as a person gives them.

    Raises:
        OptionError: what was given and what is allowed.
    """
    if unknown := sorted(values.keys() - OPTION_HELP.keys()):
        raise OptionError(f"Hochstapler has no option {', '.join(unknown)}; it has {', '.join(OPTION_HELP)}")
    match = values.get("match", "false").strip()
    if match not in _FLAGS:
        raise OptionError(f"match is {match!r}: true or false is allowed (X19)")
    return Options(_FLAGS[match])


def action_text(action: Action) -> str:
    """An action in a few words."""
    if action.kind == CALL:
        return f"call {action.total} {COLOURS[action.colour]}"
    return f"exchange {COLOURS[action.colour]}" if action.kind == EXCHANGE else "doubt"


def table_text(view: HochstaplerView) -> str:
    """The table in a few lines: colours, seats, the calls of this auction or of the last one."""
    lines = [_headline(view), *map(_pile, view.piles)]
    lines += [_player(view, seat) for seat in range(len(view.penalty_points))]
    if view.auctions:
        lines.append(f"calls: {_auction(view.auctions[-1])}")
    return "\n".join(lines)


def private_text(view: HochstaplerView) -> str:
    """The hand of the view's own seat."""
    hand = [f"{_name(pile.colour)} {pile.card}" for pile in view.piles if pile.HasField("card")]
    return f"hand {', '.join(hand)}" if hand else ""


def _headline(view: HochstaplerView) -> str:
    parts = [_call(view.call) if view.HasField("call") else "no call"]
    if view.match:
        parts.insert(0, f"game {len(view.games) + 1}")
    if view.HasField("exchanged"):
        parts.append(f"seat {view.turn_seat} exchanged {_name(view.exchanged)} and must call")
    parts.append("over" if view.over else f"highest call {view.highest_call}")
    return "; ".join(parts)


def _name(colour: int) -> str:
    return COLOURS[colour - 1]


def _pile(pile: HochstaplerPile) -> str:
    parts = []
    if pile.HasField("taken_by"):
        values = " ".join(map(str, pile.revealed))
        parts.append(f"{values} = {sum(pile.revealed)}, taken by seat {pile.taken_by}")
    else:
        parts.append(f"{pile.face_down} face down")
    if pile.discards:
        parts.append("discards " + " ".join(f"{card.value}({card.seat})" for card in pile.discards))
    if drawn := [str(card.drawn) for card in pile.discards if card.HasField("drawn")]:
        parts.append(f"drawn {' '.join(drawn)}")
    if pile.HasField("card"):
        parts.append(f"card {pile.card}")
    return f"{_name(pile.colour)}: {'; '.join(parts)}"


def _player(view: HochstaplerView, seat: int) -> str:
    points = view.penalty_points[seat]
    parts = [f"{points} penalty point{'' if points == 1 else 's'}"]
    if taken := [_name(pile.colour) for pile in view.piles if _took(pile, seat)]:
        parts.append(f"took {', '.join(taken)}")
    if view.match:
        earlier = " + ".join(str(game.penalty_points[seat]) for game in view.games)
        parts.append(f"{view.totals[seat]} in the match" + (f", {earlier} before" if earlier else ""))
    marker = ">" if seat == view.turn_seat and not view.over else " "
    return f"{marker} seat {seat}: {'; '.join(parts)}"


def _took(pile: HochstaplerPile, seat: int) -> bool:
    return pile.HasField("taken_by") and pile.taken_by == seat


def _auction(auction: HochstaplerAuction) -> str:
    calls = [_call(call) for call in auction.calls] or [f"seat {auction.starter} begins"]
    if auction.HasField("doubter"):
        calls.append(f"doubted by seat {auction.doubter}, taken by seat {auction.loser}")
    return ", ".join(calls)


def _call(call: HochstaplerCall) -> str:
    after = f" after exchanging {_name(call.exchanged)}" if call.HasField("exchanged") else ""
    return f"{call.total} {_name(call.colour)} by seat {call.seat}{after}"
