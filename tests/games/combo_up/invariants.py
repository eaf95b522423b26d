"""What the rules of Combo Up never break."""

from __future__ import annotations

from itertools import pairwise, permutations, product

from arena.games.combo_up import rules
from arena.games.combo_up.rules import (
    DRAWING,
    GIVING,
    IN_TURN,
    JOKER,
    OVER,
    RECEIVING,
    TAKING_UP,
    Action,
    Played,
    SpecialPlayed,
    State,
)


def check(state: State) -> None:
    """Cards and tokens are conserved, whoever is to move can be, and the actions are those of the rules."""
    _check_cards(state)
    _check_match(state)
    _check_round(state)
    for seat in rules.to_move(state):
        actions = rules.actions(state, seat)
        assert list(actions) == sorted(set(actions))
        assert set(actions) == legal(state, seat)
        assert len(actions) <= 200


def _check_cards(state: State) -> None:
    cards = [
        *(card for held in state.held for card in held),
        *(card for reserves in state.reserves for card in reserves),
        *filter(None, state.incoming),
        *rules.cards_of(state.table),
        *state.aside,
        *state.deck[state.drawn :],
    ]
    assert sorted(cards) == list(rules.DECKS[state.options.edition])
    assert sorted(state.deck) == sorted(cards)
    most = rules.cards_dealt(state.seats, state.options) + 7
    assert max(map(len, state.held)) <= most <= rules.MOST_HELD


def _check_match(state: State) -> None:
    seats = state.seats
    assert len(state.tokens) == len(state.points) == len(state.held) == len(state.reserves) == seats
    assert all(0 <= tokens <= 3 for tokens in state.tokens)
    lost = 3 * seats - sum(state.tokens)
    assert lost >= state.hand + (state.phase == OVER)
    assert state.hand < rules.most_hands(seats)
    assert (state.phase == OVER) == (min(state.tokens) == 0) == (not rules.to_move(state))
    hands = state.hand + (state.phase == OVER)
    if state.options.scoring:
        assert sum(state.points) <= 3 * (seats - 1) * hands
        assert max(state.points) <= 3 * hands
        assert sum(state.points) >= seats * hands - lost
    else:
        assert set(state.points) == {0}
    assert len(state.moves) <= rules.hand_bound(seats, state.options)


def _check_round(state: State) -> None:
    participants, acting = state.participants, rules.to_move(state)
    clockwise = [(seat - participants[0]) % state.seats for seat in participants]
    assert clockwise == sorted(set(clockwise))
    assert all(not state.held[seat] for seat in range(state.seats) if seat not in participants)
    assert set(acting) <= set(participants)
    bids = [laid.strength for laid in state.table if isinstance(laid, Played)]
    assert bids == sorted(set(bids))
    if state.phase != OVER:
        assert len(participants) > 1
        assert state.beaten == (bids[-1] if bids else 0)
        assert state.draws == sum(laid == SpecialPlayed(laid.seat, rules.THREE_DRAW) for laid in state.table)
    assert len({laid.seat for laid in state.table}) == len(state.table)
    waiting = {seat for seat, card in enumerate(state.incoming) if card}
    assert waiting == (set(acting) if state.phase in (RECEIVING, DRAWING) else set())
    if state.phase == IN_TURN:
        assert acting == (participants[state.turn],)
        assert state.held[acting[0]]
    if state.phase == TAKING_UP:
        assert state.reserves[acting[0]]
    if state.phase == GIVING:
        assert list(acting) == [seat for seat in sorted(participants) if state.held[seat]]


def legal(state: State, seat: int) -> set[Action]:
    """The legal actions, straight from the wording of the rules and as slowly as that takes."""
    held, places = state.held[seat], range(len(state.held[seat]) + 1)
    if state.phase == GIVING:
        return {Action(rules.GIVE, at=index) for index in range(len(held))}
    if state.phase in (RECEIVING, DRAWING):
        return {Action(rules.INSERT, position=place) for place in places}
    takes = {
        Action(rules.TAKE, reserve=reserve, position=place)
        for reserve in range(len(state.reserves[seat]))
        for place in places
    }
    if state.phase == TAKING_UP:
        return takes
    specials = {Action(rules.SPECIAL, at=index) for index, card in enumerate(held) if card > JOKER}
    plays = {
        Action(rules.PLAY, length, start, rules.strength_of(kind, high))
        for length in (1, 2, 3)
        for start in range(len(held) - length + 1)
        for kind, high in readings(held[start : start + length])
        if rules.strength_of(kind, high) > state.beaten
    }
    return plays | specials | (takes if seat != state.participants[0] else set())


def readings(cards: tuple[int, ...]) -> set[tuple[int, int]]:
    """All that neighbours in hand can count as: kind and highest value."""
    if max(cards) > JOKER or (len(cards) > 1 and min(cards) == JOKER):
        return set()
    found = set()
    for values in product(*(range(1, 13) if card == JOKER else (card,) for card in cards)):
        if len(values) == 1:
            found.add((rules.SOLO, values[0]))
        elif len(set(values)) == 1:
            found.add((rules.PAIR if len(values) == 2 else rules.TRIPS, values[0]))
        elif any(all(b == a + 1 for a, b in pairwise(run)) for run in permutations(values)):
            found.add((rules.RUN2 if len(values) == 2 else rules.RUN3, max(values)))
    return found
