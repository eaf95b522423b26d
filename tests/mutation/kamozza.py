"""Faults of Kamozza that its tests must find."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutation.fault import Fault

FAULTS: Sequence[Fault] = (
    Fault(
        "the one who boarded earlier wins a tie",
        "rules.py",
        "(eliminated or never, points, stamp)",
        "(eliminated or never, points, (-stamp[0], -stamp[1], -stamp[2]))",
    ),
    Fault(
        "points count before elimination",
        "rules.py",
        "(eliminated or never, points, stamp)",
        "(points, eliminated or never, stamp)",
    ),
    Fault(
        "a round too many", "rules.py", "if state.round < state.rounds:", "if state.round <= state.rounds:"
    ),
    Fault(
        "the start seat does not move on",
        "rules.py",
        "return (self.deal.start_seat + self.round - 1) % self.seats",
        "return self.deal.start_seat",
    ),
    Fault(
        "the second seat begins the first round",
        "rules.py",
        "return (self.deal.start_seat + self.round - 1) % self.seats",
        "return (self.deal.start_seat + self.round) % self.seats",
    ),
    Fault(
        "a capacity that is just met sinks a ship",
        "rules.py",
        "departs = weight <= ship",
        "departs = weight < ship",
    ),
    Fault(
        "what just fits is left behind",
        "rules.py",
        "if weight + heaviness > capacity:",
        "if weight + heaviness >= capacity:",
    ),
    Fault(
        "port B comes first if equally many went to both",
        "rules.py",
        "if len(at[PORT_B]) < len(at[PORT_A])",
        "if len(at[PORT_B]) <= len(at[PORT_A])",
    ),
    Fault(
        "claims are not forgotten after the round",
        "rules.py",
        "    state.claims = [NOTHING_SAID] * state.seats\n    if",
        "    if",
    ),
    Fault(
        "rats eat gold in the whole harbour",
        "rules.py",
        "    for seat in there:\n        cards_there |= committed[seat]",
        "    for seat in state.order:\n        cards_there |= committed[seat]",
    ),
    Fault(
        "who lost only gold has boarded all the same",
        "rules.py",
        "        if scoring:\n",
        "        if departs:\n",
    ),
    Fault(
        "lighter cards are loaded first",
        "rules.py",
        "waiting.sort(reverse=True)",
        "waiting.sort()",
    ),
    Fault(
        "rats eat gold on the cat ship before they are turned away",
        "rules.py",
        "fed = ship != CAT_SHIP and cards",
        "fed = cards",
    ),
    Fault(
        "played cards return to the hand",
        "rules.py",
        "state.hands[seat] &= ~state.committed[seat]",
        "state.hands[seat] &= ~state.lost[seat]",
    ),
    Fault(
        "pairs are listed before single cards",
        "rules.py",
        "= (*BITS[ALL_CARDS], *_PAIRS)",
        "= (*_PAIRS, *BITS[ALL_CARDS])",
    ),
    Fault(
        "the cat ship is dealt without being asked for",
        "rules.py",
        "    if options.cat_ship:\n",
        "    if options.typhoon or options.cat_ship:\n",
    ),
    Fault(
        "claims are made without table talk",
        "rules.py",
        "claim == NOTHING_SAID or (state.options.table_talk and claim in _CLAIMS)",
        "claim == NOTHING_SAID or claim in _CLAIMS",
    ),
    Fault(
        "a claim of three cards is published",
        "rules.py",
        "if unknown or len(cards) > 2 or",
        "if unknown or len(cards) > 3 or",
    ),
    Fault(
        "everybody's committed cards are shown",
        "wire.py",
        "    if seat is not None and (own := committed[seat]):\n        players[seat] =",
        "    for seat, own in enumerate(committed):\n        players[seat] =",
    ),
    Fault(
        "a committed card is missing in the public hand",
        "wire.py",
        "        state.hands,\n",
        "        [hand & ~cards for hand, cards in zip(state.hands, state.committed)],\n",
    ),
    Fault(
        "the order of the ships to come is shown",
        "wire.py",
        "tuple(sorted(a[arrived:]))",
        "a[arrived:]",
    ),
    Fault(
        "what is committed is published with its number",
        "rules.py",
        "events.append(COMMITTED[seat][COUNT[cards]])",
        "events.append(Committed(seat, COUNT[cards], Claim(cards, NO_PORT)))",
    ),
    Fault(
        "imagine always finds the same cards",
        "wire.py",
        "state.committed[seat] = rng.choice(_SETS_OF[count][state.hands[seat]])",
        "state.committed[seat] = _SETS_OF[count][state.hands[seat]][0]",
    ),
    Fault(
        "imagine leaves the ships to come in their order",
        "wire.py",
        "Deal(state.deal.start_seat, (_shuffled(a, arrived, rng), _shuffled(b, arrived, rng)))",
        "Deal(state.deal.start_seat, (a, b))",
    ),
    Fault(
        "redeal changes ships that have arrived",
        "wire.py",
        "    return deck[:arrived] + tuple(to_come)",
        "    return tuple(to_come) + deck[:arrived]",
    ),
)
