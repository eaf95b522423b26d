"""What the searching bot knows of Combo Up: how hands look, and how a round quickly goes on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from random import Random

from arena.games.combo_up import rules
from arena.games.combo_up.rules import (
    GIVE,
    JOKER,
    PLAY,
    READINGS,
    SPECIAL,
    TAKE,
    Action,
    Cards,
    State,
    kind_and_high,
)

EASE = (0.0, 0.0, 0.3, 0.5, 0.65, 0.75)
"""By kind, how much of a turn it spares that a combination outbids many others."""
HIGH = 0.015
"""What each point of its highest value adds to that."""
SPECIAL_EASE = 0.7
"""The same for a special card, which outbids everything."""
RESERVE = (0.0, 0.9, 1.4)
"""Turns that reserves are worth: nobody is lost who can still take one."""
TOKEN = 12.0
"""Turns that a token is worth."""
POINT = 5.0
"""Turns that a point is worth where points decide."""
WEIGHT = 0.3
"""How much what a playout ends with counts beside what it began with."""
LEAD = 0.4
"""Turns that it is worth to lead a round that has just begun."""
EFFECT = 0.1
"""Turns that the effect of a special card is worth."""
PLACES = 4
"""Places at which an insertion is looked at, about."""
ROUNDS = 1
"""Ends of rounds that a playout looks ahead."""


def playout(state: State, rng: Random) -> Sequence[float]:
    """Prospects, corrected by how the round may go on: one round says little, as cards fall by chance."""
    hand, last = state.hand, state.round + ROUNDS
    now = prospects(state)
    while state.hand == hand and state.round < last and (seats := rules.to_move(state)):
        rules.apply(state, {seat: rule_of_thumb(state, seat) for seat in seats})
    return [before + WEIGHT * (after - before) for before, after in zip(now, prospects(state), strict=True)]


def prospects(state: State) -> Sequence[float]:
    """By seat: tokens or points, and in the middle of a hand the turns that it still needs."""
    sure = (
        [POINT * points for points in state.points]
        if state.options.scoring
        else [TOKEN * tokens for tokens in state.tokens]
    )
    # Of a hand that has just begun nothing is known yet: it favours nobody.
    if state.phase == rules.OVER or not state.moves:
        return sure
    leader = state.participants[0] if not state.turn and not state.table else None
    return [
        worth
        + hand_prospects(state.held[seat])
        + RESERVE[len(state.reserves[seat])] * bool(state.held[seat])
        + LEAD * (seat == leader)
        for seat, worth in enumerate(sure)
    ]


def rule_of_thumb(state: State, seat: int) -> Action:
    """The action after which the hand looks best; of the places for a card only some are looked at."""
    actions = rules.actions(state, seat)
    held, reserves = state.held[seat], state.reserves[seat]
    apart = max(1, len(actions) // PLACES)
    best, chosen = IMPOSSIBLE, actions[0]
    for number, action in enumerate(actions):
        verb, length, at, _, reserve, position = action
        if verb == PLAY:
            worth = hand_prospects(held[:at] + held[at + length :])
        elif verb == SPECIAL:
            worth = hand_prospects(held[:at] + held[at + 1 :]) + EFFECT
        elif verb == GIVE:
            worth = hand_prospects(held[:at] + held[at + 1 :])
        elif number % apart:
            continue
        elif verb == TAKE:
            card, left = reserves[reserve], len(reserves) - 1
            worth = (
                hand_prospects((*held[:position], card, *held[position:])) + RESERVE[left] - RESERVE[left + 1]
            )
        else:
            worth = hand_prospects((*held[:position], state.incoming[seat], *held[position:]))
        if worth > best:
            best, chosen = worth, action
    return chosen


def turns_for(*cards: int) -> float:
    """What is left to be desired of neighbours that are played in one turn; 0 is no card."""
    if len(cards) == 1 and cards[0] > JOKER:
        return SPECIAL_EASE - 1
    if cards not in READINGS:
        return IMPOSSIBLE
    kind, high = kind_and_high(READINGS[cards][-1])
    return EASE[kind] + HIGH * high - 1


IMPOSSIBLE = -100.0
BASE = rules.PASS_ON + 1
ONE = [turns_for(card) for card in range(BASE)]
TWO = [turns_for(*cards) for cards in product(range(BASE), repeat=2)]
THREE = [turns_for(*cards) for cards in product(range(BASE), repeat=3)]


@lru_cache(maxsize=1 << 16)
def hand_prospects(held: Cards) -> float:
    """Turns until a hand is empty, negative; those that are easily taken count less.

    The hand is cut into neighbours so that they are least; that neighbours change as cards go is left out.
    """
    one, two, three = ONE, TWO, THREE
    first = second = 0
    now = one_less = two_less = 0.0
    for card in held:
        most = now + one[card]
        pair = second * BASE + card
        if (turns := one_less + two[pair]) > most:
            most = turns
        if (turns := two_less + three[first * BASE * BASE + pair]) > most:
            most = turns
        first, second = second, card
        two_less, one_less, now = one_less, now, most
    return now
