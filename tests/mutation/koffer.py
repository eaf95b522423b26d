"""Known faults of Koffer."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutation.fault import Fault

FAULTS: Sequence[Fault] = (
    Fault(
        "equal values go face up (K9)",
        "rules.py",
        "VALUE[:CARDS] + (0,) * CARDS",
        "tuple(value - 1 for value in VALUE[:CARDS]) + (0,) * CARDS",
    ),
    Fault(
        "chips on the wanted card help to pay for it (K6)",
        "rules.py",
        "if position - 1 > supply and price(card, position, specials) > supply:\n            continue\n",
        "if price(card, position, specials) > supply + state.row_chips[position - 1]:\n"
        "            continue\n",
    ),
    Fault(
        "drawing the last card begins the final round (K12)",
        "rules.py",
        "        events.append(_REFILLED[card])\n        return\n",
        "        events.append(_REFILLED[card])\n"
        "        if state.drawn == CARDS:\n            state.final_round = True\n        return\n",
    ),
    Fault(
        "the game ends after the start seat's own turn of the final round (K12)",
        "rules.py",
        "state.final_round and following == state.start_seat",
        "state.final_round and seat == state.start_seat",
    ),
    Fault(
        "an extra turn needs more than three chips (K13)",
        "rules.py",
        "gained >= CHIPS_FOR_EXTRA_TURN and EXTRA_TURNS in state.specials:",
        "gained > CHIPS_FOR_EXTRA_TURN and EXTRA_TURNS in state.specials:",
    ),
    Fault(
        "a chip paid is lost (K6)",
        "rules.py",
        "    for skipped in range(paid):\n",
        "    for skipped in range(1, paid):\n",
    ),
    Fault(
        "the next game of a series begins with the same seat (K18)",
        "rules.py",
        "(state.start_seat + 1) % state.seats",
        "state.start_seat",
    ),
    Fault(
        "an extra turn is still marked in the turn after it (K20)",
        "rules.py",
        "        state.turn = following\n        state.extra_turn = False\n",
        "        state.turn = following\n",
    ),
    Fault(
        "special card 13 drops the highest row (K16)",
        "rules.py",
        "points -= min(rows)",
        "points -= max(rows)",
    ),
    Fault(
        "special card 15 makes chips count nothing (K16)",
        "rules.py",
        "return points - state.chips[seat] if CHIPS_COUNT_MINUS",
        "return points if CHIPS_COUNT_MINUS",
    ),
    Fault(
        "a 5 that goes up anyway may lie face down (K9)",
        "rules.py",
        "            if value > beat[row]:\n",
        "            if value > beat[row] and not may_lie_face_up(card, specials):\n",
    ),
    Fault(
        "face down is listed before face up (K5)",
        "rules.py",
        "                legal += takes[row]\n",
        "                legal += takes[row][::-1]\n",
    ),
    Fault(
        "copies share the layouts",
        "rules.py",
        "self.layouts[:],",
        "self.layouts,",
    ),
    Fault(
        "the start seat is drawn before the deck (K3)",
        "rules.py",
        "    first = _deal_game(options, chance)\n    start_seat = chance.below(seats)\n",
        "    start_seat = chance.below(seats)\n    first = _deal_game(options, chance)\n",
    ),
    Fault(
        "the view tells the next card of the pile (K20)",
        "wire.py",
        "            CARDS - state.drawn,\n",
        "            2 * (CARDS - state.drawn) + state.deck[state.drawn % CARDS] % 2,\n",
    ),
    Fault(
        "the number of seats is checked too late (K2)",
        "rules.py",
        "    check_seats(seats)\n    first =",
        "    first =",
    ),
)
