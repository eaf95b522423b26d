"""What the searching bot knows of Kamozza: what loads and ports are likely, and what a load is then worth.

A round hangs on what the others do at the same time. So an action is not judged by the one round that
happened to be imagined: every seat's own cards, and its port if it has chosen one, are taken as they are, and
those of the others are drawn anew, sensible ones more often, with all ports to which they could go.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, product
from math import erf, exp, prod, sqrt
from random import Random
from typing import NamedTuple

from arena.games.kamozza import rules
from arena.games.kamozza.rules import (
    CARD_OF,
    CAT_SHIP,
    CAT_SHIP_CAPACITY,
    COUNT,
    FED_RATS,
    GOLD,
    LOADS,
    NO_PORT,
    RATS,
    SINGLE_LOADS,
    TYPHOON,
    WEIGHT,
    Cards,
    Port,
    Ship,
    State,
)

LATER = 0.3
"""Part of its value that a card is worth while it can still be played in a later round."""
ELIMINATED = 100.0
"""Points that each card costs which will be missing for a later round."""
NEGLIGIBLE = 0.001
"""A chance that is not worth a calculation."""
SENSE = 3.0
"""Difference in points that makes a choice e times as likely."""


class Round(NamedTuple):
    """The round to which the last action belonged, as far as it has come.

    Attributes:
        variant: whether it is one of the variant.
        ships: in port.
        seats: those that play.
        hands: by seat before the round.
        loads: by seat what it has committed, or 0.
        ports: by seat where it went, or NO_PORT.
        points: by seat before the round.
        to_come: rounds after this one.
    """

    variant: bool
    ships: tuple[Ship, ...]
    seats: tuple[int, ...]
    hands: list[Cards]
    loads: list[Cards]
    ports: list[Port]
    points: list[int]
    to_come: int


Rivals = tuple[tuple[Cards, int], ...]
"""Hands of the others, and how many cards each has committed; 0: not known."""


def playout(state: State, rng: Random) -> Sequence[float]:
    """By seat what it can expect if its cards, and its port if it has one, stay as they are."""
    round_ = round_of(state)
    results = hopes(round_)
    drawn = draw_loads(round_, rng)
    for seat in round_.seats:
        if load := round_.loads[seat]:
            if len(round_.ships) == 1:
                hands = tuple(hand for hand, _ in rivals(round_, seat))
                gain = expected_at_the_only_port(
                    load, round_.hands[seat], hands, round_.ships, round_.to_come
                )
            else:
                gain = expected(round_, seat, load, drawn)
            results[seat] += gain
    return results


def prospects(state: State) -> Sequence[float]:
    """Quicker and rougher: the weights that the others bring are taken to be normally distributed."""
    round_ = round_of(state)
    results = hopes(round_)
    for seat in round_.seats:
        if load := round_.loads[seat]:
            gains = gains_of(load, rivals(round_, seat), round_.ships, round_.variant)
            port = round_.ports[seat]
            results[seat] += max(gains) if port == NO_PORT else gains[port]
    return results


def round_of(state: State) -> Round:
    """The round in play, or the last one if nothing has happened in this one yet."""
    variant = state.options.mode == "variant"
    nowhere = [NO_PORT] * state.seats
    if any(state.committed) or not state.past:
        to_come = state.rounds - state.round
        return Round(
            variant, state.ships, state.order, state.hands, state.committed, nowhere, state.points, to_come
        )
    past, loads, ports, points = state.past[-1], [0] * state.seats, nowhere, state.points[:]
    for resolved in past.resolved:
        for seat, card, _, gained in resolved.cargo:
            loads[seat] |= CARD_OF[card]
            ports[seat] = resolved.port
            points[seat] -= gained
    hands = [hand | load for hand, load in zip(state.hands, loads, strict=True)]
    seats = tuple(seat for seat, load in enumerate(loads) if load)
    return Round(variant, past.ships, seats, hands, loads, ports, points, state.rounds - past.round)


def hopes(round_: Round) -> list[float]:
    """By seat its points before the round, and what its cards in hand can do after it."""
    results: list[float] = list(round_.points)
    for seat in round_.seats:
        results[seat] += later(round_.hands[seat] & ~round_.loads[seat], round_.to_come)
    return results


@lru_cache(maxsize=2048)
def later(hand: Cards, rounds: int) -> float:
    """What the cards of a hand can do in so many rounds to come; every round needs one."""
    values = rules.CARD_VALUES[hand]
    missing = max(0, rounds - len(values))
    return LATER * sum(values[-2 * rounds :] if rounds else ()) - ELIMINATED * missing


# what the others do


def rivals(round_: Round, seat: int) -> Rivals:
    """What a seat knows of the others."""
    return tuple((round_.hands[other], COUNT[round_.loads[other]]) for other in round_.seats if other != seat)


def draw_loads(round_: Round, rng: Random) -> list[Cards]:
    """By seat a load of as many cards as it has committed, sensible ones more often."""
    drawn = [0] * len(round_.hands)
    for seat in round_.seats:
        hand, number = round_.hands[seat], COUNT[round_.loads[seat]]
        hands = tuple((round_.hands[other], 0) for other in round_.seats if other != seat)
        loads, weights = likely_loads(hand, number, hands, round_.ships, round_.variant, round_.to_come)
        drawn[seat] = rng.choices(loads, cum_weights=weights)[0]
    return drawn


@lru_cache(maxsize=4096)
def likely_loads(
    hand: Cards, number: int, others: Rivals, ships: tuple[Ship, ...], variant: bool, to_come: int
) -> tuple[list[Cards], list[float]]:
    """Loads of so many cards, or of any number if it is 0, and how likely they are, summed up."""
    listed = (SINGLE_LOADS if variant else LOADS)[hand]
    loads = [load.cards for load in listed if number in (0, COUNT[load.cards])]
    sums, total = [], 0.0
    worths = [max(gains_of(load, others, ships, variant)) + later(hand & ~load, to_come) for load in loads]
    best = max(worths)
    for worth in worths:
        total += exp((worth - best) / SENSE)
        sums.append(total)
    return loads, sums


@lru_cache(maxsize=16384)
def share_of_b(load: Cards, others: Rivals, ships: tuple[Ship, ...], variant: bool) -> float:
    """How likely somebody takes a load to port B."""
    a, b = gains_of(load, others, ships, variant)
    return 1 / (1 + exp((a - b) / SENSE))


def expected(round_: Round, seat: int, load: Cards, drawn: Sequence[Cards]) -> float:
    """What a load can expect to score among loads that were drawn for the others."""
    others = [other for other in round_.seats if other != seat]
    port, known = round_.ports[seat], rivals(round_, seat)
    if port == NO_PORT:
        gains = gains_of(load, known, round_.ships, round_.variant)
        port = gains.index(max(gains))
    shares = []
    for other in others:
        to_b = share_of_b(drawn[other], rivals(round_, other), round_.ships, round_.variant)
        shares.append(to_b if port == rules.PORT_B else 1 - to_b)
    ship = round_.ships[port]
    score = score_of_one if round_.variant else score_of_cargo
    result = 0.0
    for present in product((False, True), repeat=len(others)):
        chance, there = 1.0, []
        for other, share, is_there in zip(others, shares, present, strict=True):
            if is_there:
                chance *= share
                there.append(drawn[other])
            else:
                chance *= 1 - share
        if chance > NEGLIGIBLE:
            result += chance * score(load, there, ship)
    return result


@lru_cache(maxsize=4096)
def expected_at_the_only_port(
    card: Cards, hand: Cards, others: tuple[Cards, ...], ships: tuple[Ship, ...], to_come: int
) -> float:
    """The variant with three seats: nobody chooses a port, so all that can meet is gone through."""
    hands = (hand, *others)
    likely = []
    for other in range(1, len(hands)):
        known = tuple((hands[i], 0) for i in range(len(hands)) if i != other)
        cards, sums = likely_loads(hands[other], 1, known, ships, True, to_come)
        chances = [(high - low) / sums[-1] for low, high in pairwise([0.0, *sums])]
        likely.append(list(zip(cards, chances, strict=True)))
    return sum(
        prod(chance for _, chance in met) * score_of_one(card, [there for there, _ in met], ships[0])
        for met in product(*likely)
    )


def score_of_cargo(load: Cards, others: Sequence[Cards], ship: Ship) -> int:
    """What a load scores in the base game beside others at a ship."""
    kept = rules.ALL_CARDS
    for other in (load, *others):
        if other & RATS:
            kept = ~GOLD
    weight = WEIGHT[load & kept]
    for other in others:
        weight += WEIGHT[other & kept]
    return WEIGHT[load & kept] if weight <= ship else 0


def score_of_one(card: Cards, others: Sequence[Cards], ship: Ship) -> int:
    """What a card scores in the variant beside others at a ship."""
    if ship == TYPHOON or card in others:
        return 0
    cat = ship == CAT_SHIP
    cards = [other for other in (card, *others) if others.count(other) < 2 and not (cat and other == RATS)]
    fed = RATS in cards and GOLD in cards
    if card not in cards or (fed and card == GOLD):
        return 0
    own = FED_RATS if fed and card == RATS else WEIGHT[card]
    capacity = CAT_SHIP_CAPACITY if cat else ship
    weights = [
        FED_RATS if fed and other == RATS else WEIGHT[other] for other in cards if not (fed and other == GOLD)
    ]
    for weight in sorted(weights, reverse=True):
        if weight <= capacity:
            capacity -= weight
            if weight == own:
                return own
        elif weight == own:
            return 0
    return 0


# the same without drawing anything


@lru_cache(maxsize=32768)
def gains_of(load: Cards, others: Rivals, ships: tuple[Ship, ...], variant: bool) -> tuple[float, ...]:
    """By port what a load can expect to score among others of whom only the hands are known."""
    gain = gain_of_one if variant else gain_of_cargo
    return tuple(gain(load, others, port, ships) for port in range(len(ships)))


def gain_of_cargo(load: Cards, others: Rivals, port: Port, ships: tuple[Ship, ...]) -> float:
    weight, variance, no_rats, gold = all_traffic(others, port, ships)
    rats = 1.0 if load & RATS else 1 - no_rats
    value = WEIGHT[load] - (rats * WEIGHT[GOLD] if load & GOLD else 0)
    return value * fits(ships[port], value + weight - rats * gold * WEIGHT[GOLD], variance)


@lru_cache(maxsize=4096)
def all_traffic(others: Rivals, port: Port, ships: tuple[Ship, ...]) -> tuple[float, float, float, float]:
    """What some players together bring to a port: mean and variance of the weight, how likely there
    are no rats, and how many gold."""
    weight = variance = gold = 0.0
    no_rats = 1.0
    for hand, number in others:
        mean, spread, rats, golds = traffic(hand, number, port, ships)
        weight += mean
        variance += spread
        no_rats *= 1 - rats
        gold += golds
    return weight, variance, no_rats, gold


@lru_cache(maxsize=4096)
def traffic(
    hand: Cards, number: int, port: Port, ships: tuple[Ship, ...]
) -> tuple[float, float, float, float]:
    """What a player may bring to a port in the base game, all loads being equally likely."""
    loads = [load.cards for load in LOADS[hand] if number in (0, COUNT[load.cards])]
    mean = square = rats = gold = 0.0
    for load in loads:
        eaten = load & RATS and load & GOLD
        carried = WEIGHT[load & ~GOLD if eaten else load]
        chance = share_of(carried, port, ships) / len(loads)
        mean += chance * carried
        square += chance * carried * carried
        rats += chance if load & RATS else 0
        gold += chance if load & GOLD and not eaten else 0
    return mean, square - mean * mean, rats, gold


def share_of(weight: int, port: Port, ships: tuple[Ship, ...]) -> float:
    """How likely a weight goes to a port: never to a ship that is too small for it."""
    if len(ships) == 1:
        return 1.0
    room = [capacity if capacity >= weight else 0 for capacity in map(capacity_of, ships)]
    return room[port] / sum(room) if any(room) else 0.5


def gain_of_one(card: Cards, others: Rivals, port: Port, ships: tuple[Ship, ...]) -> float:
    ship, value = ships[port], WEIGHT[card]
    cat, capacity = ship == CAT_SHIP, capacity_of(ship)
    if capacity < value or (cat and card == RATS):
        return 0.0
    alone, no_food, one_food = 1.0, 1.0, 0.0
    mean = variance = 0.0
    food = GOLD if card == RATS else RATS
    for hand, _ in others:
        size = COUNT[hand]
        if hand & card:
            alone *= 1 - share_of(value, port, ships) / size
        if hand & food:
            chance = share_of(WEIGHT[food], port, ships) / size
            no_food, one_food = no_food * (1 - chance), one_food * (1 - chance) + no_food * chance
        brought = 0.0
        for other in rules.CARD_VALUES[hand]:
            if value < other <= capacity - value:
                chance = share_of(other, port, ships) / size
                brought += chance * other
                variance += chance * other * other
        mean += brought
        variance -= brought * brought
    behind = fits(capacity, value + mean, variance)
    if card == RATS:
        return alone * (one_food * (FED_RATS if capacity >= FED_RATS else 0) + (1 - one_food) * behind)
    if card == GOLD and not cat:
        alone *= 1 - one_food
    return alone * value * behind


def capacity_of(ship: Ship) -> int:
    return CAT_SHIP_CAPACITY if ship == CAT_SHIP else ship


def fits(capacity: int, weight: float, variance: float) -> float:
    """How likely a weight of this mean and variance is no more than a capacity."""
    room = capacity + 0.5 - weight
    if variance < 0.01:
        return 1.0 if room > 0 else 0.0
    return 0.5 + 0.5 * erf(room / sqrt(2 * variance))
