"""Kotki as text for people: options as they write them, the table as they read it.

Bait cards are written by their symbols, such as `food+milk`; an empty field is `-`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from botarena.v1.kotki_pb2 import KotkiAbility, KotkiCapturedCat, KotkiCat, KotkiPhase, KotkiPillow, KotkiView

from arena.games.game import OptionError
from arena.games.kotki import rules
from arena.games.kotki.components import BAIT_NAMES, SYMBOLS
from arena.games.kotki.rules import MAX_ROUNDS, TARGETS, Action, Options, members

_DOG_ON_WIRE = 1 << len(SYMBOLS)
OPTION_HELP = {
    "target": f"{TARGETS[0]} (default) or {TARGETS[1]}: points that bring on the end of the match",
    "max_rounds": f"1 to {MAX_ROUNDS} (default): rounds after which the match ends at the latest",
}


def options_from_text(values: Mapping[str, str]) -> Options:
    """Options as a person gives them.

    Raises:
        OptionError: what was given and what is allowed.
    """
    if unknown := sorted(values.keys() - OPTION_HELP.keys()):
        raise OptionError(f"Kotki has no option {', '.join(unknown)}; it has {', '.join(OPTION_HELP)}")
    return Options(**{option: _number(option, text) for option, text in values.items()})


def _number(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise OptionError(f"{text!r} is no number; {option}: {OPTION_HELP[option]}") from None


# actions


def action_text(action: Action) -> str:
    """An action in a few words."""
    kind, number, where, subs = action
    match kind:
        case rules.REVEAL:
            return "reveal a card"
        case rules.STOP:
            return "stop"
        case rules.IGNORE_DOG:
            return f"ignore the dog with cat {number}"
        case rules.ACCEPT_DOG:
            return "accept the dog"
        case rules.PLACE | rules.PLACE_DRAWN:
            drawn = "drawn " if kind == rules.PLACE_DRAWN else ""
            return f"place {drawn}{BAIT_NAMES[number]} on field {where}"
        case rules.FINISH:
            return "discard what is left"
        case rules.LURE:
            return f"lure from slot {number}, paid with {_payment(where, subs)}"
        case rules.SWAP:
            return f"swap arrow cards with pillow {number}"
        case rules.CHANGE_YARD:
            return f"discard {_numbered('slot', members(where))} with cat {number}"
        case rules.DRAW:
            return f"draw with cat {number}"
        case rules.SHIFT:
            return f"shift the pillows with cat {number}"
        case rules.PADLOCK:
            return f"lock the own pillow with cat {number}"
        case _:
            return "end the turn"


def _payment(fields: int, subs: int) -> str:
    parts = [_numbered("field", members(fields))] if fields else []
    if subs:
        parts.append(_numbered("cat", members(subs)))
    return " and ".join(parts)


def _numbered(what: str, numbers: Sequence[int]) -> str:
    return f"{what}{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


# the table


def table_text(view: KotkiView) -> str:
    """The table in a few lines. `(yard_1)` is an ability that can still be used; a used one is not named."""
    lines = [
        _headline(view),
        f"yard: {' | '.join(_yard_cat(slot, cat) for slot, cat in enumerate(view.yard))}",
        *(_pillow(view, number, pillow) for number, pillow in enumerate(view.pillows)),
        f"bait: {len(view.bait_stack)} in the stack, discard: {_counted(view.bait_discard)}",
        f"cats: {_cat_stack(view)}, discard: {_listed(view.cat_discard)}",
    ]
    lines += [f"{name}: {_row(cards)}" for name, cards in _in_hand(view) if cards]
    return "\n".join(lines)


def _headline(view: KotkiView) -> str:
    parts = [f"round {view.round} of at most {view.max_rounds}, to {view.target} points"]
    if view.over:
        return f"{parts[0]}; over"
    phase = KotkiPhase.Name(view.phase).removeprefix("KOTKI_PHASE_").lower()
    parts.append(f"seat {view.turn_seat}: {phase}")
    if view.phase == KotkiPhase.KOTKI_PHASE_DRAWN:
        parts[-1] += f", then {KotkiPhase.Name(view.drawn_from).removeprefix('KOTKI_PHASE_').lower()}"
    if view.swapped:
        parts.append(f"swapped with {_numbered('pillow', view.swapped)}")
    if view.placed:
        parts.append(f"placed on {_numbered('field', view.placed)}")
    parts.append(f"seat {view.start_seat} began")
    return "; ".join(parts)


def _yard_cat(slot: int, cat: KotkiCat) -> str:
    if not cat.number:
        return f"{slot}: -"
    points = f"{cat.points} point{'' if cat.points == 1 else 's'}"
    return f"{slot}: cat {cat.number} for {_bait(cat.cost)}, {points}, {_ability(cat)}"


def _ability(cat: KotkiCat) -> str:
    name = KotkiAbility.Name(cat.ability).removeprefix("KOTKI_ABILITY_").lower()
    return f"{name} {_bait(cat.shows)}" if cat.shows else name


def _pillow(view: KotkiView, number: int, pillow: KotkiPillow) -> str:
    arrow, *plain = map(_bait, pillow.fields)
    lies = f"[{arrow} | {' '.join(plain)}]{' locked' if pillow.locked else ''}"
    if not pillow.HasField("seat"):
        return f"  pillow {number}: {lies}"
    player = view.players[pillow.seat]
    cats = ", ".join(map(_captured, player.cats)) or "no cats"
    marker = ">" if pillow.seat == view.turn_seat and not view.over else " "
    points = f"{player.points} point{'' if player.points == 1 else 's'}"
    return f"{marker} pillow {number}, seat {pillow.seat}: {lies}; {points}; {cats}"


def _captured(captured: KotkiCapturedCat) -> str:
    cat = captured.cat
    return f"{cat.number}" if captured.used else f"{cat.number} ({_ability(cat)})"


def _cat_stack(view: KotkiView) -> str:
    if not view.cat_stack:
        return "0 in the stack"
    return f"{len(view.cat_stack)} in the stack, the top one has {view.top_cat_points}"


def _in_hand(view: KotkiView) -> Iterable[tuple[str, Sequence[int]]]:
    return ("collected", view.collected), ("drawn", view.drawn)


def _row(cards: Iterable[int]) -> str:
    return " ".join(map(_bait, cards))


def _counted(cards: Iterable[int]) -> str:
    """Cards by face, each with its number if there are several."""
    counts = Counter(cards).items()
    return " ".join(f"{count} x {_bait(card)}" if count > 1 else _bait(card) for card, count in counts) or "-"


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers)) or "-"


def _bait(bits: int) -> str:
    """A bait card, or any set of symbols, by its words."""
    if bits == _DOG_ON_WIRE:
        return "dog"
    return "+".join(SYMBOLS[symbol] for symbol in members(bits)) or "-"
