"""What an action in Hochstapler looks worth: the odds that a call is right, and that the next seat doubts it.

Everything is counted in penalty points by which the seat gains on the others' average.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import erf, sqrt
from typing import NamedTuple

from botarena.v1.hochstapler_pb2 import HochstaplerAction, HochstaplerPile, HochstaplerView

VALUES = (0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7)
EXCHANGE, CALL = 2, 3
NEVER = -9.0
STRONG = 1.0
"""How much higher than average the card of a seat is thought to be that has called its colour."""
AROUND = 1.5
"""How likely a seat loses an auction that it has passed on at no risk, as part of its share of all seats."""
CALM = 3.0
"""How fast that falls with the risk that the seat hands on."""
PIP = 0.02
"""What a higher card is worth for later calls."""


class Outlook(NamedTuple):
    """A colour as a seat sees it.

    Attributes:
        card: its own card.
        unseen: what the others' cards and the pile are made of, from low to high.
        callers: other seats that have called the colour and hold the same card since.
    """

    card: int
    unseen: tuple[int, ...]
    callers: int


class Calls(NamedTuple):
    """By total, what it is worth to call a colour, and the best call of at least that total."""

    worths: tuple[float, ...]
    best: tuple[float, ...]


class Plan(NamedTuple):
    """What all actions of one turn are worth: doubt, exchanges by colour, calls by colour and total."""

    doubt: float
    exchanges: dict[int, float]
    calls: dict[int, Calls]


_plans: list[tuple[HochstaplerView, Plan]] = []
"""The view that was looked at last, with its plan: all actions of a turn come with one and the same view."""


def worth(view: HochstaplerView, seat: int, action: HochstaplerAction) -> float:
    """Penalty points by which a seat may hope to gain on the others with an action."""
    if not _plans or _plans[0][0] is not view:
        _plans[:] = [(view, plan_of(view, seat))]
    plan = _plans[0][1]
    if action.kind == CALL:
        return plan.calls[action.colour].worths[action.total]
    return plan.exchanges[action.colour] if action.kind == EXCHANGE else plan.doubt


def plan_of(view: HochstaplerView, seat: int) -> Plan:
    seats, callers = len(view.totals), callers_of(view)
    outlooks: dict[int, Outlook] = {
        pile.colour: outlook_of(pile, callers[pile.colour] - {seat})
        for pile in view.piles
        if not pile.HasField("taken_by")
    }
    calls = {colour: worth_of_calls(seats, outlook) for colour, outlook in outlooks.items()}
    if view.HasField("exchanged"):
        return Plan(NEVER, {}, calls)
    exchanges = worth_of_exchanges(view, outlooks, calls)
    if not view.HasField("call"):
        return Plan(NEVER, exchanges, calls)
    right = odds_for(seats, outlooks[view.call.colour]).of(view.call.total)
    return Plan(worth_of_end(seats, 1 - right), exchanges, calls)


def worth_of_exchanges(
    view: HochstaplerView, outlooks: dict[int, Outlook], calls: dict[int, Calls]
) -> dict[int, float]:
    """What it is worth to exchange a card: the best call after it, for every card that may be drawn."""
    seats, lowest = len(view.totals), view.call.total + 1
    best = {colour: of_colour.best[lowest] for colour, of_colour in calls.items()}
    exchanges = {}
    for colour, outlook in outlooks.items():
        if view.piles[colour - 1].face_down:
            others = max((worth for other, worth in best.items() if other != colour), default=NEVER)
            exchanges[colour] = sum(
                odds * (max(others, after.best[lowest]) + PIP * (card - outlook.card))
                for odds, card, after in worth_after_exchange(seats, outlook)
            )
    return exchanges


def outlook_of(pile: HochstaplerPile, callers: set[int]) -> Outlook:
    return Outlook(
        pile.card, unseen_with(pile.card, tuple([card.value for card in pile.discards])), len(callers)
    )


@lru_cache(maxsize=65536)
def unseen_with(card: int, discards: tuple[int, ...]) -> tuple[int, ...]:
    """The cards of a colour but for one's own and those discarded, from low to high."""
    unseen = list(VALUES)
    for value in (card, *discards):
        unseen.remove(value)
    return tuple(unseen)


def callers_of(view: HochstaplerView) -> list[set[int]]:
    """By colour, the seats that have called it in this game and not exchanged their card of it since."""
    callers: list[set[int]] = [set() for _ in range(8)]
    for auction in view.auctions:
        for call in auction.calls:
            if call.HasField("exchanged"):
                callers[call.exchanged].discard(call.seat)
            callers[call.colour].add(call.seat)
    return callers


class Odds(NamedTuple):
    """How much some cards are worth together, near enough: normally distributed."""

    mean: float
    spread: float

    def of(self, wanted: float) -> float:
        """How likely it is at least so much."""
        return 0.5 - 0.5 * erf((wanted - 0.5 - self.mean) / self.spread)


def odds_of(drawn: int, cards: tuple[int, ...]) -> Odds:
    """What some of these cards are worth together."""
    mean = sum(cards) / len(cards)
    variance = sum([(card - mean) ** 2 for card in cards]) / len(cards)
    variance *= drawn * (len(cards) - drawn) / (len(cards) - 1)
    return Odds(drawn * mean, sqrt(2 * variance) + 0.01)


def odds_for(seats: int, outlook: Outlook) -> Odds:
    """What a colour is worth to a seat that sees its own card."""
    mean, spread = odds_of(seats - 1, outlook.unseen)
    return Odds(mean + outlook.card + STRONG * outlook.callers, spread)


def odds_for_others(seats: int, outlook: Outlook) -> Odds:
    """What it is worth on average to those who do not see the card, once the seat has called."""
    mean, spread = odds_of(seats, (*outlook.unseen, outlook.card))
    return Odds(mean + STRONG * (outlook.callers + 1), spread)


def worth_of_end(seats: int, wins: float) -> float:
    """What an auction is worth that the seat or one certain other loses."""
    return wins / (seats - 1) - (1 - wins)


@lru_cache(maxsize=65536)
def worth_of_calls(seats: int, outlook: Outlook) -> Calls:
    """What it is worth to call a colour."""
    own, others = odds_for(seats, outlook), odds_for_others(seats, outlook)
    worths = []
    for total in range(sum(VALUES[-seats:]) + 1):
        believed = others.of(total)
        if_doubted = worth_of_end(seats, own.of(total))
        passed_on = worth_of_end(seats, 1 - AROUND / seats * believed**CALM)
        worths.append((1 - believed) * if_doubted + believed * passed_on)
    best = [*accumulate(reversed(worths), max)][::-1]
    return Calls(tuple(worths), (*best, NEVER))


@lru_cache(maxsize=65536)
def worth_after_exchange(seats: int, outlook: Outlook) -> list[tuple[float, int, Calls]]:
    """What the colour's calls are worth with each card that may be drawn, and how likely that is."""
    worths = []
    for card in sorted(set(outlook.unseen)):
        rest = list(outlook.unseen)
        rest.remove(card)
        odds = outlook.unseen.count(card) / len(outlook.unseen)
        worths.append((odds, card, worth_of_calls(seats, Outlook(card, tuple(rest), outlook.callers))))
    return worths
