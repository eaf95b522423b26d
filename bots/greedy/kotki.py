"""What an action in Kotki looks worth: points, and what bait and abilities may still bring."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from typing import NamedTuple

from botarena.v1.kotki_pb2 import KotkiAbility, KotkiAction, KotkiActionKind, KotkiCat, KotkiPhase, KotkiView

DOG = 32
BAIT = (0.0, 0.55, 0.7, 0.8)
"""Points that a bait card is worth, by the number of its symbols."""
DEMAND = 0.08
"""More for each cat of the yard that asks for one of its symbols."""
IN_REACH = 0.4
"""Part of their points that cats of the yard are worth which the pillow could pay for."""
AT_THE_ARROWS = 0.9
"""Part of its worth that a card keeps on the arrow field, from where others can take it."""
FREE = 10.0
"""Above everything that ends or commits a turn: gains that cost nothing come first."""
GAIN = 0.3
"""Points that a swap must bring."""
SURVIVES = 0.55
"""Part of what a pillow could gain that collecting brings, dogs considered."""
WINNING = 3.0
"""Points that it is worth to reach the target."""

ABILITY = {
    KotkiAbility.KOTKI_ABILITY_YARD_1: 0.1,
    KotkiAbility.KOTKI_ABILITY_YARD_2: 0.15,
    KotkiAbility.KOTKI_ABILITY_YARD_ALL: 0.2,
    KotkiAbility.KOTKI_ABILITY_DRAW_1: 0.6,
    KotkiAbility.KOTKI_ABILITY_DRAW_2: 1.2,
    KotkiAbility.KOTKI_ABILITY_SHIFT_RIGHT: 0.6,
    KotkiAbility.KOTKI_ABILITY_SHIFT_LEFT: 0.6,
    KotkiAbility.KOTKI_ABILITY_PADLOCK: 0.1,
    KotkiAbility.KOTKI_ABILITY_IGNORE_DOG: 0.6,
    KotkiAbility.KOTKI_ABILITY_SUBSTITUTE: 0.6,
}
"""Points that an ability is worth while it can be used."""

Sources = tuple[int, ...]
Prices = tuple[tuple[int, int], ...]


class Table(NamedTuple):
    """What a seat sees, as its decisions need it.

    Attributes:
        home: own pillow.
        pillows: bait by pillow and field.
        yard: cats by slot.
        prices: cost and points of each.
        own: own cats that can still use their ability, by number.
        subs: what those of them show that are substitutes.
        risk: chance that the next card is a dog.
        bait: what bait is worth now: 1, or 0 in the last turn.
        missing: points to the target.
    """

    home: int
    pillows: tuple[Sources, ...]
    yard: tuple[KotkiCat, ...]
    prices: Prices
    own: dict[int, KotkiCat]
    subs: Sources
    collected: Sources
    to_come: Sources
    risk: float
    bait: float
    missing: int
    phase: int

    @property
    def fields(self) -> Sources:
        return self.pillows[self.home]


def worth(view: KotkiView, seat: int, action: KotkiAction) -> float:
    """Points by which a seat's prospects change with an action; gains that cost nothing count more."""
    return _WORTH[action.kind](table_of(view.SerializeToString(), seat), action)


@lru_cache(maxsize=8)
def table_of(data: bytes, seat: int) -> Table:
    view = KotkiView.FromString(data)
    player = view.players[seat]
    own = {held.cat.number: held.cat for held in player.cats if not held.used}
    to_come = tuple(view.bait_stack or view.bait_discard)
    return Table(
        home=player.pillow,
        pillows=tuple(tuple(pillow.fields) for pillow in view.pillows),
        yard=tuple(view.yard),
        prices=tuple((cat.cost, cat.points) for cat in view.yard),
        own=own,
        subs=tuple(cat.shows for cat in own.values() if cat.shows),
        collected=tuple(view.collected),
        to_come=tuple(card for card in to_come if card != DOG),
        risk=to_come.count(DOG) / max(1, len(to_come)),
        bait=0.0 if max(other.points for other in view.players) >= view.target else 1.0,
        missing=view.target - player.points,
        phase=view.phase,
    )


# what bait is worth


def card_worth(table: Table, card: int) -> float:
    return worth_in_yard(card, table.prices)


@lru_cache(maxsize=1 << 14)
def worth_in_yard(card: int, prices: Prices) -> float:
    return BAIT[card.bit_count()] + DEMAND * sum(bool(cost & card) for cost, _ in prices)


def pillow_worth(table: Table, fields: Sequence[int]) -> float:
    worths = [card_worth(table, card) for card in fields]
    worths[0] *= AT_THE_ARROWS
    return table.bait * (sum(worths) + IN_REACH * in_reach(fields, table.subs, table.prices))


def in_reach(fields: Sequence[int], subs: Sources, prices: Prices) -> int:
    """Points of the cats that cards and substitutes can pay for together, in the best case."""
    return most_points(tuple(sorted([card for card in (*fields, *subs) if card])), prices)


@lru_cache(maxsize=1 << 15)
def most_points(sources: Sources, cats: Prices) -> int:
    if not sources or not cats:
        return 0
    (cost, points), rest = cats[0], cats[1:]
    best = most_points(sources, rest)
    if not cost:  # an empty slot
        return best
    for chosen in combinations(range(len(sources)), cost.bit_count()):
        if pays(cost, tuple(sources[index] for index in chosen)):
            left = tuple(source for index, source in enumerate(sources) if index not in chosen)
            best = max(best, points + most_points(left, rest))
    return best


@lru_cache(maxsize=1 << 15)
def pays(cost: int, sources: Sources) -> bool:
    symbols = [1 << symbol for symbol in range(5) if cost >> symbol & 1]
    return any(
        all(source & symbol for source, symbol in zip(sources, order, strict=True))
        for order in permutations(symbols)
    )


def without(prices: Prices, slots: Sequence[int]) -> Prices:
    return tuple(price for slot, price in enumerate(prices) if slot not in slots)


def best_four(worths: Iterable[float]) -> float:
    return sum(sorted(worths, reverse=True)[:4])


# collecting


def reveal(table: Table, action: KotkiAction) -> float:
    own = [card_worth(table, card) for card in table.fields]
    # Where only dogs are left in the stack, the next card is bad enough as it is.
    cards = [card_worth(table, card) for card in table.to_come] or [0.0]
    if table.phase == KotkiPhase.KOTKI_PHASE_START:
        average = sum(cards) / len(cards)
        return table.bait * SURVIVES * (best_four([*own, *[average] * 4]) - sum(own))
    # One more card makes the best four better; a dog costs what was collected.
    hand = own + [card_worth(table, card) for card in table.collected]
    now = best_four(hand)
    fourth = sorted([*hand, 0.0, 0.0, 0.0], reverse=True)[3]
    better = sum([worth - fourth for worth in cards if worth > fourth]) / len(cards)
    loss = now - sum(own)
    if any(cat.ability == KotkiAbility.KOTKI_ABILITY_IGNORE_DOG for cat in table.own.values()):
        loss = min(loss, ABILITY[KotkiAbility.KOTKI_ABILITY_IGNORE_DOG])
    return (1 - table.risk) * better - table.risk * loss


def ignore_dog(table: Table, action: KotkiAction) -> float:
    return sum(card_worth(table, card) for card in table.collected) - ABILITY[table.own[action.cat].ability]


def place(table: Table, action: KotkiAction) -> float:
    after = list(table.fields)
    after[action.field] = action.bait
    return pillow_worth(table, after) - pillow_worth(table, table.fields)


# luring


def lure(table: Table, action: KotkiAction) -> float:
    cat = table.yard[action.slot]
    after = [0 if field in action.fields else card for field, card in enumerate(table.fields)]
    paid = sum(card_worth(table, card) for card in table.fields) - sum(card_worth(table, c) for c in after)
    subs = list(table.subs)
    for number in action.subs:
        subs.remove(table.own[number].shows)
        paid += ABILITY[table.own[number].ability]
    next_cats = in_reach(after, tuple(subs), without(table.prices, [action.slot]))
    gain = cat.points + table.bait * (ABILITY[cat.ability] - paid) + 0.6 * next_cats
    return gain + (WINNING if cat.points + next_cats >= table.missing else 0.0)


# swaps and abilities


def swap(table: Table, action: KotkiAction) -> float:
    after = [table.pillows[action.pillow][0], *table.fields[1:]]
    gain = pillow_worth(table, after) - pillow_worth(table, table.fields)
    return FREE + gain if gain > GAIN else -1.0


def change_yard(table: Table, action: KotkiAction) -> float:
    """Worth it for a pillow that could pay for much and finds little to pay for."""
    cards = sum(map(bool, table.fields))
    gone = len(action.slots)
    now = in_reach(table.fields, table.subs, table.prices)
    left = in_reach(table.fields, table.subs, without(table.prices, action.slots))
    gain = 0.2 * gone * cards - (now - left) - 0.5
    can_lure = table.phase in (KotkiPhase.KOTKI_PHASE_START, KotkiPhase.KOTKI_PHASE_LURING)
    return FREE + gain if can_lure and cards > 1 and gain > GAIN else -1.0


def draw(table: Table, action: KotkiAction) -> float:
    """Drawn cards are safe, so they come once the pillow has room and nothing else can fill it."""
    cards = 2 if table.own[action.cat].ability == KotkiAbility.KOTKI_ABILITY_DRAW_2 else 1
    late = table.phase in (KotkiPhase.KOTKI_PHASE_LURING, KotkiPhase.KOTKI_PHASE_AFTER)
    return 0.1 * cards if late and table.fields.count(0) >= cards else -1.0


def shift(table: Table, action: KotkiAction) -> float:
    """What comes to the own pillow, as far as padlocks let it."""
    right = table.own[action.cat].ability == KotkiAbility.KOTKI_ABILITY_SHIFT_RIGHT
    comes = table.pillows[(table.home + (1 if right else -1)) % len(table.pillows)]
    gain = pillow_worth(table, comes) - pillow_worth(table, table.fields)
    return FREE + gain if gain > 1.0 else -1.0


def padlock(table: Table, action: KotkiAction) -> float:
    """Keeps a full pillow from being shifted away."""
    after = table.phase == KotkiPhase.KOTKI_PHASE_AFTER
    return 0.05 if after and all(table.fields) else -1.0


def nothing(table: Table, action: KotkiAction) -> float:
    return 0.0


_WORTH = {
    KotkiActionKind.KOTKI_ACTION_KIND_REVEAL: reveal,
    KotkiActionKind.KOTKI_ACTION_KIND_STOP: nothing,
    KotkiActionKind.KOTKI_ACTION_KIND_IGNORE_DOG: ignore_dog,
    KotkiActionKind.KOTKI_ACTION_KIND_ACCEPT_DOG: nothing,
    KotkiActionKind.KOTKI_ACTION_KIND_PLACE: place,
    KotkiActionKind.KOTKI_ACTION_KIND_FINISH: nothing,
    KotkiActionKind.KOTKI_ACTION_KIND_LURE: lure,
    KotkiActionKind.KOTKI_ACTION_KIND_SWAP: swap,
    KotkiActionKind.KOTKI_ACTION_KIND_YARD: change_yard,
    KotkiActionKind.KOTKI_ACTION_KIND_DRAW: draw,
    KotkiActionKind.KOTKI_ACTION_KIND_SHIFT: shift,
    KotkiActionKind.KOTKI_ACTION_KIND_PADLOCK: padlock,
    KotkiActionKind.KOTKI_ACTION_KIND_PLACE_DRAWN: place,
    KotkiActionKind.KOTKI_ACTION_KIND_END_TURN: nothing,
}
