"""What the searching bot knows of Hochstapler: how likely calls are right, and how an auction goes on.

The seat that acted last is the one that searches. It is judged by what it can know, not by the cards that
were imagined for the others; those decide what the others do, and who is wrong in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import erf, sqrt
from random import Random
from typing import NamedTuple

from arena.games.hochstapler import rules
from arena.games.hochstapler.rules import (
    MEMBERS,
    VALUES,
    Action,
    Auction,
    Call,
    Colour,
    Discard,
    State,
    Value,
)

STRONG = 1.0
"""How much higher than average the card of a seat is thought to be that has called its colour."""
AROUND = 1.5
"""How likely a seat loses an auction that it has passed on at no risk, as part of its share of all seats."""
CALM = 3.0
"""How fast that falls with the risk that the seat hands on."""
PIP = 0.02
"""What a higher card is worth for later calls."""
EXCHANGED = 1
"""The highest card that the rule of thumb exchanges."""
PLAYED = 3
"""How often an auction is played on, with the others' cards dealt anew each time."""
TRUST = 1.0
"""Weight of what an action looks worth at once, against auctions that were played on."""
NEVER = -9.0


class Calls(NamedTuple):
    """By total, what a call of a colour is worth, how likely it is right, and the best call from there on."""

    worths: tuple[float, ...]
    holds: tuple[float, ...]
    best: tuple[tuple[float, int], ...]


def playout(state: State, rng: Random) -> Sequence[float]:
    """Results once the current auction is over, as a mean of what looks likely and of what was played."""
    looks = prospects(state)
    game, auctions = state.game, len(state.auctions)
    if not state.calls and state.exchanged < 0:
        return looks
    searching = actor(state)
    sums = [TRUST * result for result in looks]
    for _ in range(PLAYED):
        future = state.copy()
        deal_anew(future, searching, rng)
        callers = callers_of(future)
        outlooks = [outlooks_of(state.seats, discards) for discards in future.discards]
        while future.game == game and len(future.auctions) == auctions:
            play_on(future, callers, outlooks)
        for seat, points in enumerate(points_of(future, game)):
            sums[seat] -= points
    return [result / (TRUST + PLAYED) for result in sums]


def prospects(state: State) -> Sequence[float]:
    """Penalty points that seats can count on, as far as the seat that acted last can tell."""
    if state.calls or state.exchanged >= 0:
        results = [-float(points) for points in state.points]
        results[actor(state)] += worth_of_exchange(state) if state.exchanged >= 0 else worth_of_call(state)
    elif state.auctions:
        *_, auction = state.auctions
        results = [-float(points) for points in state.points]
        results[auction.loser] += 1
        call, doubter = auction.calls[-1], auction.doubter
        callers = callers_of(state)[call.colour]
        calls = calls_of(state, doubter, call.colour, callers)
        results[doubter] += worth_of_end(state.seats, 1 - calls.holds[call.total])
    else:
        results = [-float(points) for points in points_of(state, state.game - 1)]
    return results


def actor(state: State) -> int:
    """The seat that acted last."""
    return state.calls[-1].seat if state.exchanged < 0 and state.calls else state.turn


def points_of(state: State, game: int) -> Sequence[int]:
    return state.points if state.game == game else state.finished[game].points


def worth_of_call(state: State) -> float:
    call = state.calls[-1]
    return calls_of(state, call.seat, call.colour, callers_of(state)[call.colour]).worths[call.total]


def worth_of_exchange(state: State) -> float:
    """The best call that can follow, on average over the cards that might have been drawn."""
    seat, exchanged, lowest = state.turn, state.exchanged, state.total + 1
    callers = callers_of(state)
    others = max(
        (
            calls_of(state, seat, colour, callers[colour]).best[lowest][0]
            for colour in MEMBERS[state.in_play]
            if colour != exchanged
        ),
        default=NEVER,
    )
    discards = state.discards[exchanged]
    callers_elsewhere = (callers[exchanged] & ~(1 << seat)).bit_count()
    unseen = unseen_cards(discards)
    worths = 0.0
    for card in unseen:
        calls = outlooks_of(state.seats, discards)[card * 8 + callers_elsewhere]
        worths += max(others, calls.best[lowest][0]) + PIP * (card - discards[-1].value)
    return worths / len(unseen)


def callers_of(state: State) -> list[int]:
    """By colour, the seats that have called it in this game and hold the same card since, as bit masks."""
    callers = list(callers_before(state.auctions))
    for call in state.calls:
        note(call, callers)
    return callers


@lru_cache(maxsize=256)
def callers_before(auctions: tuple[Auction, ...]) -> tuple[int, ...]:
    callers = [0] * 7
    for auction in auctions:
        for call in auction.calls:
            note(call, callers)
    return tuple(callers)


def note(call: Call, callers: list[int]) -> None:
    if call.exchanged >= 0:
        callers[call.exchanged] &= ~(1 << call.seat)
    callers[call.colour] |= 1 << call.seat


def deal_anew(state: State, seat: int, rng: Random) -> None:
    """Deal the cards that a seat does not see: hands of the others and piles."""
    seats, random = state.seats, rng.random
    piles = list(state.piles)
    for colour in MEMBERS[state.in_play]:
        own, first = seats * colour, state.drawn[colour]
        hidden = state.held[own : own + seats] + list(piles[colour][first:])
        card = hidden.pop(seat)
        hidden.sort(key=lambda _: random())
        hidden.insert(seat, card)
        state.held[own : own + seats] = hidden[:seats]
        piles[colour] = (*piles[colour][:first], *hidden[seats:])
    state.piles = tuple(piles)


def play_on(state: State, callers: list[int], outlooks: list[Outlooks]) -> None:
    """One decision by a rule of thumb: doubt what is likely wrong, exchange a low card, call what is safe."""
    seat, lowest, seats, held = state.turn, state.total + 1, state.seats, state.held
    others = ~(1 << seat)
    best, chosen = NEVER, rules.THE_DOUBT
    low, low_colour = EXCHANGED + 1, rules.NO_COLOUR
    for colour in MEMBERS[state.in_play]:
        card = held[seats * colour + seat]
        worth, total = outlooks[colour][card * 8 + (callers[colour] & others).bit_count()].best[lowest]
        if worth > best:
            best, chosen = worth, Action(rules.CALL, total, colour)
        if card < low and state.exchangeable >> colour & 1:
            low, low_colour = card, colour
    if state.exchanged < 0:
        if state.total:
            card = held[seats * state.colour + seat]
            calls = outlooks[state.colour][card * 8 + (callers[state.colour] & others).bit_count()]
            if best <= worth_of_end(seats, 1 - calls.holds[state.total]):
                chosen = rules.THE_DOUBT
        if low_colour >= 0 and chosen.kind == rules.CALL:
            chosen = rules.EXCHANGES[low_colour]
    rules.apply(state, {seat: chosen})
    if chosen.kind == rules.CALL:
        callers[chosen.colour] |= ~others
    elif chosen.kind == rules.EXCHANGE:
        callers[chosen.colour] &= others
        outlooks[chosen.colour] = outlooks_of(seats, state.discards[chosen.colour])


def calls_of(state: State, seat: int, colour: Colour, callers: int) -> Calls:
    """The calls of a colour as a seat sees them."""
    card = state.held[state.seats * colour + seat]
    others = (callers & ~(1 << seat)).bit_count()
    return outlooks_of(state.seats, state.discards[colour])[card * 8 + others]


class Outlooks(dict[int, Calls]):
    """The calls of a colour by 8 * the card of it that a seat holds + how many others have called it.

    Args:
        hidden: the cards of the colour that are not discarded.
    """

    def __init__(self, seats: int, hidden: tuple[Value, ...]) -> None:
        self.seats, self.hidden = seats, hidden

    def __missing__(self, key: int) -> Calls:
        self[key] = calls = calls_with(self.seats, key // 8, self.hidden, key % 8)
        return calls


@lru_cache(maxsize=16384)
def outlooks_of(seats: int, discards: tuple[Discard, ...]) -> Outlooks:
    """The calls of a colour, by its discards."""
    return outlooks_with(seats, unseen_cards(discards))


@lru_cache(maxsize=16384)
def outlooks_with(seats: int, hidden: tuple[Value, ...]) -> Outlooks:
    return Outlooks(seats, hidden)


@lru_cache(maxsize=16384)
def unseen_cards(discards: tuple[Discard, ...]) -> tuple[Value, ...]:
    """The cards of a colour that are not discarded."""
    unseen = list(VALUES)
    for _, value in discards:
        unseen.remove(value)
    return tuple(unseen)


def calls_with(seats: int, card: Value, hidden: tuple[Value, ...], callers: int) -> Calls:
    """The calls of a colour to a seat that holds a card of it, and has heard others call it."""
    unseen = list(hidden)
    unseen.remove(card)
    own_mean, own_spread = odds_of(seats - 1, unseen)
    mean, spread = odds_of(seats, hidden)
    worths, holds = [], []
    for total in range(rules.HIGHEST_CALL[seats] + 1):
        right = tail(own_mean, own_spread, total - card - STRONG * callers)
        believed = tail(mean, spread, total - STRONG * (callers + 1))
        passed_on = worth_of_end(seats, 1 - AROUND / seats * believed**CALM)
        worths.append((1 - believed) * worth_of_end(seats, right) + believed * passed_on)
        holds.append(right)
    best = [*accumulate(reversed([(worth, total) for total, worth in enumerate(worths)]), max)][::-1]
    return Calls(tuple(worths), tuple(holds), (*best, (NEVER, 0)))


def odds_of(drawn: int, cards: Sequence[Value]) -> tuple[float, float]:
    """What some of these cards are worth together: mean and spread, as `tail` takes them."""
    mean = sum(cards) / len(cards)
    variance = sum([(card - mean) ** 2 for card in cards]) / len(cards)
    variance *= drawn * (len(cards) - drawn) / (len(cards) - 1)
    return drawn * mean, sqrt(2 * variance) + 0.01


def tail(mean: float, spread: float, wanted: float) -> float:
    """How likely cards are worth at least so much; near enough, by the normal distribution."""
    return 0.5 - 0.5 * erf((wanted - 0.5 - mean) / spread)


def worth_of_end(seats: int, wins: float) -> float:
    """What an auction is worth that the seat or one certain other loses."""
    return wins / (seats - 1) - (1 - wins)
