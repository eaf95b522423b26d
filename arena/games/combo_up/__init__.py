"""Combo Up: hands that are never sorted, combinations of neighbours, reserves. Rules: RULES.md."""

from __future__ import annotations

from arena.games.combo_up import rules, text, wire
from arena.games.game import NoTableTalk, Ties


class ComboUp(NoTableTalk):
    """The game as the arena knows it; see `arena.games.game.Game` for what each part promises."""

    name = "combo_up"
    title = "Combo Up"
    version = 1
    seats = rules.SEATS
    ties = Ties.SHARED
    option_help = text.OPTION_HELP

    options = staticmethod(text.options_from_text)
    decision_bound = staticmethod(rules.decision_bound)
    deal = staticmethod(rules.deal)
    start = staticmethod(rules.start)
    to_move = staticmethod(rules.to_move)
    actions = staticmethod(rules.actions)
    apply = staticmethod(rules.apply)
    outcome = staticmethod(rules.outcome)
    audience = staticmethod(rules.audience)

    view = staticmethod(wire.view)
    turn_bytes = staticmethod(wire.turn_bytes)
    event_bytes = staticmethod(wire.event_bytes)
    event_message = staticmethod(wire.event_message)
    options_message = staticmethod(wire.options_message)
    options_from = staticmethod(wire.options_from)
    imagine = staticmethod(wire.imagine)
    redeal = staticmethod(wire.redeal)

    table_text = staticmethod(text.table_text)
    private_text = staticmethod(text.private_text)
    action_text = staticmethod(text.action_text)
