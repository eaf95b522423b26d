"""Faults of Kotki."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutation.fault import Fault

FAULTS: Sequence[Fault] = (
    Fault(
        "abilities are listed before swaps",
        "rules.py",
        "return _swaps(state, home) + _abilities(state, home)",
        "return _abilities(state, home) + _swaps(state, home)",
    ),
    Fault(
        "cards to be placed are listed in the order in which they came",
        "rules.py",
        "for card in sorted(set(cards))",
        "for card in dict.fromkeys(cards)",
    ),
    Fault(
        "a reshuffle begins from the wrong order",
        "rules.py",
        "order = list(cards)",
        "order = list(cards)[::-1]",
    ),
    Fault(
        "bait is reshuffled when the last card was taken, not when the next is needed",
        "rules.py",
        "    state.bait_taken += 1\n    return card",
        "    state.bait_taken += 1\n    if state.bait_taken == len(state.bait):\n"
        "        _reshuffle_bait(state, events)\n    return card",
    ),
    Fault(
        "one round too many",
        "rules.py",
        "state.round == state.options.max_rounds",
        "state.round > state.options.max_rounds",
    ),
    Fault(
        "more than the target is needed",
        "rules.py",
        "max(state.points) >= state.options.target",
        "max(state.points) > state.options.target",
    ),
    Fault(
        "the target of the options is ignored",
        "rules.py",
        "max(state.points) >= state.options.target",
        "max(state.points) >= TARGETS[0]",
    ),
    Fault(
        "a round ends with the last seat, whoever began",
        "rules.py",
        "if following == state.start_seat:",
        "if following == 0:",
    ),
    Fault(
        "seat 0 always begins",
        "rules.py",
        "turn=deal.start_seat,",
        "turn=0,",
    ),
    Fault(
        "swaps of the turn before still count",
        "rules.py",
        "    state.swapped = 0\n    state.phase = START",
        "    state.phase = START",
    ),
    Fault(
        "fields of the placing before still count",
        "rules.py",
        "    state.phase = PLACING\n    state.placed = 0\n",
        "    state.phase = PLACING\n    state.placed |= 1\n",
    ),
    Fault(
        "a padlock lasts for ever",
        "rules.py",
        "        state.locked &= ~(1 << home)\n",
        "",
    ),
    Fault(
        "a locked arrow card can pay",
        "rules.py",
        "    if locked:\n        fields[0] = 0\n",
        "",
    ),
    Fault(
        "a substitute can be used again and again",
        "rules.py",
        "state.unused[player] & ~subs | 1 << cat",
        "state.unused[player] | 1 << cat",
    ),
    Fault(
        "the dog that costs the collected cards is lost",
        "rules.py",
        "state.bait_discard += cards + _CARD[DOG]",
        "state.bait_discard += cards",
    ),
    Fault(
        "a card that is replaced is lost",
        "rules.py",
        "    if replaced != EMPTY:\n        state.bait_discard += _CARD[replaced]\n",
        "",
    ),
    Fault(
        "right is left",
        "rules.py",
        'step = -1 if CATS[by].ability == "shift_right" else 1',
        'step = 1 if CATS[by].ability == "shift_right" else -1',
    ),
    Fault(
        "two unlocked pillows are too few for a shift",
        "rules.py",
        "len(_unlocked(state)) < 2",
        "len(_unlocked(state)) < 3",
    ),
    Fault(
        "a copy shares the yard",
        "rules.py",
        "self.yard[:]",
        "self.yard",
    ),
    Fault(
        "the view tells which cat is on top of the stack",
        "wire.py",
        "top = POINTS[left[0]] if left else 0",
        "top = left[0] if left else 0",
    ),
    Fault(
        "the view tells the order of the bait stack",
        "wire.py",
        "left = bytes(sorted(stack))",
        "left = stack",
    ),
    Fault(
        "the view tells the order of the cat stack",
        "wire.py",
        "KotkiView.CAT_STACK_FIELD_NUMBER, bytes(sorted(left))",
        "KotkiView.CAT_STACK_FIELD_NUMBER, left",
    ),
    Fault(
        "an event tells the next card of the bait stack",
        "rules.py",
        "events.append(_TURN_ENDED[player])",
        "events.append(TurnEnded(state.bait[state.bait_taken % len(state.bait)]))",
    ),
    Fault(
        "imagined stacks ignore the points of the top cat",
        "wire.py",
        "        order.insert(0, order.pop(top))\n",
        "",
    ),
    Fault(
        "other deals forget what was seen of reshuffled bait",
        "wire.py",
        "(*(deal.bait, *state.bait_shuffled)[:-1], bait)",
        "(deal.bait if state.bait_shuffled else bait,)",
    ),
    Fault(
        "an imagined turn forgets with whom cards were swapped",
        "wire.py",
        "swapped=sum(1 << pillow for pillow in seen.swapped)",
        "swapped=0",
    ),
)
"""Each must be found by the tests without the golden records."""
