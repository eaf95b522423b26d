"""Kotki positions written the way people write them.

`F` is food, `L` milk, `M` mouse, `Y` yarn, `P` spider, `F+L` a card with two symbols, `D` the dog. A pillow
is `F|L - P`: the arrow field, then the plain ones; stacks are written top first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from arena.games.chance import Chance
from arena.games.kotki import rules
from arena.games.kotki.components import (
    CAT_IDS,
    DECK,
    DOG,
    EMPTY,
    POINTS,
    SHOWS,
    Bait,
    CatId,
    cat_set,
)
from arena.games.kotki.rules import Action, Deal, Event, Options, State, members

LETTERS = "FLMYP"
SEED = bytes(range(32))
OTHERS_EMPTY = ("-|- - -",) * 4


def bait(text: str) -> Bait:
    """`F` is 0, `F+L` is 5, `D` is the dog, `-` no card."""
    if text in "D-":
        return DOG if text == "D" else EMPTY
    return SHOWS.index(sum(1 << LETTERS.index(letter) for letter in text.split("+")))


def baits(text: str) -> tuple[Bait, ...]:
    return tuple(map(bait, text.replace("|", " ").split()))


def baits_text(cards: Iterable[Bait]) -> str:
    """Cards, the way `baits` reads them."""
    names = {DOG: "D", EMPTY: "-"}
    return " ".join(names.get(c) or "+".join(LETTERS[symbol] for symbol in members(SHOWS[c])) for c in cards)


def numbers(text: str) -> tuple[CatId, ...]:
    return tuple(map(int, text.split()))


def deal_of(**changes: object) -> Deal:
    """A given deal: food on every arrow field, the rest of the bait and the cats in canonical order."""
    return Deal(**{"start_seat": 0, "arrows": (0,) * 4, "bait": DECK[4:], "cats": CAT_IDS} | changes)  # type: ignore[arg-type]


def position(
    *pillows: str,
    seats: int = 4,
    turn: int = 0,
    start_seat: int = 0,
    round: int = 1,
    stack: str = "",
    rest: str = "stack",
    yard: str | None = None,
    cat_stack: str = "",
    cat_rest: str = "stack",
    cats: Mapping[int, str] | None = None,
    used: str = "",
    locked: Iterable[int] = (),
    options: Options = Options(),  # noqa: B008 - it cannot be changed
) -> State:
    """A position at the start of a turn.

    Args:
        pillows: pillows from 0 on; those that are not named are empty.
        stack: the top of the bait stack.
        rest: where bait cards are that are named nowhere: below those of the "stack" or in the "discard".
        yard: numbers of cats by slot, 0 for none; if not given, the first four that are not named.
        cat_stack: the top of the cat stack.
        cat_rest: where cats are that are named nowhere.
        cats: by player, captured cats.
        used: those of them that have used their ability.
        locked: pillows that are locked.
    """
    state, _ = rules.start(seats, options, deal_of(), Chance(SEED))
    state.turn, state.start_seat, state.round = turn, start_seat, round
    lying = [bytes(baits(pillow)) for pillow in (*pillows, *OTHERS_EMPTY)[:4]]
    state.pillows = lying
    left = list(DECK)
    for card in (*(card for pillow in lying for card in pillow if card != EMPTY), *baits(stack)):
        left.remove(card)
    state.bait, state.bait_taken = bytes((*baits(stack), *(left if rest == "stack" else ()))), 0
    state.bait_discard = bytes(left if rest == "discard" else ())
    state.captured = [bytes(numbers((cats or {}).get(seat, ""))) for seat in range(seats)]
    state.unused = [cat_set(set(own) - set(numbers(used))) for own in state.captured]
    state.points = [sum(POINTS[cat] for cat in own) for own in state.captured]
    named = {*numbers(cat_stack), *(cat for own in state.captured for cat in own)}
    free = [cat for cat in CAT_IDS if cat not in named]
    state.yard = list(free[:4] if yard is None else numbers(yard))
    others = [cat for cat in free if cat not in state.yard]
    state.cats, state.cats_taken = bytes((*numbers(cat_stack), *(others if cat_rest == "stack" else ()))), 0
    state.cat_discard = cat_set(others) if cat_rest == "discard" else 0
    state.locked = sum(1 << pillow for pillow in locked)
    return state


# actions as the vectors write them

REVEAL, STOP, ACCEPT, FINISH, END = map(
    Action, (rules.REVEAL, rules.STOP, rules.ACCEPT_DOG, rules.FINISH, rules.END_TURN)
)


def place(card: str, field: int) -> Action:
    return Action(rules.PLACE, bait(card), field)


def place_drawn(card: str, field: int) -> Action:
    return Action(rules.PLACE_DRAWN, bait(card), field)


def lure(slot: int, fields: Iterable[int] = (), subs: Iterable[CatId] = ()) -> Action:
    return Action(rules.LURE, slot, sum(1 << field for field in fields), cat_set(subs))


def swap(pillow: int) -> Action:
    return Action(rules.SWAP, pillow)


def yard(cat: CatId, *slots: int) -> Action:
    return Action(rules.CHANGE_YARD, cat, sum(1 << slot for slot in slots))


def draw(cat: CatId) -> Action:
    return Action(rules.DRAW, cat)


def shift(cat: CatId) -> Action:
    return Action(rules.SHIFT, cat)


def padlock(cat: CatId) -> Action:
    return Action(rules.PADLOCK, cat)


def ignore(cat: CatId) -> Action:
    return Action(rules.IGNORE_DOG, cat)


def play(state: State, *actions: Action) -> list[Event]:
    """Let the player to move take these actions; all events of them."""
    return [event for action in actions for event in rules.apply(state, {state.turn: action})]


def legal(state: State) -> list[Action]:
    return list(rules.actions(state, state.turn))


def legal_of(state: State, *kinds: int) -> list[Action]:
    """Legal actions of some kinds."""
    return [action for action in legal(state) if action.kind in kinds]


# what lies where


def pillow(state: State, number: int) -> str:
    """A pillow, the way `position` reads it."""
    arrow, *plain = state.pillows[number]
    return f"{baits_text([arrow])}|{baits_text(plain)}"


def arrows(state: State) -> str:
    return baits_text(lying[0] for lying in state.pillows)


def discard(state: State) -> str:
    """The bait discard in bait order."""
    return baits_text(sorted(state.bait_discard))


def collected(state: State) -> str:
    return baits_text(state.collected)


def phase(state: State) -> str:
    return rules.PHASES[state.phase]


def is_used(state: State, player: int, cat: CatId) -> bool:
    assert cat in state.captured[player]
    return not state.unused[player] >> cat & 1


def types(events: Sequence[Event]) -> list[type]:
    return [type(event) for event in events]
