"""Koffer: take cards from a row, pay for skipping, build ascending colour rows. Rules: RULES.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from botarena.v1.game_pb2 import GameOptions
from botarena.v1.koffer_pb2 import KofferEvent, KofferView

from arena.games.chance import Chance
from arena.games.game import NoTableTalk, Outcome, Seat, Ties
from arena.games.koffer import rules, text, wire
from arena.games.koffer.rules import Deal, Event, Options, State, Take


class Koffer(NoTableTalk):
    """The game as the arena knows it; see `arena.games.game.Game` for what each part promises."""

    name = "koffer"
    title = "Koffer, Katze & Sombrero"
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
        """Decks, special cards and start seat of all games of the series."""
        return rules.deal(seats, options, chance)

    def start(
        self, seats: int, options: Options, deal: Deal, chance: Chance
    ) -> tuple[State, Sequence[Event]]:
        """The state before the first decision; nothing is drawn during play."""
        return rules.start(seats, options, deal)

    def to_move(self, state: State) -> tuple[Seat, ...]:
        """The seat whose turn it is."""
        return rules.to_move(state)

    def actions(self, state: State, seat: Seat) -> Sequence[Take]:
        """Legal actions in canonical order."""
        return rules.actions(state, seat)

    def apply(self, state: State, moves: Mapping[Seat, Take]) -> Sequence[Event]:
        """One turn."""
        return rules.apply(state, moves)

    def outcome(self, state: State) -> Outcome:
        """Totals, ranks and what the totals are made of."""
        return rules.outcome(state)

    def audience(self, event: Event) -> tuple[Seat, ...] | None:
        """Everybody learns of everything that happens."""
        return None

    def view(self, state: State, seat: Seat | None) -> KofferView:
        """What a seat or a spectator may know now."""
        return wire.view(state, seat)

    def turn_bytes(
        self, state: State, seat: Seat | None, actions: Sequence[Take], events: Sequence[bytes]
    ) -> bytes:
        """A turn as a seat is shown it."""
        return wire.turn_bytes(state, seat, actions, events)

    def event_bytes(self, event: Event) -> bytes:
        """An event as a piece of a turn."""
        return wire.event_bytes(event)

    def event_message(self, event: Event) -> KofferEvent:
        """An event on the wire."""
        return wire.event_message(event)

    def options_message(self, options: Options) -> GameOptions:
        """Options on the wire."""
        return wire.options_message(options)

    def options_from(self, message: GameOptions) -> Options:
        """Options from the wire."""
        return wire.options_from(message)

    def imagine(self, view: KofferView, events: Sequence[KofferEvent], rng: Random) -> State:
        """A full state that looks like this view."""
        return wire.imagine(view, events, rng)

    def redeal(self, deal: Deal, state: State, seat: Seat, rng: Random) -> Deal:
        """Another deal that would have looked the same so far."""
        return wire.redeal(deal, state, seat, rng)

    def table_text(self, view: KofferView) -> str:
        """The table in plain text."""
        return text.table_text(view)

    def private_text(self, view: KofferView) -> str:
        """Nobody sees anything that others do not."""
        return ""

    def action_text(self, action: Take) -> str:
        """An action in a few words."""
        return text.action_text(action)
