"""Combo Up in play: sizes, and what hidden information may and may not do."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games import find_game
from arena.games.combo_up import rules, wire
from arena.games.combo_up.rules import Gave, HandEnded, Options, Passed, State, Took
from tests.games.combo_up.positions import act, give, insert, legal, position, solo, special, take
from tests.games.table import Table, case, play_at_random, positions, random_moves

COMBO_UP = find_game("combo_up")
CLASSIC = {"edition": "krass_kariert"}


# sizes


@pytest.mark.parametrize(
    ("seats", "hand", "match"), [(3, 66, 462), (4, 84, 756), (5, 92, 1012)], ids=lambda value: str(value)
)
def test_bounds(seats: int, hand: int, match: int) -> None:
    assert rules.hand_bound(seats, Options()) == hand
    assert rules.decision_bound(seats, Options()) == match
    classic = Options(rules.KRASS_KARIERT)
    fewer_cards = seats * (rules.cards_dealt(seats, Options()) - rules.cards_dealt(seats, classic))
    assert rules.hand_bound(seats, classic) == hand - 4 * seats - fewer_cards


@settings(max_examples=30)
@given(
    seats=st.sampled_from(rules.SEATS),
    edition=st.sampled_from(rules.EDITIONS),
    seed=st.binary(min_size=32, max_size=32),
    choices=st.integers(0, 2**32),
)
def test_sizes_of_hands_and_matches(seats: int, edition: str, seed: bytes, choices: int) -> None:
    played = case("combo_up", seats, {"edition": edition})
    table, rng = Table(played, seed), Random(choices)
    decisions: Counter[int] = Counter()
    most_held = rules.cards_dealt(seats, played.options) + 7
    while table.to_move:
        decisions[table.state.hand] += len(table.to_move)
        assert max(map(len, table.state.held)) <= most_held
        table.play(random_moves(COMBO_UP, table.state, rng))
    bound = rules.hand_bound(seats, played.options)
    assert all(5 <= count <= bound for count in decisions.values())
    assert 15 <= decisions.total() <= rules.decision_bound(seats, played.options)
    assert 3 <= len(decisions) <= 2 * seats + 1
    assert sum(isinstance(event, HandEnded) for event in table.events) == len(decisions)


def test_the_largest_hand_is_reached() -> None:
    """Ten cards and both reserves, one of twelve laid, six drawn."""
    state = position("1 1 2 2 3 3 4 4 5 5 7 12", "D 9", "D 8", pile="6 6 6 6 7 7")
    solo(state, 12)
    special(state, 0)
    special(state, 0)
    while state.phase == rules.DRAWING:
        assert len(legal(state)) == len(state.held[0]) + 1
        insert(state, len(state.held[0]))
    assert len(state.held[0]) == rules.MOST_HELD == 17
    assert rules.Action(rules.PLAY, 1, 16, rules.strength_of(rules.SOLO, 7)) in legal(state)


# views put together from what is kept


@pytest.mark.parametrize("kept", [1, 512])
def test_a_log_that_went_on_is_the_same_as_one_written_from_nothing(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each seat looks only now and then, at the match and at copies that go another way."""
    monkeypatch.setattr(wire, "_LOGS_KEPT", kept)
    table, rng = Table(case("combo_up", 4, {}), bytes(32)), Random(8)
    while table.to_move:
        state, twin = table.state, table.state.copy()
        COMBO_UP.view(twin, 0)
        COMBO_UP.apply(twin, random_moves(COMBO_UP, twin, rng))
        table.play(random_moves(COMBO_UP, state, rng))
        for seat in rng.sample([None, 0, 1, 2, 3], 2):
            for shown in (state, twin):
                assert COMBO_UP.view(shown, seat) == COMBO_UP.view(shown.copy(), seat)


# redealing


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_redealing_changes_what_is_hidden_and_nothing_else(seats: int) -> None:
    table, rng, changed, asked = Table(case("combo_up", seats, {}), bytes(32)), Random(1), 0, 0
    for number in positions(table, Random(2)):
        if number % 10:
            continue
        for seat in range(seats):
            deal = COMBO_UP.redeal(table.deal, table.state, seat, rng)
            decks = [deal.deck, *deal.later]
            assert len(decks) == rules.most_hands(seats)
            own = rules.cards_dealt(seats, table.options)
            now = decks[table.state.hand]
            assert now[seat * own : (seat + 1) * own] == table.state.deck[seat * own : (seat + 1) * own]
            assert all(tuple(sorted(deck)) == rules.DECKS[rules.COMBO_UP] for deck in decks)
            changed += now != table.state.deck
            asked += 1
    assert changed > 0.9 * asked


def test_redealing_keeps_hands_that_ended_the_way_they_did() -> None:
    table, rng = play_at_random(case("combo_up", 3, {}), bytes(32), 3), Random(4)
    for seat in range(3):
        other = Table(table.case, table.seed, COMBO_UP.redeal(table.deal, table.state, seat, rng))
        for moves in table.moves:
            other.play(moves)
        assert [e for e in other.events if isinstance(e, HandEnded)] == [
            e for e in table.events if isinstance(e, HandEnded)
        ]
        assert other.deal != table.deal


# imagining


def imagined(state: State, seat: int | None, count: int = 30) -> list[State]:
    view, rng = COMBO_UP.view(state, seat), Random(5)
    return [COMBO_UP.imagine(view, (), rng) for _ in range(count)]


def from_the_start(*hands: str, reserves: dict[int, str], pile: str = "") -> State:
    """A position whose log tells the truth about how many cards there were."""
    state = position(*hands, reserves=reserves, pile=pile)
    (started, *rest) = state.log
    assert isinstance(started, rules.HandStarted)
    state.log = [started._replace(cards=len(state.held[0])), *rest]
    return state


def test_a_card_that_was_taken_openly_is_known_until_it_is_laid() -> None:
    state = from_the_start("5 5 1", "6 2 3", "9 9 4", reserves={1: "12", 2: "11"})
    solo(state, 5)
    take(state, 0, 1)
    assert all(12 in other.held[1] for other in imagined(state, 0))
    play_pair = rules.Action(rules.PLAY, 2, 0, rules.strength_of(rules.PAIR, 9))
    act(state, play_pair)
    solo(state, 4)
    solo(state, 5)
    solo(state, 12)
    # Now it has left: what seat 1 holds may be a 12 or not.
    holding = [12 in other.held[1] for other in imagined(state, 0, 200)]
    assert not all(holding)


def test_a_card_that_was_handed_on_is_known_to_its_giver() -> None:
    state = from_the_start("P 3 7", "5 1 8", "6 6 9", reserves={})
    special(state, 0)
    give(state, 0, 0, 0)
    for other in imagined(state, 0):
        assert other.incoming[:2] == (6, 3)
    insert(state, 0, 0, 0)
    assert all(3 in other.held[1] for other in imagined(state, 0))
    assert not all(3 in other.held[1] for other in imagined(state, 2))
    assert all(6 in other.held[0] for other in imagined(state, 2))
    assert not all(6 in other.held[0] for other in imagined(state, None))


def test_a_known_card_may_have_been_handed_on_unseen() -> None:
    """Seat 1 took a 12 openly; then all hand on a card, and seat 0 does not see what seat 1 gave to 2."""
    state = from_the_start("5 P 7", "6 2 3", "9 T 4", reserves={1: "12"})
    solo(state, 5)
    take(state, 0, 1)
    special(state, 1)
    special(state, 0)
    give(state, 0, 1, 0)
    insert(state, *(0 for _ in state.acting))
    places = Counter(
        tuple(seat for seat in (1, 2) if 12 in other.held[seat]) for other in imagined(state, 0, 300)
    )
    assert places[(1,)] > places[(2,)] > 0
    assert places[()] == 0


def test_who_is_to_move_can_move_in_every_imagined_state() -> None:
    """Only three 12s side by side let seat 1 play: hardly any hand drawn by lot has them."""
    state = from_the_start("11 11 11 1 2 3", "12 12 12 4 6 8", "9 8 4 2", reserves={}, pile="1 3 5 7 9 10")
    act(state, rules.Action(rules.PLAY, 3, 0, rules.strength_of(rules.TRIPS, 11)))
    others = imagined(state, 2)
    assert all(legal(other) for other in others)
    assert len({other.held[1] for other in others}) > 10
    assert len({other.held[0] for other in others}) > 10


@pytest.mark.parametrize("options", [{}, CLASSIC], ids=["combo_up", "krass_kariert"])
def test_imagined_hands_hold_what_cannot_have_left(options: dict[str, str]) -> None:
    """Along whole matches: what was openly taken or handed over, less what was laid or handed on since."""
    table = Table(case("combo_up", 4, options), bytes(range(32)))
    rng = Random(6)
    for number in positions(table, Random(7)):
        if number % 5:
            continue
        for seat in range(4):
            state = COMBO_UP.imagine(COMBO_UP.view(table.state, seat), (), rng)
            for other, certain in certainly_held(table.state, seat).items():
                assert not certain - Counter(state.held[other])


def certainly_held(state: State, seat: int) -> dict[int, Counter[int]]:
    """Cards that a seat knows others to hold; after a card was handed on unseen, nothing is certain."""
    certain: dict[int, Counter[int]] = {other: Counter() for other in range(state.seats) if other != seat}
    inserting = state.acting if state.phase == rules.RECEIVING else ()
    for event in state.log:
        if isinstance(event, Took) and event.seat != seat:
            certain[event.seat][event.card] += 1
        elif isinstance(event, Passed) and seat not in event:
            certain[event.giver].clear()
        elif isinstance(event, Gave) and event.giver == seat and event.receiver not in inserting:
            certain[event.receiver][event.card] += 1
        elif isinstance(event, Gave) and event.receiver == seat:
            certain[event.giver] -= Counter([event.card])
        elif isinstance(event, rules.Played | rules.SpecialPlayed) and event.seat != seat:
            certain[event.seat] -= Counter(rules.cards_of([event]))
    return certain
