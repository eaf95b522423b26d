"""Combo Up: hands that are never sorted, combinations of neighbours, reserves. Rules: RULES.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from botarena.v1.combo_up_pb2 import ComboUpEvent, ComboUpView
from botarena.v1.game_pb2 import GameOptions

from arena.games.chance import Chance
from arena.games.combo_up import rules, text, wire
from arena.games.combo_up.rules import Action, Deal, Event, Options, State
from arena.games.game import NoTableTalk, Outcome, Seat, Ties


class ComboUp(NoTableTalk):
    """The game as the arena knows it; see `arena.games.game.Game` for what each part promises."""

    name = "combo_up"
    title = "Combo Up"
    version = 1
    seats = rules.SEATS
    ties = Ties.SHARED

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
        """Start seat and the deck of the first hand."""
        return rules.deal(seats, options, chance)

    def start(
        self, seats: int, options: Options, deal: Deal, chance: Chance
    ) -> tuple[State, Sequence[Event]]:
        """The state before the first decision; later hands are shuffled from the chance when they begin."""
        return rules.start(seats, options, deal, chance)

    def to_move(self, state: State) -> tuple[Seat, ...]:
        """Seats that owe a decision."""
        return rules.to_move(state)

    def actions(self, state: State, seat: Seat) -> Sequence[Action]:
        """Legal actions in canonical order."""
        return rules.actions(state, seat)

    def apply(self, state: State, moves: Mapping[Seat, Action]) -> Sequence[Event]:
        """One decision, or several at once."""
        return rules.apply(state, moves)

    def outcome(self, state: State) -> Outcome:
        """Tokens or points, and ranks."""
        return rules.outcome(state)

    def audience(self, event: Event) -> tuple[Seat, ...] | None:
        """Which card was drawn or handed on is private."""
        return rules.audience(event)

    def view(self, state: State, seat: Seat | None) -> ComboUpView:
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

    def event_message(self, event: Event) -> ComboUpEvent:
        """An event on the wire."""
        return wire.event_message(event)

    def options_message(self, options: Options) -> GameOptions:
        """Options on the wire."""
        return wire.options_message(options)

    def options_from(self, message: GameOptions) -> Options:
        """Options from the wire."""
        return wire.options_from(message)

    def imagine(self, view: ComboUpView, events: Sequence[ComboUpEvent], rng: Random) -> State:
        """A full state that looks like this view."""
        return wire.imagine(view, events, rng)

    def redeal(self, deal: Deal, state: State, seat: Seat, rng: Random) -> Deal:
        """Another deal that would have looked the same so far."""
        return wire.redeal(deal, state, seat, rng)

    def table_text(self, view: ComboUpView) -> str:
        """The table in plain text."""
        return text.table_text(view)

    def private_text(self, view: ComboUpView) -> str:
        """What only the view's own seat sees."""
        return text.private_text(view)

    def action_text(self, action: Action) -> str:
        """An action in a few words."""
        return text.action_text(action)
