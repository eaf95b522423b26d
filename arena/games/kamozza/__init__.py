"""Kamozza: load cargo onto ships that sink if all had the same idea. Rules: RULES.md."""

from __future__ import annotations

from collections.abc import Sequence

from arena.games.chance import Chance
from arena.games.game import NoPrivateEvents, Ties
from arena.games.kamozza import rules, text, wire
from arena.games.kamozza.rules import Deal, Event, Options, State


class Kamozza(NoPrivateEvents):
    """The game as the arena knows it; see `arena.games.game.Game` for what each part promises."""

    name = "kamozza"
    title = "Kamozza"
    version = 1
    seats = rules.SEATS
    ties = Ties.DRAW
    option_help = text.OPTION_HELP

    options = staticmethod(text.options_from_text)
    decision_bound = staticmethod(rules.decision_bound)
    deal = staticmethod(rules.deal)
    to_move = staticmethod(rules.to_move)
    actions = staticmethod(rules.actions)
    apply = staticmethod(rules.apply)
    outcome = staticmethod(rules.outcome)

    view = staticmethod(wire.view)
    turn_bytes = staticmethod(wire.turn_bytes)
    event_bytes = staticmethod(wire.event_bytes)
    event_message = staticmethod(wire.event_message)
    options_message = staticmethod(wire.options_message)
    options_from = staticmethod(wire.options_from)
    with_claim = staticmethod(wire.with_claim)
    claim_of = staticmethod(wire.claim_of)
    imagine = staticmethod(wire.imagine)
    redeal = staticmethod(wire.redeal)

    table_text = staticmethod(text.table_text)
    private_text = staticmethod(text.private_text)
    action_text = staticmethod(rules.action_text)

    def start(
        self, seats: int, options: Options, deal: Deal, chance: Chance
    ) -> tuple[State, Sequence[Event]]:
        """The state before the first decision; nothing is drawn during play."""
        return rules.start(seats, options, deal)
