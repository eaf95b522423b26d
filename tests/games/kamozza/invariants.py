"""What the rules of Kamozza never break. The finished rounds are counted up again, card by card."""

from __future__ import annotations

from itertools import combinations

from arena.games.kamozza import rules
from arena.games.kamozza.rules import Dock, Load, Past, Resolved, State

GOLD, RATS = 20, 1


def check_kamozza(state: State) -> None:
    """Cards, ships and points are conserved; rounds went by the rules; actions stand in canonical order."""
    _check_cards(state)
    _check_ships(state)
    _check_rounds(state)
    _check_who_plays(state)
    for seat in rules.to_move(state):
        _check_actions(state, seat)


def _check_cards(state: State) -> None:
    for hand, committed, loaded, lost in zip(
        state.hands, state.committed, state.loaded, state.lost, strict=True
    ):
        assert hand | loaded | lost == rules.ALL_CARDS
        assert rules.COUNT[hand] + rules.COUNT[loaded] + rules.COUNT[lost] == len(rules.VALUES)
        assert not committed & ~hand
    cargo = [card for past in state.past for resolved in past.resolved for card in resolved.cargo]
    for seat in range(state.seats):
        played = {card.card for card in cargo if card.seat == seat}
        assert len(played) == sum(card.seat == seat for card in cargo)
        assert played == set(rules.CARD_VALUES[state.loaded[seat] | state.lost[seat]])
        assert {card.card for card in cargo if card.seat == seat and card.fate == "loaded"} == set(
            rules.CARD_VALUES[state.loaded[seat]]
        )
        assert state.points[seat] == sum(card.points for card in cargo if card.seat == seat)
        # Only rats that ate gold score more than they are, and the gold is then somebody's loss.
        assert state.points[seat] - rules.WEIGHT[state.loaded[seat]] in (0, GOLD)
        if state.options.mode == "base":
            assert state.points[seat] == rules.WEIGHT[state.loaded[seat]]
    assert sum(state.points) <= 61 * state.seats


def _check_ships(state: State) -> None:
    decks = rules.unshuffled_decks(state.seats, state.options)
    for deck, unshuffled in zip(state.deal.decks, decks, strict=True):
        assert sorted(deck) == sorted(unshuffled)
    rounds = zip(*(deck for deck in state.deal.decks if deck), strict=False)
    arrived = [past.ships for past in state.past] + ([state.ships] if state.movers else [])
    assert arrived == [ships for ships, _ in zip(rounds, range(state.arrived), strict=False)]


def _check_rounds(state: State) -> None:
    boarded = [rules.NEVER] * state.seats
    for number, past in enumerate(state.past, 1):
        assert past.round == number
        assert past.start_seat == (state.deal.start_seat + number - 1) % state.seats
        assert len(past.claims) == state.seats
        assert state.options.table_talk or set(past.claims) == {rules.NOTHING_SAID}
        _check_order(past, rules.ports_of(state.seats, state.options))
        for resolved in past.resolved:
            assert resolved.ship == past.ships[resolved.port]
            check = _check_base if state.options.mode == "base" else _check_variant
            check(resolved)
            loaded = [card for card in resolved.cargo if card.fate == "loaded"]
            loaded.sort(key=lambda card: -card.points)
            for place, card in enumerate(loaded, 1):
                in_ship = 0 if state.options.mode == "base" else place
                boarded[card.seat] = (number, resolved.position, in_ship)
    assert state.stamps == boarded


def _check_order(past: Past, ports: int) -> None:
    numbers = [0] * ports
    for resolved in past.resolved:
        numbers[resolved.port] = len({card.seat for card in resolved.cargo})
        assert numbers[resolved.port] > 0
    order = sorted(range(ports), key=lambda port: (numbers[port], port))
    assert [(resolved.port, resolved.position) for resolved in past.resolved] == [
        (port, position) for position, port in enumerate(order, 1) if numbers[port]
    ]


def _check_base(resolved: Resolved) -> None:
    values = [card.card for card in resolved.cargo]
    eaten = GOLD if RATS in values else 0
    total = sum(value for value in values if value != eaten)
    assert resolved.weight == total
    for card in resolved.cargo:
        if card.card == eaten:
            assert (card.fate, card.points) == ("eaten", 0)
        elif total <= resolved.ship:
            assert (card.fate, card.points) == ("loaded", card.card)
        else:
            assert (card.fate, card.points) == ("sunk", 0)


def _check_variant(resolved: Resolved) -> None:
    values = [card.card for card in resolved.cargo]
    capacity = rules.CAT_SHIP_CAPACITY if resolved.ship == rules.CAT_SHIP else resolved.ship
    assert resolved.weight == sum(card.points for card in resolved.cargo) <= capacity
    for card in resolved.cargo:
        assert bool(card.points) == (card.fate == "loaded")
        if resolved.ship == rules.TYPHOON:
            assert card.fate == "blown away"
            continue
        assert (values.count(card.card) > 1) == (card.fate == "confiscated")
        if card.fate == "turned away":
            assert (card.card, resolved.ship) == (RATS, rules.CAT_SHIP)
        if card.fate == "eaten":
            assert card.card == GOLD
            assert values.count(RATS) == 1
        if card.fate == "loaded":
            fed = card.card == RATS and values.count(GOLD) == 1
            assert card.points == (rules.FED_RATS if fed else card.card)
        if card.fate == "left behind":
            fed = card.card == RATS and values.count(GOLD) == 1
            weight = rules.FED_RATS if fed else card.card
            heavier = sum(other.points for other in resolved.cargo if other.points > weight)
            assert heavier + weight > capacity


def _check_who_plays(state: State) -> None:
    for seat in range(state.seats):
        out = state.eliminated[seat]
        assert not out or (state.hands[seat] == 0 and out <= state.round)
        assert (seat in state.order) == (not out)
        if out and state.movers:
            assert state.committed[seat] == 0
    start = state.start_seat
    clockwise = [seat % state.seats for seat in range(start, start + state.seats)]
    assert list(state.order) == [seat for seat in clockwise if not state.eliminated[seat]]
    if not state.movers:
        assert len(state.past) == state.rounds or not state.order
        return
    assert len(state.past) == state.round - 1 < state.rounds
    committed = [seat for seat in state.order if state.committed[seat]]
    if not state.loading:
        assert committed == list(state.order)
        assert list(state.movers) == sorted(state.order)
    elif state.options.mode == "base":
        assert committed == list(state.order[: len(committed)])
        assert state.movers == (state.order[len(committed)],)
    else:
        assert committed == []
        assert list(state.movers) == sorted(state.order)


def _check_actions(state: State, seat: int) -> None:
    actions = rules.actions(state, seat)
    if not state.loading:
        assert actions == (Dock(rules.PORT_A), Dock(rules.PORT_B))
        return
    hand = rules.CARD_VALUES[state.hands[seat]]
    wanted: list[tuple[int, ...]] = [(value,) for value in hand]
    if state.options.mode == "base":
        wanted += combinations(hand, 2)
    assert [rules.CARD_VALUES[action.cards] for action in actions if isinstance(action, Load)] == wanted
    assert len(actions) == len(wanted)
    legal = {load for load in rules.ALL_LOADS if rules.is_legal(state, seat, load)}
    assert set(actions) == legal
