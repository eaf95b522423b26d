"""Kotki: push your luck for bait, and pay with it for the cats of the yard. Rules: RULES.md."""

from __future__ import annotations

from botarena.v1.kotki_pb2 import KotkiView

from arena.games.game import NoPrivateEvents, NoTableTalk, Ties
from arena.games.kotki import rules, text, wire


class Kotki(NoPrivateEvents, NoTableTalk):
    """The game as the arena knows it; see `arena.games.game.Game` for what each part promises."""

    name = "kotki"
    title = "Kotki"
    version = 1
    seats = rules.SEATS
    ties = Ties.DRAW
    option_help = text.OPTION_HELP

    options = staticmethod(text.options_from_text)
    decision_bound = staticmethod(rules.decision_bound)
    deal = staticmethod(rules.deal)
    start = staticmethod(rules.start)
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
    imagine = staticmethod(wire.imagine)
    redeal = staticmethod(wire.redeal)

    table_text = staticmethod(text.table_text)
    action_text = staticmethod(text.action_text)

    def private_text(self, view: KotkiView) -> str:
        """Nobody sees anything that others do not."""
        return ""
