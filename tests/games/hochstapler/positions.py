"""Hochstapler positions written the way people write them: colours by name, cards by seat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from arena.games.chance import Chance
from arena.games.hochstapler import rules
from arena.games.hochstapler.rules import COLOURS, VALUES, Action, Deal, GameDeal, Options, Pile, State

Event = TypeVar("Event", bound=rules.Event)

UNSHUFFLED: GameDeal = (VALUES,) * len(COLOURS)
SEED = bytes(range(32))


def colour(name: str) -> int:
    """`clock` is 0, `ring` is 6."""
    return COLOURS.index(name)


def pile(first: Sequence[int]) -> Pile:
    """A pile with these cards on top; the others follow from low to high."""
    rest = list(VALUES)
    for value in first:
        rest.remove(value)
    return (*first, *rest)


def game_of(piles: Mapping[str, Sequence[int]]) -> GameDeal:
    """A game in which some piles begin with given cards; the others lie unshuffled."""
    return tuple(pile(piles.get(name, ())) for name in COLOURS)


def table(
    seats: int, piles: Mapping[str, Sequence[int]] | None = None, start_seat: int = 0, match: bool = False
) -> State:
    """A game before its first decision; the first cards of a pile go to the seats in order."""
    return table_of(seats, [game_of(piles or {})], start_seat, match)


def table_of(seats: int, games: Sequence[GameDeal], start_seat: int = 0, match: bool = False) -> State:
    """The first of some given games before its first decision."""
    state, _ = rules.start(seats, Options(match), Deal(start_seat, tuple(games)), Chance(SEED))
    return state


def call(total: int, name: str) -> Action:
    return Action(rules.CALL, total, colour(name))


def exchange(name: str) -> Action:
    return Action(rules.EXCHANGE, 0, colour(name))


doubt = rules.THE_DOUBT


def play(state: State, *actions: Action) -> list[rules.Event]:
    """Let whoever is to move do these things one after the other; gives the events of all."""
    return [event for action in actions for event in rules.apply(state, {state.turn: action})]


def legal(state: State) -> list[Action]:
    return list(rules.actions(state, state.turn))


def only(events: Sequence[rules.Event], kind: type[Event]) -> list[Event]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def lose(state: State, loser: int) -> list[rules.Event]:
    """One auction that a given seat loses: all call as little as they can, until it calls too much."""
    name = COLOURS[rules.MEMBERS[state.in_play][0]]
    highest, events = rules.HIGHEST_CALL[state.seats], []
    assert sum(state.cards(colour(name))) < highest
    while state.turn != loser:
        events += play(state, call(state.total + 1, name))
    return events + play(state, call(highest, name), doubt)
