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
DOUBT, EXCHANGE = 1, 2
NEVER = -9.0
STRONG = 1.0
"""How much higher than average the card of a seat is thought to be that has called its colour."""
BACK = 1.5
CALM = 3.0
PIP = 0.02
"""How likely the seat itself loses an auction that it has passed on, as part of its share of all seats."""


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


class Plan(NamedTuple):
    """What all actions of one turn are worth."""

    doubt: float
    exchanges: dict[int, float]
    calls: dict[int, tuple[float, ...]]


_plans: list[tuple[HochstaplerView, Plan]] = []
"""The view that was looked at last, with its plan: all actions of a turn come with one and the same view."""


def worth(view: HochstaplerView, seat: int, action: HochstaplerAction) -> float:
    """Penalty points by which a seat may hope to gain on the others with an action."""
    if not _plans or _plans[0][0] is not view:
        _plans[:] = [(view, plan_of(view, seat))]
    plan = _plans[0][1]
    if action.kind == DOUBT:
        return plan.doubt
    if action.kind == EXCHANGE:
        return plan.exchanges[action.colour]
    return plan.calls[action.colour][action.total]


def plan_of(view: HochstaplerView, seat: int) -> Plan:
    seats, total = len(view.totals), view.call.total
    callers = callers_of(view)
    piles = [pile for pile in view.piles if not pile.HasField("taken_by")]
    outlooks = {pile.colour: outlook_of(pile, callers[pile.colour] - {seat}) for pile in piles}
    calls = {colour: worth_of_calls(seats, outlook) for colour, outlook in outlooks.items()}
    doubt = NEVER
    if total and not view.HasField("exchanged"):
        doubt = worth_of_end(seats, 1 - holds(seats, outlooks[view.call.colour], total))
    exchanges = {}
    for pile in piles:
        if pile.face_down and total < view.highest_call:
            others = max(
                (of_colour.best[total + 1] for colour, of_colour in calls.items() if colour != pile.colour),
                default=NEVER,
            )
            draws = worth_after_exchange(seats, outlooks[pile.colour])
            exchanges[pile.colour] = sum(
                odds * (max(drawn.best[total + 1], others) + PIP * (card - pile.card))
                for odds, card, drawn in draws
            )
    return Plan(doubt, exchanges, {colour: of_colour.worths for colour, of_colour in calls.items()})


def outlook_of(pile: HochstaplerPile, callers: set[int]) -> Outlook:
    unseen = list(VALUES)
    for value in (pile.card, *(card.value for card in pile.discards)):
        unseen.remove(value)
    return Outlook(pile.card, tuple(unseen), len(callers))


def callers_of(view: HochstaplerView) -> list[set[int]]:
    """By colour, the seats that have called it in this game and not exchanged their card of it since."""
    callers: list[set[int]] = [set() for _ in range(8)]
    for auction in view.auctions:
        for call in auction.calls:
            if call.HasField("exchanged"):
                callers[call.exchanged].discard(call.seat)
            callers[call.colour].add(call.seat)
    return callers


def holds(seats: int, outlook: Outlook, total: int) -> float:
    """How likely all cards of a colour are worth a total, to a seat that sees its own."""
    return tail(seats - 1, outlook.unseen, total - outlook.card - STRONG * outlook.callers)


def looks_right(seats: int, outlook: Outlook, total: int) -> float:
    """How likely that looks on average to those who do not see the card, once the seat has called."""
    unseen = tuple(sorted((*outlook.unseen, outlook.card)))
    return tail(seats, unseen, total - STRONG * (outlook.callers + 1))


def tail(drawn: int, unseen: tuple[int, ...], wanted: float) -> float:
    """How likely some unseen cards are worth at least so much; near enough, by the normal distribution."""
    mean, variance = moments(unseen)
    spread = sqrt(variance * drawn * (len(unseen) - drawn) / (len(unseen) - 1)) + 0.01
    return 0.5 - 0.5 * erf((wanted - 0.5 - drawn * mean) / (spread * sqrt(2)))


@lru_cache(maxsize=65536)
def moments(cards: tuple[int, ...]) -> tuple[float, float]:
    """Mean and variance of some cards."""
    mean = sum(cards) / len(cards)
    return mean, sum((card - mean) ** 2 for card in cards) / len(cards)


def worth_of_end(seats: int, wins: float) -> float:
    """What an auction is worth that the seat or one certain other loses."""
    return wins / (seats - 1) - (1 - wins)


class Calls(NamedTuple):
    """By total, what it is worth to call a colour, and the best call of at least that total."""

    worths: tuple[float, ...]
    best: tuple[float, ...]


@lru_cache(maxsize=65536)
def worth_of_calls(seats: int, outlook: Outlook) -> Calls:
    """What it is worth to call a colour."""
    worths = []
    for total in range(sum(VALUES[-seats:]) + 1):
        doubted = 1 - looks_right(seats, outlook, total)
        if_doubted = worth_of_end(seats, holds(seats, outlook, total))
        passed_on = worth_of_end(seats, 1 - BACK / seats * (1 - doubted) ** CALM)
        worths.append(doubted * if_doubted + (1 - doubted) * passed_on)
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
