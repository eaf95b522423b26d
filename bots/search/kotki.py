"""What the searching bot knows of Kotki: how a table looks, and how a turn quickly comes to its end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from random import Random

from arena.games.kotki import rules
from arena.games.kotki.components import CAT_SHOWS, CATS, COST, DECK, DOG, EMPTY, POINTS, SHOWS
from arena.games.kotki.rules import Action, CatIds, Pile, State, members

BAIT = tuple((0.0, 0.6, 0.75, 0.85)[shown.bit_count()] for shown in SHOWS)
"""Points that a bait card is worth."""
IN_REACH = 0.12
"""Part of their points that cats of the yard are worth which a pillow could pay for."""
ENDINGS = 2
"""Endings of a turn in each future."""
TURN = 1.5
"""Points that it is worth to be about to begin a turn."""
DOGS = DECK.count(DOG)
A_TRY = 5.0
"""More points than a dog can cost."""
WINNING = 3.0
"""Points that the target is worth beyond its points, to whoever has most."""
WORTH_LURING = 3
"""Points that a first lure of a turn should bring in all, where the pillow has room for more bait."""
ABILITIES = {
    "yard_1": 0.1,
    "yard_2": 0.15,
    "yard_all": 0.2,
    "draw_1": 0.6,
    "draw_2": 1.2,
    "shift_right": 0.6,
    "shift_left": 0.6,
    "padlock": 0.1,
    "ignore_dog": 0.6,
    "substitute": 0.6,
}
ABILITY = (0.0, *(ABILITIES[cat.ability] for cat in CATS.values()))
"""By cat, points that its ability is worth while it can be used."""


def playout(state: State, rng: Random) -> Sequence[float]:
    """Prospects once the current turn has ended; a turn that is to begin is worth its average."""
    results = [0.0] * state.seats
    for _ in range(ENDINGS):
        for seat, result in enumerate(_to_the_end(_another(state, rng))):
            results[seat] += result / ENDINGS
    return results


def _another(state: State, rng: Random) -> State:
    """The same position with the bait stack in another order."""
    other = state.copy()
    other.bait = bytes(rng.sample(state.bait[state.bait_taken :], len(state.bait) - state.bait_taken))
    other.bait_taken = 0
    return other


def _to_the_end(state: State) -> Sequence[float]:
    seat = state.turn
    while state.turn == seat and not state.over and not _to_begin(state):
        rules.apply(state, {seat: rule_of_thumb(state)})
    results = list(prospects(state))
    if not state.over:
        results[state.turn] += TURN
    return results


def _to_begin(state: State) -> bool:
    return state.phase == rules.START and not state.swapped


def prospects(state: State) -> Sequence[float]:
    """By seat: its points, and what its pillow and its cats may still bring."""
    most = max(state.points)
    if state.over:
        return [points + WINNING * (points == most) for points in state.points]
    yard = tuple(state.yard)
    results: list[float] = []
    for seat, home in enumerate(rules.HOMES[state.seats]):
        unused = state.unused[seat]
        fields = state.pillows[home]
        if seat == state.turn and (state.collected or state.drawn):
            fields = _best_four(fields + state.collected + state.drawn)
        worth = (
            state.points[seat] + _pillow_worth(fields, unused & rules.SUBSTITUTES, yard) + _abilities(unused)
        )
        if state.points[seat] == most >= state.options.target:
            worth += WINNING
        # A dog in the one future in which all actions are compared first is no reason not to try a card.
        results.append(worth + A_TRY * (seat == state.turn and _is_bust(state)))
    return results


def _is_bust(state: State) -> bool:
    """Whether the first card taken in an imagined future was a dog that cost what was collected."""
    return state.phase == rules.AFTER and state.bait_taken == 1 and state.bait[0] == DOG


def _best_four(cards: Pile) -> Pile:
    return bytes(sorted(cards, key=BAIT.__getitem__, reverse=True)[:4])


@lru_cache(maxsize=1 << 16)
def _pillow_worth(fields: Pile, subs: int, yard: CatIds) -> float:
    return sum([BAIT[card] for card in fields]) + IN_REACH * _in_reach(fields, subs, yard)


@lru_cache(maxsize=1 << 14)
def _abilities(unused: int) -> float:
    return sum(ABILITY[cat] for cat in members(unused))


def _in_reach(fields: Pile, subs: int, yard: CatIds) -> int:
    """Points of the cats of the yard that a pillow and substitutes can pay for together."""
    sources = [SHOWS[card] for card in fields if card != EMPTY] + [CAT_SHOWS[cat] for cat in members(subs)]
    return _most_points(tuple(sorted(sources)), tuple(sorted(filter(None, yard))))


@lru_cache(maxsize=1 << 16)
def _most_points(sources: tuple[int, ...], cats: CatIds) -> int:
    if not sources or not cats:
        return 0
    cat, rest = cats[0], cats[1:]
    best = _most_points(sources, rest)
    for chosen in combinations(range(len(sources)), COST[cat].bit_count()):
        if _pays(COST[cat], tuple([sources[index] for index in chosen])):
            left = tuple([source for index, source in enumerate(sources) if index not in chosen])
            best = max(best, POINTS[cat] + _most_points(left, rest))
    return best


_pays = lru_cache(maxsize=1 << 15)(rules.pays)


# how a turn goes on


def rule_of_thumb(state: State) -> Action:
    """A quick choice in any phase: collect a pillow-full, lure what can be paid for, never use an ability."""
    return _RULES[state.phase](state)


def _begin(state: State) -> Action:
    fields = state.pillows[state.home]
    subs = state.unused[state.turn] & rules.SUBSTITUTES
    points = _in_reach(fields, subs, tuple(state.yard))
    if points and (
        points >= WORTH_LURING or EMPTY not in fields or max(state.points) >= state.options.target
    ):
        lure = _lure(state)
        if lure.kind == rules.LURE:  # not if the arrow card would have to pay and is locked
            return lure
    return Action(rules.REVEAL)


def _reveal_or_stop(state: State) -> Action:
    """The average card against what a dog would cost."""
    kept = state.pillows[state.home]
    worths = sorted([BAIT[card] for card in kept + state.collected], reverse=True)[:4]
    loss = sum(worths) - sum([BAIT[card] for card in kept])
    better = max(0.0, 0.65 - worths[3])
    left = len(state.bait) - state.bait_taken
    dogs = DOGS - state.bait_discard.count(DOG)
    if left and dogs * loss > (left - dogs) * better:
        return Action(rules.STOP)
    return Action(rules.REVEAL if left or better > loss else rules.STOP)


def _ignore(state: State) -> Action:
    return rules.actions(state, state.turn)[0]


def _place(state: State) -> Action:
    """The best card where there is room, else in place of the worst."""
    fields = state.pillows[state.home]
    card = max(state.collected, key=BAIT.__getitem__)
    if fields[0] == EMPTY:
        return Action(rules.PLACE, card, 0)
    free = [field for field in range(4) if not state.placed >> field & 1]
    where = min(free, key=lambda field: BAIT[fields[field]])
    if BAIT[fields[where]] < BAIT[card]:
        return Action(rules.PLACE, card, where)
    return Action(rules.FINISH)


def _place_drawn(state: State) -> Action:
    card = max(state.drawn, key=BAIT.__getitem__)
    return Action(rules.PLACE_DRAWN, card, state.pillows[state.home].index(EMPTY))


def _lure(state: State) -> Action:
    """The lure that leaves most, or the end of the turn."""
    best, chosen = 0.0, Action(rules.END_TURN)
    fields, subs, yard = state.pillows[state.home], state.unused[state.turn] & rules.SUBSTITUTES, state.yard
    for action in rules.actions(state, state.turn):
        if action.kind == rules.LURE:
            kept = bytes([card for field, card in enumerate(fields) if not action.where >> field & 1])
            cats = tuple([cat for slot, cat in enumerate(yard) if slot != action.number])
            cat = yard[action.number]
            worth = POINTS[cat] + ABILITY[cat] + sum([BAIT[card] for card in kept])
            worth += _abilities(subs & ~action.subs) + _in_reach(kept, subs & ~action.subs, cats)
            if worth > best:
                best, chosen = worth, action
    return chosen


def _end(state: State) -> Action:
    return Action(rules.END_TURN)


_RULES = (_begin, _reveal_or_stop, _ignore, _place, _place_drawn, _lure, _end)
