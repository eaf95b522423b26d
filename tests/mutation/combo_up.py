"""Faults of Combo Up that the tests must find without the golden records."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutation.fault import Fault

FAULTS: Sequence[Fault] = (
    Fault(
        "with a Joker only the strongest reading is played",
        "rules.py",
        "plays[strength] for strength in readings)",
        "plays[strength] for strength in readings[-1:])",
    ),
    Fault(
        "an equal combination outbids",
        "rules.py",
        "if play[_STRENGTH] > beaten]",
        "if play[_STRENGTH] >= beaten]",
    ),
    Fault(
        "an equal card alone outbids",
        "rules.py",
        "READINGS.get(cards, ()) if strength > beaten]",
        "READINGS.get(cards, ()) if strength >= beaten]",
    ),
    Fault(
        "what could be done with other cards is listed again",
        "rules.py",
        "if of_held is held and of_beaten",
        "if len(of_held) == len(held) and of_beaten",
    ),
    Fault(
        "runs rank above pairs",
        "rules.py",
        "SOLO, RUN2, PAIR, RUN3, TRIPS = KINDS = range(1, 6)",
        "KINDS = range(1, 6)\nSOLO, PAIR, RUN2, TRIPS, RUN3 = KINDS",
    ),
    Fault(
        "12 and 1 are neighbours",
        "rules.py",
        "if different == length and high - min(values) == length - 1:",
        "if different == length and high - min(values) in (length - 1, HIGHEST - 1):",
    ),
    Fault(
        "two Jokers alone are a pair",
        "rules.py",
        "if len(cards) > 1 and all(card == JOKER for card in cards):",
        "if len(cards) > 2 and all(card == JOKER for card in cards):",
    ),
    Fault(
        "a leader may take a reserve",
        "rules.py",
        "len(state.reserves[seat]) if state.turn else 0)",
        "len(state.reserves[seat]))",
    ),
    Fault(
        "special cards are listed before combinations",
        "rules.py",
        "    legal += specials\n",
        "    legal[:0] = specials\n",
    ),
    Fault(
        "Take Up begins with the leader of the round",
        "rules.py",
        "return state.participants[state.turn + 1 :] + state.participants[: state.turn]",
        "return state.participants[: state.turn] + state.participants[state.turn + 1 :]",
    ),
    Fault(
        "cards are handed on against the turn order",
        "rules.py",
        "ring[(place + 1) % len(ring)]",
        "ring[(place - 1) % len(ring)]",
    ),
    Fault(
        "a turn without cards takes a token",
        "rules.py",
        "        if not held[seat]:\n            events.append(PassedOver(seat))\n            continue\n",
        "",
    ),
    Fault(
        "one card too few is drawn",
        "rules.py",
        "    if state.left:\n        _draw(state, winner, state.left, events)",
        "    if state.left > 1:\n        _draw(state, winner, state.left, events)",
    ),
    Fault(
        "the lowest bidder with cards leads the next round",
        "rules.py",
        "(*reversed(bidders), *backwards)",
        "(*bidders, *backwards)",
    ),
    Fault(
        "the next round is led by whoever sits behind the winner",
        "rules.py",
        "backwards = [(winner - i) % state.seats for i in range(1, state.seats)]",
        "backwards = [(winner + i) % state.seats for i in range(1, state.seats)]",
    ),
    Fault(
        "the winner of the last round pays too",
        "rules.py",
        "tuple([seat for seat in participants if seat != winner]), ALL_OUT",
        "participants, ALL_OUT",
    ),
    Fault(
        "the last loser starts the next hand",
        "rules.py",
        "_begin_hand(state, losers[0], state.log)",
        "_begin_hand(state, losers[-1], state.log)",
    ),
    Fault(
        "3 Draw cards are counted on in the next round",
        "rules.py",
        "state.beaten = state.draws = state.turn = 0",
        "state.beaten = state.turn = 0",
    ),
    Fault(
        "cards set aside stay for the next hand",
        "rules.py",
        "    state.round = -1\n    state.aside = ()\n",
        "    state.round = -1\n",
    ),
    Fault(
        "the match ends one token early",
        "rules.py",
        "if min(state.tokens) == 0:",
        "if min(state.tokens) <= 1:",
    ),
    Fault(
        "the scoring variant ranks by tokens",
        "rules.py",
        "    if state.options.scoring:\n        return competition_ranks(state.points)\n",
        "",
    ),
    Fault(
        "points for holding cards and for none are exchanged",
        "rules.py",
        "0 if seat in losers else 1 if state.held[seat] else 3",
        "0 if seat in losers else 3 if state.held[seat] else 1",
    ),
    Fault(
        "a given deck of a later hand is skipped",
        "rules.py",
        "given[state.hand - 1] if state.hand <= len(given)",
        "given[state.hand] if state.hand < len(given)",
    ),
    Fault(
        "everybody learns which card was handed on",
        "rules.py",
        "    if isinstance(event, Gave):\n        return (event.giver, event.receiver)\n",
        "",
    ),
    Fault(
        "everybody sees what is drawn",
        "wire.py",
        "(held[seat], state.incoming[seat]) if seat is not None else ((), 0)",
        "(held[seat], max(state.incoming)) if seat is not None else ((), max(state.incoming))",
    ),
    Fault(
        "a spectator sees the hand of the first seat",
        "wire.py",
        "if seat is not None else ((), 0)",
        "if seat is not None else (held[0], 0)",
    ),
    Fault(
        "the log of a view holds what others drew and handed on",
        "wire.py",
        "if seats is None or seat in seats",
        "if seats is None or seat is not None",
    ),
    Fault(
        "the log of a view is not gone on with",
        "wire.py",
        "    if log.written != len(events):\n",
        "    if not log.written:\n",
    ),
    Fault(
        "a copy goes on with the log of its original",
        "wire.py",
        "_LOGS.get(id(events))",
        "next((log for log in _LOGS.values() if log.events[:2] == events[:2]), None)",
    ),
    Fault(
        "dealing anew changes the seat's own hand",
        "wire.py",
        "seen = [*begun.held[seat], *(card",
        "seen = [*(card",
    ),
    Fault(
        "dealing anew leaves everything as it is",
        "wire.py",
        "        if alike:\n            return tuple(new)\n",
        "        if alike:\n            return deck\n",
    ),
    Fault(
        "dealing anew does not look whether the hand goes the same way",
        "wire.py",
        "alike = all(_shown_by(other, move, seat) == was for move, was in zip(moves, shown, strict=True))",
        "alike = bool(all(_shown_by(other, move, seat) for move in moves) or shown)",
    ),
    Fault(
        "imagined hands forget what was taken openly",
        "wire.py",
        "            steps.append(_In(event.seat, event.card))",
        "            steps.append(_In(event.seat, 0))",
    ),
    Fault(
        "who is to move in an imagined state may be unable to",
        "wire.py",
        "return state.phase != IN_TURN or not state.turn or rules.can_act(state, state.acting[0])",
        "return True",
    ),
    Fault(
        "cards handed on unseen stay where they were known to be",
        "wire.py",
        "if not card and rng.random() * counts[giver] < len(known):",
        "if not card and counts[giver] <= len(known):",
    ),
)
