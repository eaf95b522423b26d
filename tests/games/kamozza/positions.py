"""Kamozza positions written the way people write them.

A round is one word for each seat: `20B` takes the 20 to port B, `10+5A` two cards to port A, `-` is a seat
that is eliminated. In the variant with three seats there is only one port: `20`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from arena.games.kamozza import rules
from arena.games.kamozza.rules import (
    NOTHING_SAID,
    Claim,
    Deal,
    Dock,
    Event,
    Load,
    Options,
    Resolved,
    State,
)

BASE = Options()
VARIANT = Options("variant")


def cards(text: str) -> int:
    """A set of cards: `10+5`."""
    return sum(rules.CARD_OF[int(value)] for value in text.split("+") if value)


def load(text: str, claim: Claim = NOTHING_SAID) -> Load:
    """A load of cards: `10+5`."""
    return Load(cards(text), claim)


def said(text: str) -> Claim:
    """A claim: `10+5B`, `B`, `10`."""
    values, port = re.fullmatch(r"([\d+]*)([AB]?)", text).groups()  # type: ignore[union-attr]
    return Claim(cards(values), rules.PORTS.index(port) if port else rules.NO_PORT)


def started(
    seats: int,
    options: Options = BASE,
    a: Sequence[int] | None = None,
    b: Sequence[int] | None = None,
    start_seat: int = 0,
) -> State:
    """A match at its beginning; decks that are not given are unshuffled."""
    unshuffled = rules.unshuffled_decks(seats, options)
    decks = (tuple(unshuffled[0] if a is None else a), tuple(unshuffled[1] if b is None else b))
    return rules.start(seats, options, Deal(start_seat, decks))[0]


def play_cargo(state: State, plays: str) -> list[Event]:
    """Let all seats commit the cargo of a round."""
    wanted = [re.match(r"[\d+]*", play).group() for play in plays.split()]  # type: ignore[union-attr]
    round_, events = state.round, []
    while state.loading and state.movers and state.round == round_:
        events += rules.apply(state, {seat: load(wanted[seat]) for seat in state.movers})
    return events


def play_ports(state: State, plays: str) -> list[Event]:
    """Let all seats choose the port of a round."""
    words = plays.split()
    return rules.apply(state, {seat: Dock(rules.PORTS.index(words[seat][-1])) for seat in state.movers})


def play_round(state: State, plays: str) -> list[Event]:
    """Play a whole round."""
    assert len(plays.split()) == state.seats
    events = play_cargo(state, plays)
    return events + play_ports(state, plays) if not state.loading and state.movers else events


def play_rounds(state: State, *rounds: str) -> list[Event]:
    """Play several rounds."""
    return [event for plays in rounds for event in play_round(state, plays)]


def one_ship(ship: int, loads: str, options: Options = BASE) -> tuple[State, Resolved]:
    """The cards of the first seats meet at port A in the first round; the other seats, if any, are at B."""
    count = len(loads.split())
    seats = max(4, count)
    state = started(seats, options, [ship] * 5, [45] * 5)
    others = " 3B" * (seats - count)
    events = play_round(state, "A ".join(loads.split()) + "A" + others)
    return state, next(
        event for event in events if isinstance(event, Resolved) and event.port == rules.PORT_A
    )


def fates(resolved: Resolved) -> list[str]:
    """What became of each card: `seat 0: 20 eaten`."""
    return [f"seat {card.seat}: {card.card} {card.fate}" for card in resolved.cargo]


def hands(state: State) -> list[tuple[int, ...]]:
    """By seat the values of the cards that were not played."""
    return [rules.CARD_VALUES[hand] for hand in state.hands]


def legal(state: State) -> list[tuple[int, ...]]:
    """What the next seat may load."""
    return [rules.CARD_VALUES[action[0]] for action in rules.actions(state, state.movers[0])]
