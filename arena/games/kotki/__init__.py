"""Kotki: push your luck for bait, and pay with it for the cats of the yard. Rules: RULES.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from botarena.v1.game_pb2 import GameOptions
from botarena.v1.kotki_pb2 import KotkiEvent, KotkiView

from arena.games.chance import Chance
from arena.games.game import NoTableTalk, Outcome, Seat, Ties
from arena.games.kotki import rules, text, wire
from arena.games.kotki.rules import Action, Deal, Event, Options, State


class Kotki(NoTableTalk):
    """The game as the arena knows it; see `arena.games.game.Game` for what each part promises."""

    name = "kotki"
    title = "Kotki"
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
        """Start seat, arrow cards and the two stacks."""
        return rules.deal(seats, options, chance)

    def start(
        self, seats: int, options: Options, deal: Deal, chance: Chance
    ) -> tuple[State, Sequence[Event]]:
        """The state before the first decision; reshuffles go on drawing where the deal stopped."""
        return rules.start(seats, options, deal, chance)

    def to_move(self, state: State) -> tuple[Seat, ...]:
        """The player whose turn it is."""
        return rules.to_move(state)

    def actions(self, state: State, seat: Seat) -> Sequence[Action]:
        """Legal actions in canonical order."""
        return rules.actions(state, seat)

    def apply(self, state: State, moves: Mapping[Seat, Action]) -> Sequence[Event]:
        """One decision."""
        return rules.apply(state, moves)

    def outcome(self, state: State) -> Outcome:
        """Points, ranks and the cats that they are made of."""
        return rules.outcome(state)

    def audience(self, event: Event) -> tuple[Seat, ...] | None:
        """Everybody learns of everything that happens."""
        return None

    def view(self, state: State, seat: Seat | None) -> KotkiView:
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

    def event_message(self, event: Event) -> KotkiEvent:
        """An event on the wire."""
        return wire.event_message(event)

    def options_message(self, options: Options) -> GameOptions:
        """Options on the wire."""
        return wire.options_message(options)

    def options_from(self, message: GameOptions) -> Options:
        """Options from the wire."""
        return wire.options_from(message)

    def imagine(self, view: KotkiView, events: Sequence[KotkiEvent], rng: Random) -> State:
        """A full state that looks like this view."""
        return wire.imagine(view, events, rng)

    def redeal(self, deal: Deal, state: State, seat: Seat, rng: Random) -> Deal:
        """Another deal that would have looked the same so far."""
        return wire.redeal(deal, state, seat, rng)

    def table_text(self, view: KotkiView) -> str:
        """The table in plain text."""
        return text.table_text(view)

    def private_text(self, view: KotkiView) -> str:
        """Nobody sees anything that others do not."""
        return ""

    def action_text(self, action: Action) -> str:
        """An action in a few words."""
        return text.action_text(action)
