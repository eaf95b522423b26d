"""What an action in Kamozza looks worth: how likely the cargo travels, and what its cards could do later.

What the others bring is guessed from their hands and the number of cards that they have committed, as
a sum of independent weights, which is taken to be normally distributed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from math import erf, sqrt
from typing import NamedTuple

from botarena.v1.kamozza_pb2 import KamozzaAction, KamozzaMode, KamozzaShip, KamozzaShipKind, KamozzaView

LATER = 0.3
"""Part of its value that a card is worth while it can still be played in a later round."""
ELIMINATED = -100.0
"""Worth of each card that will be missing for a later round."""
RATS, GOLD, FED_RATS = 1, 20, 21

Hand = tuple[int, ...]


class Ship(NamedTuple):
    """A ship as far as it matters here; a typhoon carries nothing."""

    capacity: int
    cat: bool


class Traffic(NamedTuple):
    """What one or several players bring to a port: mean and variance of the weight, how likely rats are
    there, and how many gold is expected."""

    weight: float
    variance: float
    rats: float
    gold: float


def worth(view: KamozzaView, seat: int, action: KamozzaAction) -> float:
    """Points that a seat can expect of an action, with all that follows from it."""
    table = _table_of(view, seat)
    if not action.HasField("load"):
        return table.gain(action.port - 1, table.committed)
    cards = tuple(action.load.cards)
    gain = max(table.gain(port, cards) for port in range(len(table.ships)))
    return gain + later(tuple(card for card in table.hand if card not in cards), table.rounds_to_come)


def later(hand: Hand, rounds: int) -> float:
    """What the cards of a hand can do in so many rounds to come; every round needs one."""
    missing = max(0, rounds - len(hand))
    return LATER * sum(sorted(hand)[-2 * rounds :] if rounds else ()) + ELIMINATED * missing


class Table:
    """A view, read once for all its actions."""

    def __init__(self, view: KamozzaView, seat: int) -> None:
        own = view.players[seat]
        self.variant = view.options.mode == KamozzaMode.KAMOZZA_MODE_VARIANT
        self.ships = tuple(map(_ship, view.ships))
        self.rounds_to_come = view.rounds - view.round
        self.hand = tuple(own.hand)
        self.committed = tuple(own.committed_cards)
        self.others = [
            (tuple(player.hand), player.committed)
            for other, player in enumerate(view.players)
            if other != seat and not player.eliminated
        ]
        ports = range(len(self.ships))
        if self.variant:
            self.there = [self._cards_at(port) for port in ports]
        else:
            self.traffic = [self._traffic_at(port) for port in ports]

    def _traffic_at(self, port: int) -> Traffic:
        """What all others together bring to a port in the base game."""
        traffic = [traffic_of_loads(hand, number, port, self.ships) for hand, number in self.others]
        return Traffic(
            sum([of.weight for of in traffic]),
            sum([of.variance for of in traffic]),
            1 - _none(of.rats for of in traffic),
            sum([of.gold for of in traffic]),
        )

    def _cards_at(self, port: int) -> list[dict[int, float]]:
        """How likely each of the others brings each of its cards to a port in the variant."""
        return [chances_of_cards(hand, port, self.ships) for hand, _ in self.others]

    def gain(self, port: int, cards: Hand) -> float:
        """Points that some cards can be expected to score at a port."""
        return self.gain_of_one(port, cards[0]) if self.variant else self.gain_of_cargo(port, cards)

    def gain_of_cargo(self, port: int, cards: Hand) -> float:
        """The base game: all or nothing, without gold if there are rats."""
        traffic = self.traffic[port]
        rats = 1.0 if RATS in cards else traffic.rats
        value = sum(cards) - (rats * GOLD if GOLD in cards else 0)
        weight = value + traffic.weight - rats * traffic.gold * GOLD
        return value * _fits(self.ships[port].capacity, weight, traffic.variance)

    def gain_of_one(self, port: int, card: int) -> float:
        """The variant: a card travels if it is there once and fits behind the heavier ones."""
        ship = self.ships[port]
        there = self.there[port]
        alone = _none(of.get(card, 0.0) for of in there)
        if card == RATS:
            if ship.cat:
                return 0.0
            gold = _just_one(of.get(GOLD, 0.0) for of in there)
            fed = gold * FED_RATS if ship.capacity >= FED_RATS else 0.0
            return alone * (fed + (1 - gold) * self._fits_behind(ship, there, RATS))
        if card == GOLD and not ship.cat:
            alone *= 1 - _just_one(of.get(RATS, 0.0) for of in there)
        return alone * card * self._fits_behind(ship, there, card)

    def _fits_behind(self, ship: Ship, there: Sequence[dict[int, float]], card: int) -> float:
        weight = variance = 0.0
        for of in there:
            heavier = [
                (value, chance) for value, chance in of.items() if card < value <= ship.capacity - card
            ]
            mean = sum(value * chance for value, chance in heavier)
            weight += mean
            variance += sum(value * value * chance for value, chance in heavier) - mean * mean
        return _fits(ship.capacity, weight + card, variance)


_last: list[tuple[KamozzaView, int, Table]] = []


def _table_of(view: KamozzaView, seat: int) -> Table:
    """The table of a view; all actions of a decision are about the same one."""
    if not _last or _last[0][0] is not view or _last[0][1] != seat:
        _last[:] = [(view, seat, Table(view, seat))]
    return _last[0][2]


def _ship(ship: KamozzaShip) -> Ship:
    return Ship(ship.capacity, ship.kind == KamozzaShipKind.KAMOZZA_SHIP_KIND_CAT)


def share(port: int, ships: Sequence[Ship], weight: int) -> float:
    """How likely somebody goes to a port with such a load: to any ship that is large enough for it."""
    fitting = [index for index, ship in enumerate(ships) if ship.capacity >= weight]
    return (port in fitting) / len(fitting) if fitting else 1 / len(ships)


@lru_cache(maxsize=4096)
def traffic_of_loads(hand: Hand, number: int, port: int, ships: tuple[Ship, ...]) -> Traffic:
    """What a player may bring to a port in the base game.

    Args:
        number: of cards that it has committed; 0: none yet.
    """
    loads = [load for count in (1, 2) if number in (0, count) for load in combinations(hand, count)]
    weight = square = rats = gold = 0.0
    for load in loads:
        carried = sum(load) - (GOLD if RATS in load and GOLD in load else 0)
        chance = share(port, ships, carried) / len(loads)
        weight += chance * carried
        square += chance * carried * carried
        rats += chance * (RATS in load)
        gold += chance * (GOLD in load and RATS not in load)
    return Traffic(weight, square - weight * weight, rats, gold)


@lru_cache(maxsize=4096)
def chances_of_cards(hand: Hand, port: int, ships: tuple[Ship, ...]) -> dict[int, float]:
    """How likely a player brings each card of its hand to a port in the variant."""
    return {card: share(port, ships, card) / len(hand) for card in hand}


def _fits(capacity: int, weight: float, variance: float) -> float:
    """How likely a weight of this mean and variance is no more than a capacity."""
    room = capacity + 0.5 - weight
    if variance < 0.01:
        return 1.0 if room > 0 else 0.0
    return 0.5 + 0.5 * erf(room / sqrt(2 * variance))


def _none(chances: Iterable[float]) -> float:
    """How likely none of some independent events happens."""
    none = 1.0
    for chance in chances:
        none *= 1 - chance
    return none


def _just_one(chances: Iterable[float]) -> float:
    """How likely just one of some independent events happens."""
    none, one = 1.0, 0.0
    for chance in chances:
        none, one = none * (1 - chance), one * (1 - chance) + none * chance
    return one
