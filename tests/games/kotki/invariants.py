"""What holds at every position of Kotki, told without the tables that the rules use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from arena.games.kotki import rules
from arena.games.kotki.components import CAT_IDS, CATS, DECK, DOG, EMPTY, SHOWS, Cat
from arena.games.kotki.rules import Action, State


def check_kotki(state: State) -> None:
    """Cards and cats are conserved, points add up, actions are those of the rules in canonical order."""
    _check_bait(state)
    _check_cats(state)
    assert 1 <= state.round <= state.options.max_rounds
    assert (state.phase == rules.DRAWN) == bool(state.drawn)
    if state.phase == rules.START:
        assert (state.collected, state.placed) == (b"", 0)
        # Whoever has the target now must have reached it in this round.
        assert state.over or state.turn != state.start_seat or not _target_reached(state)
    for seat in rules.to_move(state):
        actions = rules.actions(state, seat)
        assert list(actions) == list(listed(state))
        assert all(rules.is_legal(state, action) for action in actions)
        assert len(actions) <= 391


def _check_bait(state: State) -> None:
    stack = state.bait[state.bait_taken :]
    lying = [card for pillow in state.pillows for card in pillow if card != EMPTY]
    pending = [DOG] * (state.phase == rules.FACING_DOG)
    everywhere = [*stack, *state.bait_discard, *lying, *state.collected, *state.drawn, *pending]
    assert tuple(sorted(everywhere)) == DECK
    assert DOG not in (*lying, *state.collected, *state.drawn)
    assert len(state.pillows) == 4
    assert {len(pillow) for pillow in state.pillows} == {4}
    assert rules._non_dogs_to_take(state) == sum(card != DOG for card in (*stack, *state.bait_discard))


def _check_cats(state: State) -> None:
    stack = state.cats[state.cats_taken :]
    discard = [cat for cat in CAT_IDS if state.cat_discard >> cat & 1]
    yard = [cat for cat in state.yard if cat]
    captured = [cat for cats in state.captured for cat in cats]
    assert tuple(sorted([*stack, *discard, *yard, *captured])) == CAT_IDS
    assert state.points == [sum(CATS[cat].points for cat in cats) for cats in state.captured]
    assert all(
        unused & ~sum(1 << cat for cat in cats) == 0
        for cats, unused in zip(state.captured, state.unused, strict=True)
    )
    # While nobody has reached the target there are cats for every slot.
    assert len(state.yard) == 4
    assert len(yard) == 4 or not (stack or discard)
    assert len(yard) == 4 or _target_reached(state)


def _target_reached(state: State) -> bool:
    return max(state.points) >= state.options.target


def listed(state: State) -> Iterator[Action]:
    """The legal actions in canonical order, as the rules tell them and without any table."""
    phase = state.phase
    home = rules.HOMES[state.seats][state.turn]
    pillow = state.pillows[home]
    own = [cat for cat in sorted(state.captured[state.turn]) if state.unused[state.turn] >> cat & 1]
    if phase in (rules.START, rules.REVEALING):
        yield Action(rules.REVEAL)
    if phase == rules.REVEALING:
        yield Action(rules.STOP)
    if phase == rules.FACING_DOG:
        yield from (Action(rules.IGNORE_DOG, cat) for cat in own if CATS[cat].ability == "ignore_dog")
        yield Action(rules.ACCEPT_DOG)
    if phase in (rules.START, rules.LURING):
        yield from _lures(state, home, own)
    if phase in (rules.START, rules.REVEALING, rules.LURING, rules.AFTER):
        yield from _swaps(state, home)
        yield from _abilities(state, home, own)
    if phase == rules.PLACING:
        for card in range(DOG):
            for field in range(4):
                fits = field == 0 if pillow[0] == EMPTY else not state.placed >> field & 1
                if card in state.collected and fits:
                    yield Action(rules.PLACE, card, field)
        if pillow[0] != EMPTY:
            yield Action(rules.FINISH)
    if phase == rules.DRAWN:
        for card in range(DOG):
            for field in range(4):
                if card in state.drawn and pillow[field] == EMPTY:
                    yield Action(rules.PLACE_DRAWN, card, field)
    if phase in (rules.LURING, rules.AFTER):
        yield Action(rules.END_TURN)


def _lures(state: State, home: int, own: Sequence[int]) -> Iterator[Action]:
    for slot, cat in enumerate(state.yard):
        if not cat:
            continue
        cost = CATS[cat].cost
        sources = [
            (f"field {field}", field, SHOWS[card])
            for field, card in enumerate(state.pillows[home])
            if not (field == 0 and state.locked >> home & 1)
        ]
        sources += [("sub", sub, CATS[sub].shows) for sub in own if CATS[sub].ability == "substitute"]
        useful = [source for source in sources if source[2] & cost]
        for chosen in combinations(useful, cost.bit_count()):
            if assigned(cost, [shown for _, _, shown in chosen]):
                fields = sum(1 << number for what, number, _ in chosen if what != "sub")
                subs = sum(1 << number for what, number, _ in chosen if what == "sub")
                yield Action(rules.LURE, slot, fields, subs)


def assigned(cost: int, sources: Sequence[int]) -> bool:
    """Whether each source can take another symbol of the cost that it shows, and all are taken."""
    if not sources:
        return not cost
    return any(
        sources[0] >> symbol & 1 and cost >> symbol & 1 and assigned(cost & ~(1 << symbol), sources[1:])
        for symbol in range(5)
    )


def _swaps(state: State, home: int) -> Iterator[Action]:
    for other in range(4):
        if other == home or EMPTY in (state.pillows[home][0], state.pillows[other][0]):
            continue
        if not any(state.locked >> pillow & 1 for pillow in (home, other)) and not state.swapped >> other & 1:
            yield Action(rules.SWAP, other)


def _abilities(state: State, home: int, own: Sequence[int]) -> Iterator[Action]:
    def with_ability(*abilities: str) -> list[tuple[int, Cat]]:
        return [(cat, CATS[cat]) for ability in abilities for cat in own if CATS[cat].ability == ability]

    occupied = [slot for slot in range(4) if state.yard[slot]]
    for cat, face in with_ability("yard_1", "yard_2", "yard_all"):
        size = min({"yard_1": 1, "yard_2": 2, "yard_all": 4}[face.ability], len(occupied))
        for slots in combinations(occupied, size):
            if slots:
                yield Action(rules.CHANGE_YARD, cat, sum(1 << slot for slot in slots))
    others = [*state.bait[state.bait_taken :], *state.bait_discard]
    if EMPTY in state.pillows[home] and any(card != DOG for card in others):
        yield from (Action(rules.DRAW, cat) for cat, _ in with_ability("draw_1", "draw_2"))
    if state.locked.bit_count() <= 2:
        yield from (Action(rules.SHIFT, cat) for cat, _ in with_ability("shift_right", "shift_left"))
    if not state.locked >> home & 1:
        yield from (Action(rules.PADLOCK, cat) for cat, _ in with_ability("padlock"))
