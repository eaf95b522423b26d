"""Kamozza: load cargo onto ships that sink if all had the same idea. Rules: RULES.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from botarena.v1.game_pb2 import GameClaim, GameOptions
from botarena.v1.kamozza_pb2 import KamozzaEvent, KamozzaView

from arena.games.chance import Chance
from arena.games.game import Outcome, Seat, Ties
from arena.games.kamozza import rules, text, wire
from arena.games.kamozza.rules import Action, Deal, Event, Options, State


class Kamozza:
    """The game as the arena knows it; see `arena.games.game.Game` for what each part promises."""

    name = "kamozza"
    title = "Kamozza"
    version = 1
    seats = rules.SEATS
    ties = Ties.DRAW

    def options(self, values: Mapping[str, str]) -> Options:
        """Options from text."""
        return text.options_from_text(values)

    def option_help(self) -> Mapping[str, str]:
        """For each option a line for people."""
        return text.OPTION_HELP

    def decision_bound(self, seats: int, options: Options) -> int:
        """Most decisions of a match."""
        return rules.decision_bound(seats, options)

    def deal(self, seats: int, options: Options, chance: Chance) -> Deal:
        """Both decks of ships and the start seat."""
        return rules.deal(seats, options, chance)

    def start(
        self, seats: int, options: Options, deal: Deal, chance: Chance
    ) -> tuple[State, Sequence[Event]]:
        """The state before the first decision; nothing is drawn during play."""
        return rules.start(seats, options, deal)

    def to_move(self, state: State) -> tuple[Seat, ...]:
        """One seat with its cargo in the base game, else all that still play."""
        return rules.to_move(state)

    def actions(self, state: State, seat: Seat) -> Sequence[Action]:
        """Legal actions in canonical order, loads without claims."""
        return rules.actions(state, seat)

    def apply(self, state: State, moves: Mapping[Seat, Action]) -> Sequence[Event]:
        """Cargo is committed, or ports are revealed and resolved."""
        return rules.apply(state, moves)

    def outcome(self, state: State) -> Outcome:
        """Points, ranks and where the cards went."""
        return rules.outcome(state)

    def audience(self, event: Event) -> tuple[Seat, ...] | None:
        """Everybody learns of everything that happens: of committed cards events tell the number only."""
        return None

    def view(self, state: State, seat: Seat | None) -> KamozzaView:
        """What a seat or a spectator may know now."""
        return wire.view(state, seat)

    def turn_bytes(
        self, state: State, seat: Seat | None, actions: Sequence[Action], events: Sequence[bytes]
    ) -> bytes:
        """A turn as a seat is shown it."""
        return wire.turn_bytes(state, seat, actions, events)

    def event_bytes(self, event: Event) -> bytes:
        """An event as a piece of a turn."""
        return wire.event_bytes(event)

    def event_message(self, event: Event) -> KamozzaEvent:
        """An event on the wire."""
        return wire.event_message(event)

    def options_message(self, options: Options) -> GameOptions:
        """Options on the wire."""
        return wire.options_message(options)

    def options_from(self, message: GameOptions) -> Options:
        """Options from the wire."""
        return wire.options_from(message)

    def with_claim(self, state: State, seat: Seat, action: Action, claim: GameClaim) -> Action:
        """A load with table talk, if the match has it."""
        return wire.with_claim(state, seat, action, claim)

    def claim_of(self, action: Action) -> GameClaim | None:
        """What is said with an action."""
        return wire.claim_of(action)

    def imagine(self, view: KamozzaView, events: Sequence[KamozzaEvent], rng: Random) -> State:
        """A full state that looks like this view."""
        return wire.imagine(view, events, rng)

    def redeal(self, deal: Deal, state: State, seat: Seat, rng: Random) -> Deal:
        """Another deal that would have looked the same so far."""
        return wire.redeal(deal, state, seat, rng)

    def table_text(self, view: KamozzaView) -> str:
        """The table in plain text."""
        return text.table_text(view)

    def private_text(self, view: KamozzaView) -> str:
        """What only the view's own seat sees."""
        return text.private_text(view)

    def action_text(self, action: Action) -> str:
        """An action in a few words."""
        return rules.action_text(action)
