"""Koffer as text for people: options as they write them, the table as they read it."""

from __future__ import annotations

from collections.abc import Mapping

from botarena.v1.koffer_pb2 import KofferColourRow, KofferPlayer, KofferRowCard, KofferView

from arena.games.game import OptionError
from arena.games.koffer.rules import COLOURS, MAX_GAMES, PRINTED_SPECIALS, Options, Take

_NUMBERS = ",".join(map(str, PRINTED_SPECIALS))
OPTION_HELP = {
    "specials": (
        f"none (default): the basic game; up to three of {_NUMBERS}, with commas between them; "
        "or random: three are drawn for each game"
    ),
    "games": f"1 (default) to {MAX_GAMES}: games of a series, whose totals are added",
}


def options_from_text(values: Mapping[str, str]) -> Options:
    """Options as a person gives them.

    Raises:
        OptionError: what was given and what is allowed.
    """
    if unknown := sorted(values.keys() - OPTION_HELP.keys()):
        raise OptionError(f"Koffer has no option {', '.join(unknown)}; it has {', '.join(OPTION_HELP)}")
    specials = values.get("specials", "none").strip()
    games = _number("games", values.get("games", "1"))
    if specials == "random":
        return Options("random", games)
    if specials in ("", "none"):
        return Options((), games)
    return Options(tuple(_number("specials", number) for number in specials.split(",")), games)


def _number(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise OptionError(f"{text!r} is no number; {option}: {OPTION_HELP[option]}") from None


def action_text(action: Take) -> str:
    """An action in a few words."""
    face = "up" if action.face_up else "down"
    return f"take {action.position} into {COLOURS[action.row]}, face {face}"


def table_text(view: KofferView) -> str:
    """The table in a few lines. `[2]` lies face down; `7(red)` is a red 7 in a row of another colour."""
    row = " | ".join(_row_card(position, card) for position, card in enumerate(view.row, 1))
    lines = [_headline(view), f"row: {row or 'empty'}"]
    for seat, player in enumerate(view.players):
        lines.append(f"{_marker(view, seat)} seat {seat}: {_player(view, player)}")
    return "\n".join(lines)


def _headline(view: KofferView) -> str:
    parts = [f"{view.pile} in the pile"]
    if view.games > 1:
        parts.insert(0, f"game {view.game + 1} of {view.games}")
    if view.specials:
        parts.append(f"special cards {', '.join(map(str, view.specials))}")
    if view.final_round:
        parts.append("final round")
    if view.extra_turn:
        parts.append("extra turn")
    if view.over:
        parts.append("over")
    return "; ".join(parts)


def _row_card(position: int, card: KofferRowCard) -> str:
    chips = f" +{card.chips}" if card.chips else ""
    return f"{position}: {COLOURS[card.colour - 1]} {card.value}{chips}"


def _marker(view: KofferView, seat: int) -> str:
    return ">" if seat == view.turn_seat and not view.over else " "


def _player(view: KofferView, player: KofferPlayer) -> str:
    parts = [f"{player.chips} chip{'' if player.chips == 1 else 's'}"]
    if view.games > 1:
        parts[0] += f", {player.series_total} points so far"
    return "; ".join(parts + [_colour_row(row) for row in player.rows])


def _colour_row(row: KofferColourRow) -> str:
    cards = []
    for value, face_up, printed in zip(row.values, row.face_up, row.printed, strict=True):
        card = f"{value}" if printed == row.colour else f"{value}({COLOURS[printed - 1]})"
        cards.append(card if face_up else f"[{card}]")
    return f"{COLOURS[row.colour - 1]} {' '.join(cards)}"
