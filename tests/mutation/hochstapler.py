"""Faults of Hochstapler that its tests must find without the golden records."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutation.fault import Fault

FAULTS: Sequence[Fault] = (
    Fault(
        "a call that is met exactly counts as wrong",
        "rules.py",
        "loser = doubter if revealed >= state.total else caller",
        "loser = doubter if revealed > state.total else caller",
    ),
    Fault(
        "the most penalty points are best",
        "rules.py",
        "return competition_ranks([-of_seat for of_seat in points])",
        "return competition_ranks(points)",
    ),
    Fault(
        "a match goes on at ten points",
        "rules.py",
        "max(state.totals) < MATCH_END",
        "max(state.totals) <= MATCH_END",
    ),
    Fault(
        "the option match is ignored",
        "rules.py",
        "if state.options.match and max",
        "if max",
    ),
    Fault(
        "the loser begins the next auction",
        "rules.py",
        "        state.starter = doubter\n        events.append(_AUCTION_STARTED[doubter])",
        "        state.starter = state.turn = loser\n        events.append(_AUCTION_STARTED[loser])",
    ),
    Fault(
        "every game of a match is begun by the same seat",
        "rules.py",
        "_set_up(state, state.game + 1, (state.start_seat + 1) % state.seats, events)",
        "_set_up(state, state.game + 1, state.start_seat, events)",
    ),
    Fault(
        "the start seat is drawn before the piles",
        "rules.py",
        "    first = _draw_game(chance)\n    return Deal(chance.below(seats), (first,))",
        "    return Deal(chance.below(seats), (_draw_game(chance),))",
    ),
    Fault(
        "the current call may be repeated in another colour",
        "rules.py",
        "in_range = state.total < total <= HIGHEST_CALL[state.seats]",
        "in_range = state.total <= total <= HIGHEST_CALL[state.seats]",
    ),
    Fault(
        "calls are listed by colour before total",
        "rules.py",
        "tuple(calls[colour] for calls in CALLS for colour in members)",
        "tuple(calls[colour] for colour in members for calls in CALLS)",
    ),
    Fault(
        "a card may be exchanged after the highest call",
        "rules.py",
        "exchanges = _EXCHANGES_IN[exchangeable] if total < highest else ()",
        "exchanges = _EXCHANGES_IN[exchangeable]",
    ),
    Fault(
        "an exchange does not oblige to call",
        "rules.py",
        "    state.exchanged = colour\n    return",
        "    return",
    ),
    Fault(
        "the last card of a pile can be drawn twice",
        "rules.py",
        "    if not face_down:\n",
        "    if face_down < 0:\n",
    ),
    Fault(
        "an exchange is not over with the call",
        "rules.py",
        "state.total, state.colour, state.exchanged = total, colour, NO_COLOUR",
        "state.total, state.colour = total, colour",
    ),
    Fault(
        "penalty points of the last game are kept",
        "rules.py",
        "    state.points = (0,) * seats\n",
        "    state.points = state.points or (0,) * seats\n",
    ),
    Fault(
        "the auctions of the last game are kept",
        "rules.py",
        "    state.auctions = ()\n    state.points",
        "    state.points",
    ),
    Fault(
        "the drawn card is left in the pile",
        "rules.py",
        "    state.drawn[colour] += 1\n",
        "    state.drawn[colour] += state.total > 0\n",
    ),
    Fault(
        "a copy shares the hands",
        "rules.py",
        "            self.held[:],\n",
        "            self.held,\n",
    ),
    Fault(
        "copies draw later games from one stream",
        "rules.py",
        "        state.chance = state.chance.copy()\n",
        "",
    ),
    Fault(
        "a given later game is drawn all the same",
        "rules.py",
        "    if game == len(state.deal.games):\n",
        "    if game:\n",
    ),
    Fault(
        "everybody is told what a seat drew",
        "wire.py",
        "return (event.seat,) if isinstance(event, (Dealt, Drew)) else None",
        "return (event.seat,) if isinstance(event, Dealt) else None",
    ),
    Fault(
        "a hand is dealt to the next seat's eyes",
        "wire.py",
        "return (event.seat,) if isinstance(event, (Dealt, Drew)) else None",
        "return ((event.seat + 1) % 3,) if isinstance(event, (Dealt, Drew)) else None",
    ),
    Fault(
        "a view shows what others drew",
        "wire.py",
        "        if by == seat:\n",
        "        if by == seat or at:\n",
    ),
    Fault(
        "a spectator sees the hand of seat 0",
        "wire.py",
        "(_SPECTATOR, _NO_CARDS) if seat is None else",
        "(_SPECTATOR, state.held[:: state.seats]) if seat is None else",
    ),
    Fault(
        "the rest of a colour out of play is counted as a pile",
        "wire.py",
        "head = _pile_head(colour - OUT_OF_PLAY, 0)",
        "head = _pile_head(colour - OUT_OF_PLAY, CARDS - seats - len(discards))",
    ),
    Fault(
        "redeal leaves the cards of the others where they are",
        "wire.py",
        "*(held if state.taken_by[colour] != NOBODY else [held[seat]])",
        "*held",
    ),
    Fault(
        "redeal moves what was revealed",
        "wire.py",
        "*(held if state.taken_by[colour] != NOBODY else [held[seat]])",
        "held[seat]",
    ),
    Fault(
        "redeal leaves games to come to the stream",
        "wire.py",
        "to_come = 0 if state.over else",
        "to_come = 0 if state.game < 9 else",
    ),
    Fault(
        "imagined hands are always the same",
        "wire.py",
        "unseen = sorted(colour_known.unseen, key=lambda _: random())",
        "unseen = colour_known.unseen",
    ),
    Fault(
        "imagined matches go on with the same games",
        "wire.py",
        "        state.chance = Chance(rng.randbytes(32))\n",
        "        state.chance = Chance(bytes(32))\n",
    ),
    Fault(
        "an imagined seat forgets its own card",
        "wire.py",
        '    elif pile.HasField("card"):\n',
        "    elif pile.card:\n",
    ),
)
"""Each of them makes a test fail that does not read `tests/golden/`."""
