"""What an action in Combo Up looks worth: the turns that it saves, and how well what is left can outbid."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from botarena.v1.combo_up_pb2 import ComboUpAction, ComboUpCard, ComboUpPlay, ComboUpView

JOKER = int(ComboUpCard.COMBO_UP_CARD_JOKER)
STOP = int(ComboUpCard.COMBO_UP_CARD_STOP)
TAKE_UP = int(ComboUpCard.COMBO_UP_CARD_TAKE_UP)
PASS_ON = int(ComboUpCard.COMBO_UP_CARD_PASS_ON)

SOLO, RUN2, PAIR, RUN3, TRIPS = range(1, 6)
EASE = (0.0, 0.0, 0.3, 0.5, 0.65, 0.75)
"""By kind, how much of a turn it spares that a combination outbids many others."""
HIGH = 0.015
"""What each point of its highest value adds to that."""
SPECIAL = 0.7
"""The same for a special card, which outbids everything."""
RESERVE = (0.0, 0.9, 1.4)
"""Turns that reserves are worth: nobody is lost who can still take one."""
DRAWN = 0.6
"""Turns that a drawn card costs."""
LEAD = 0.25
"""Turns that it is worth to lead the next round."""
BY_SPECIAL = {STOP: LEAD, TAKE_UP: 0.2}
"""What the effect of a special card is worth."""


def worth(view: ComboUpView, seat: int, action: ComboUpAction) -> float:
    """Turns that a seat is nearer to an empty hand after an action."""
    hand = tuple(view.hand)
    which = action.WhichOneof("action")
    if which == "play":
        play = action.play
        left = hand[: play.start] + hand[play.start + play.length :]
        return prospects(left) + by_winning(view, play)
    if which == "special":
        index = action.special.index
        return prospects(hand[:index] + hand[index + 1 :]) + by_effect(view, hand[index])
    if which == "take":
        reserves = view.players[seat].reserves
        taken = reserves[action.take.reserve]
        cost = RESERVE[len(reserves)] - RESERVE[len(reserves) - 1]
        return prospects(inserted(hand, taken, action.take.position)) - cost
    if which == "give":
        index = action.give.index
        return prospects(hand[:index] + hand[index + 1 :])
    return prospects(inserted(hand, view.incoming, action.insert.position))


def inserted(hand: tuple[int, ...], card: int, position: int) -> tuple[int, ...]:
    return (*hand[:position], card, *hand[position:])


def by_winning(view: ComboUpView, play: ComboUpPlay) -> float:
    """What it is worth that a combination may win the round: the lead, and the cards that must be drawn."""
    behind = len(view.participants) - 1 - view.turn
    chance = (EASE[play.kind] + HIGH * play.high) ** behind if behind else 1.0
    return chance * (LEAD - 3 * DRAWN * view.draws)


def by_effect(view: ComboUpView, card: int) -> float:
    """What a special card does at once; by Stop one wins what was to be drawn as well."""
    effect = BY_SPECIAL.get(card, 0.0)
    if card == STOP:
        return effect - 3 * DRAWN * view.draws
    return effect


@lru_cache(maxsize=1 << 15)
def prospects(hand: tuple[int, ...]) -> float:
    """Turns until a hand is empty, negative; those that are easily taken count less.

    The hand is cut into neighbours so that they are least; that neighbours change as cards go is left out.
    """
    first = second = 0
    now = one_less = two_less = 0.0
    for card in hand:
        most = now + ONE[card]
        if (turns := one_less + TWO[second][card]) > most:
            most = turns
        if (turns := two_less + THREE[first][second][card]) > most:
            most = turns
        first, second = second, card
        two_less, one_less, now = one_less, now, most
    return now


def strongest(cards: Sequence[int]) -> tuple[int, int]:
    """The strongest that neighbours can count as: kind and highest value; kind 0 if they are none."""
    numbers = sorted(card for card in cards if card < JOKER)
    jokers = cards.count(JOKER)
    if len(cards) == 1:
        return (SOLO, numbers[0] if numbers else 12) if numbers or jokers else (0, 0)
    if not numbers or len(numbers) + jokers < len(cards):
        return (0, 0)
    low, high = numbers[0], numbers[-1]
    if low == high:
        return (PAIR if len(cards) == 2 else TRIPS, high)
    if high - low >= len(cards) or len(set(numbers)) < len(numbers):
        return (0, 0)
    return (RUN2 if len(cards) == 2 else RUN3, min(low + len(cards) - 1, 12))


def turns_for(*cards: int) -> float:
    """What is left to be desired of neighbours that are played in one turn; 0 is no card."""
    if len(cards) == 1 and cards[0] > JOKER:
        return SPECIAL - 1
    kind, high = strongest(cards) if all(cards) else (0, 0)
    return EASE[kind] + HIGH * high - 1 if kind else IMPOSSIBLE


IMPOSSIBLE = -100.0
ANY = range(PASS_ON + 1)
ONE = [turns_for(a) for a in ANY]
TWO = [[turns_for(a, b) for b in ANY] for a in ANY]
THREE = [[[turns_for(a, b, c) for c in ANY] for b in ANY] for a in ANY]
