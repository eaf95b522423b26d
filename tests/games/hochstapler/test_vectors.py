"""Hochstapler by hand: every vector T1 to T17 and the rulings H-1 to H-21, from the printed rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games import find_game
from arena.games.chance import Chance
from arena.games.game import GameError, IllegalActionError, PlayersError, Ties
from arena.games.hochstapler import rules
from arena.games.hochstapler.rules import (
    COLOURS,
    NO_COLOUR,
    Action,
    AuctionStarted,
    Call,
    Called,
    Deal,
    Dealt,
    Doubted,
    Drew,
    Exchanged,
    GameEnded,
    MatchEnded,
    Options,
    Penalty,
    Revealed,
    Started,
    State,
)
from tests.games.hochstapler.positions import (
    SEED,
    UNSHUFFLED,
    call,
    doubt,
    exchange,
    game_of,
    legal,
    lose,
    only,
    pile,
    play,
    table,
    table_of,
)

HOCHSTAPLER = find_game("hochstapler")
EXAMPLE = {
    "diamond": (6, 2, 5, 0),
    "wine": (3, 2, 1, 4, 4),
    "yacht": (1, 5, 0, 2, 3),
    "ring": (5, 4, 3, 1),
}
"""The rulebook's example: Andrea, Bernd, Christoph and Dorle hold these cards, then comes the pile."""


def calls_of(state: State) -> list[Action]:
    return [action for action in legal(state) if action.kind == rules.CALL]


def exchanges_of(state: State) -> list[Action]:
    return [action for action in legal(state) if action.kind == rules.EXCHANGE]


def refused(state: State, action: Action) -> None:
    """An action is refused, and nothing changes."""
    before = state.copy()
    assert action not in legal(state)
    with pytest.raises(IllegalActionError, match="legal is"):
        play(state, action)
    assert state == before


def first_colour_game(state: State) -> list[rules.Event]:
    """Opener calls 1 of the first colour in play, the next seat doubts, until the game is over."""
    game, events = state.game, []
    while rules.to_move(state) and state.game == game:
        events += play(state, call(1, COLOURS[rules.MEMBERS[state.in_play][0]]), doubt)
    return events


# vectors


def test_t1_the_printed_example() -> None:
    state = table(4, EXAMPLE)
    play(state, call(10, "diamond"), call(11, "yacht"))
    assert play(state, exchange("wine")) == [Exchanged(2, 3, 1, 10), Drew(2, 3, 4)]
    assert state.discards[3] == ((2, 1),)
    assert state.cards(3) == (3, 2, 4, 4)
    assert rules.to_move(state) == (2,)
    refused(state, doubt)
    play(state, call(13, "diamond"))
    assert play(state, exchange("yacht")) == [Exchanged(3, 5, 2, 10), Drew(3, 5, 3)]
    play(state, call(14, "ring"))
    assert rules.to_move(state) == (0,)
    events = play(state, doubt)
    assert events == [Doubted(0), Revealed(6, (5, 4, 3, 1), 13), Penalty(3, 6), AuctionStarted(0)]
    assert state.points == (0, 0, 0, 1)
    assert state.in_play == 0b0111111
    assert rules.to_move(state) == (0,)
    assert (len(exchanges_of(state)), len(calls_of(state)), len(legal(state))) == (6, 6 * 23, 144)
    assert doubt not in legal(state)


def test_t2_the_colour_may_change() -> None:
    state = table(4)
    play(state, call(10, "diamond"))
    assert play(state, call(11, "yacht")) == [Called(1, 11, 5)]
    assert (state.total, state.colour) == (11, 5)


def test_t3_a_card_of_the_colour_about_to_be_called_may_be_exchanged() -> None:
    state = table(4, {"diamond": (6, 2, 5, 0, 7)})
    events = play(state, exchange("diamond"), call(10, "diamond"))
    assert events == [Exchanged(0, 4, 6, 10), Drew(0, 4, 7), Called(0, 10, 4)]
    assert state.discards[4] == ((0, 6),)
    assert state.cards(4) == (7, 2, 5, 0)


@pytest.mark.parametrize(("seats", "count"), [(3, 133), (4, 168), (5, 196), (6, 224), (7, 245)])
def test_t4_legal_actions_of_the_first_decision(seats: int, count: int) -> None:
    state = table(seats)
    assert len(legal(state)) == count == 7 * rules.HIGHEST_CALL[seats] + 7
    assert rules.HIGHEST_CALL[seats] == {3: 18, 4: 23, 5: 27, 6: 31, 7: 34}[seats]


def test_t5_legal_actions_once_there_is_a_call() -> None:
    state = table(4)
    play(state, call(10, "diamond"))
    assert (len(calls_of(state)), len(exchanges_of(state)), len(legal(state))) == (7 * 13, 7, 99)
    assert legal(state)[0] == doubt


@pytest.mark.parametrize(("total", "points"), [(8, (0, 1, 0)), (9, (0, 1, 0)), (10, (1, 0, 0))])
def test_t6_h14_a_call_that_is_met_exactly_was_right(total: int, points: tuple[int, ...]) -> None:
    state = table(3, {"ring": (2, 4, 3)})
    events = play(state, call(total, "ring"), doubt)
    assert only(events, Revealed) == [Revealed(6, (2, 4, 3), 9)]
    assert state.points == points


def test_t9_h4_a_call_must_be_higher_whatever_its_colour() -> None:
    state = table(4)
    play(state, call(11, "yacht"))
    for lower in (call(11, "ring"), call(11, "yacht"), call(10, "yacht"), call(10, "clock")):
        refused(state, lower)
    assert {call(12, "ring"), call(12, "yacht")} <= set(legal(state))


@pytest.mark.parametrize("seats", rules.SEATS)
def test_t10_h2_h3_nothing_but_a_doubt_follows_the_highest_call(seats: int) -> None:
    highest = rules.HIGHEST_CALL[seats]
    state = table(seats)
    refused(state, Action(rules.CALL, highest + 1, 0))
    play(state, call(highest, "clock"))
    assert legal(state) == [doubt]
    refused(state, exchange("house"))
    refused(state, Action(rules.CALL, highest + 1, 0))


def test_t10_h2_discards_do_not_lower_the_highest_call() -> None:
    state = table(3, {"clock": (7, 6, 5, 0)})
    play(state, exchange("clock"))
    assert call(18, "clock") in legal(state)


def test_t12_h1_h6_what_cannot_come_first() -> None:
    state = table(3)
    refused(state, doubt)
    refused(state, Action(rules.CALL, 0, 0))
    assert calls_of(state)[:7] == [call(1, name) for name in COLOURS]
    play(state, call(1, "clock"), doubt)
    refused(state, doubt)
    refused(state, Action(rules.CALL, 0, 1))


@pytest.mark.parametrize(
    ("seats", "points", "ranks"),
    [
        (3, (3, 2, 2), (3, 1, 1)),
        (4, (1, 2, 2, 2), (1, 2, 2, 2)),
        (5, (1, 2, 2, 1, 1), (1, 4, 4, 1, 1)),
        (6, (1, 2, 1, 1, 1, 1), (1, 6, 1, 1, 1, 1)),
        (7, (1, 1, 1, 1, 1, 1, 1), (1,) * 7),
    ],
)
def test_t13_a_whole_game_of_unshuffled_piles(
    seats: int, points: tuple[int, ...], ranks: tuple[int, ...]
) -> None:
    state = table(seats)
    events = first_colour_game(state)
    assert len(only(events, Called)) + len(only(events, Doubted)) == 14
    assert events[-2:] == [GameEnded(points, ranks), MatchEnded(points, ranks)]
    outcome = rules.outcome(state)
    assert (outcome.scores, outcome.ranks) == (points, ranks)


def test_t15_h20_a_match_ends_with_the_game_that_brings_somebody_to_ten() -> None:
    state = table_of(3, [UNSHUFFLED] * 4, start_seat=1, match=True)
    events = []
    for points, _ in (((3, 2, 2), 0), ((4, 1, 2), 1), ((3, 2, 2), 2)):
        losers = [seat for seat, times in enumerate(points) for _ in range(times)]
        for at, loser in enumerate(losers):
            assert rules.to_move(state), "over before the game's last auction"
            events += lose(state, loser)
            if at < 6:
                assert state.points == tuple(map(losers[: at + 1].count, range(3)))
    assert [event.points for event in only(events, GameEnded)] == [(3, 2, 2), (4, 1, 2), (3, 2, 2)]
    assert [event.start_seat for event in only(events, Started)] == [2, 0]
    assert [event.game for event in only(events, Started)] == [1, 2]
    assert events[-1] == MatchEnded((10, 5, 6), (3, 1, 2))
    assert rules.to_move(state) == ()
    assert rules.outcome(state).ranks == (3, 1, 2)
    assert rules.outcome(state).details[0] == "games 3, 4, 3"


def test_t17_a_drawn_card_is_for_the_seat_that_drew_it() -> None:
    """An exchange of a 0 for a 4: what others see, until the reveal."""
    state = table(3, {"house": (5, 0, 2, 4)})
    play(state, call(1, "clock"))
    events = play(state, exchange("house"))
    assert events == [Exchanged(1, 1, 0, 11), Drew(1, 1, 4)]
    assert [HOCHSTAPLER.audience(event) for event in events] == [None, (1,)]
    for viewer in (0, 2, None):
        house = HOCHSTAPLER.view(state, viewer).piles[1]
        assert [(card.seat, card.value) for card in house.discards] == [(1, 0)]
        assert not house.discards[0].HasField("drawn")
        assert house.face_down == 11
        assert house.HasField("card") == (viewer is not None)
        assert house.card == {0: 5, 2: 2, None: 0}[viewer]
    own = HOCHSTAPLER.view(state, 1).piles[1]
    assert (own.card, own.discards[0].drawn) == (4, 4)
    events = play(state, call(2, "house"), doubt)
    assert only(events, Revealed) == [Revealed(1, (5, 4, 2), 11)]
    assert list(HOCHSTAPLER.view(state, 0).piles[1].revealed) == [5, 4, 2]


# rulings


def test_h5_only_the_next_seat_may_doubt_the_latest_call() -> None:
    state = table(3, {"clock": (0, 0, 0), "house": (7, 6, 5)})
    play(state, call(2, "clock"))
    before = state.copy()
    for seat in (0, 2):
        with pytest.raises(IllegalActionError, match="to move is seat 1 alone"):
            rules.apply(state, {seat: doubt})
    assert state == before
    play(state, call(3, "house"))
    assert only(play(state, doubt), Penalty) == [Penalty(2, 1)]


def test_h7_the_opener_may_exchange_and_must_call() -> None:
    state = table(5)
    play(state, call(2, "clock"), doubt)
    assert len(exchanges_of(state)) == 6
    play(state, exchange("ring"))
    assert legal(state) == calls_of(state)
    assert len(legal(state)) == 6 * 27


def test_h8_one_exchange_a_turn() -> None:
    state = table(3)
    play(state, exchange("clock"))
    refused(state, exchange("clock"))
    refused(state, exchange("house"))
    play(state, call(1, "house"))
    assert len(exchanges_of(state)) == 7
    assert state.exchanged == NO_COLOUR


def test_h9_an_empty_pile_gives_no_card() -> None:
    state = table(7, {"car": (1, 1, 2, 2, 3, 3, 4)})
    for total in range(1, 9):
        play(state, exchange("car"), call(total, "clock"))
    assert state.drawn[2] == rules.CARDS
    assert len(state.discards[2]) == 8
    assert [action.colour for action in exchanges_of(state)] == [0, 1, 3, 4, 5, 6]
    refused(state, exchange("car"))
    assert call(9, "car") in legal(state)


def test_h10_a_colour_out_of_play_is_neither_called_nor_exchanged() -> None:
    state = table(3)
    play(state, exchange("wine"), call(2, "wine"), doubt)
    refused(state, call(5, "wine"))
    refused(state, exchange("wine"))
    assert {action.colour for action in legal(state)} == {0, 1, 2, 4, 5, 6}


def test_h11_a_card_of_the_called_colour_may_be_exchanged_and_the_new_one_counts() -> None:
    state = table(3, {"ring": (2, 4, 3, 7)})
    play(state, call(9, "ring"), exchange("ring"), call(10, "ring"))
    assert only(play(state, doubt), Revealed) == [Revealed(6, (2, 7, 3), 12)]
    assert state.points == (0, 0, 1)


def test_h12_the_drawn_card_is_seen_before_the_call() -> None:
    state = table(3, {"ring": (2, 4, 3, 7)})
    play(state, exchange("ring"))
    assert rules.to_move(state) == (0,)
    view = HOCHSTAPLER.view(state, 0)
    assert view.piles[6].card == 7
    assert view.exchanged == 7


def test_h13_no_doubt_after_an_exchange() -> None:
    state = table(3)
    play(state, call(5, "car"), exchange("car"))
    refused(state, doubt)


@pytest.mark.parametrize(("total", "loser"), [(5, 1), (6, 0)])
def test_h15_the_doubter_begins_whoever_lost(total: int, loser: int) -> None:
    state = table(3, {"house": (1, 2, 2)})
    events = play(state, call(total, "house"), doubt)
    assert events[3:] == [Penalty(loser, 1), AuctionStarted(1)]
    assert rules.to_move(state) == (1,)
    assert (state.starter, state.total, state.colour) == (1, 0, NO_COLOUR)


def test_h16_a_penalty_is_one_point_however_many_cards() -> None:
    state = table(3)
    play(state, exchange("clock"), call(1, "clock"), exchange("clock"), call(2, "clock"))
    play(state, call(3, "house"), doubt)
    play(state, call(1, "clock"), doubt)
    assert sum(state.points) == 2


def test_h17_the_rest_of_a_colour_is_never_shown() -> None:
    """Even when the match is over, whatever order it is in, everybody sees the same."""
    orders = [pile((1, 2, 3, 4, 5)), (1, 2, 3, *reversed(pile((1, 2, 3))[3:]))]
    shown = []
    for order in orders:
        state = table_of(3, [(order, *UNSHUFFLED[1:])])
        first_colour_game(state)
        shown.append([HOCHSTAPLER.view(state, seat) for seat in (None, 0, 1, 2)])
        assert [pile.face_down for pile in shown[-1][0].piles] == [0] * 7
    assert shown[0] == shown[1]


def test_h18_all_seats_reveal_at_once() -> None:
    state = table(6)
    play(state, call(3, "yacht"))
    events = play(state, doubt)
    assert [type(event) for event in events] == [Doubted, Revealed, Penalty, AuctionStarted]


def test_h19_the_start_seat_is_drawn_after_the_piles_and_moves_on() -> None:
    chance = Chance(SEED)
    piles = []
    for _ in COLOURS:
        cards = list(rules.VALUES)
        chance.shuffle(cards)
        piles.append(tuple(cards))
    start_seat = chance.below(5)
    drawn = Chance(SEED)
    deal = rules.deal(5, Options(True), drawn)
    assert deal == Deal(start_seat, (tuple(piles),))
    state, events = rules.start(5, Options(True), deal, drawn)
    while rules.to_move(state):
        events += first_colour_game(state)
    started = only(events, Started)
    assert [event.start_seat for event in started] == [(start_seat + at) % 5 for at in range(len(started))]
    assert [event.game for event in started] == list(range(len(started)))


def test_h21_a_hand_of_nothing_but_zeros_has_no_rule_of_its_own() -> None:
    state = table(3, dict.fromkeys(COLOURS, (0, 1, 2)))
    assert len(legal(state)) == 133


# setup, later games, the end


@pytest.mark.parametrize("seats", rules.SEATS)
def test_the_top_cards_go_to_the_seats_in_order(seats: int) -> None:
    deal = rules.deal(seats, Options(), Chance(SEED))
    state, events = rules.start(seats, Options(), deal, Chance(SEED))
    hands = [tuple(cards[seat] for cards in deal.games[0]) for seat in range(seats)]
    assert events == [
        Started(seats, 0, deal.start_seat, 15 - seats),
        *(Dealt(seat, hand) for seat, hand in enumerate(hands)),
        AuctionStarted(deal.start_seat),
    ]
    assert [HOCHSTAPLER.audience(event) for event in events] == [None, *((s,) for s in range(seats)), None]
    assert rules.to_move(state) == (deal.start_seat,)


def test_a_hand_is_in_the_view_of_its_seat_alone() -> None:
    state = table(3, EXAMPLE)
    for seat in range(3):
        view = HOCHSTAPLER.view(state, seat)
        assert [pile.card for pile in view.piles] == [state.cards(at)[seat] for at in range(7)]
        assert view.seat == seat
    public = HOCHSTAPLER.view(state, None)
    assert not public.HasField("seat")
    assert not any(pile.HasField("card") for pile in public.piles)


def test_later_games_are_drawn_from_the_stream_when_they_begin() -> None:
    chance = Chance(SEED)
    deal = rules.deal(3, Options(True), chance)
    state, events = rules.start(3, Options(True), deal, chance)
    used = chance.used
    while state.game == 0:
        events += play(state, call(18, COLOURS[rules.MEMBERS[state.in_play][0]]), doubt)
    assert chance.used == used
    piles = []
    for _ in COLOURS:
        cards = list(rules.VALUES)
        chance.shuffle(cards)
        piles.append(tuple(cards))
    assert state.piles == tuple(piles)
    assert state.chance.used == chance.used
    assert state.deal.games == (*deal.games, state.piles)


def test_given_later_games_consume_nothing() -> None:
    games = [game_of({"clock": (first, 0, 0)}) for first in range(2, 5)]
    state = table_of(4, games, match=True)
    used = state.chance.used
    for game in games:
        assert state.piles == game
        assert state.chance.used == used
        first_colour_game(state)
    assert state.chance.used > used
    assert (state.game, len(state.deal.games)) == (3, 4)
    assert state.deal.games[:3] == tuple(games)


def test_every_game_begins_anew() -> None:
    state = table_of(3, [UNSHUFFLED, game_of(EXAMPLE)], match=True)
    play(state, exchange("ring"))
    first_colour_game(state)
    fresh = table_of(3, [game_of(EXAMPLE)], start_seat=1, match=True)
    for name in ("piles", "drawn", "held", "discards", "taken_by", "in_play", "exchangeable", "start_seat"):
        assert getattr(state, name) == getattr(fresh, name), name
    for name in ("starter", "turn", "total", "colour", "exchanged", "calls", "auctions", "points"):
        assert getattr(state, name) == getattr(fresh, name), name
    assert state.totals != fresh.totals


def test_a_copy_draws_the_same_later_games_and_disturbs_nobody() -> None:
    state = table(3, match=True)
    before, twin = state.copy(), state.copy()
    first_colour_game(twin)
    assert state == before
    first_colour_game(state)
    assert state.piles == twin.piles
    assert state.game == twin.game == 1


def test_without_the_option_one_game_is_played() -> None:
    state = table(3)
    events = first_colour_game(state)
    assert only(events, Started) == []
    assert rules.to_move(state) == ()
    assert rules.outcome(state).details == (
        "took clock, wine, ring",
        "took house, diamond",
        "took car, yacht",
    )


def test_a_seat_that_took_nothing() -> None:
    state = table(7)
    play(state, *(action for name in COLOURS for action in (call(34, name), doubt)))
    assert "took nothing" not in rules.outcome(state).details
    state = table(3, dict.fromkeys(COLOURS, (0, 0, 0)))
    for _ in COLOURS:
        lose(state, 0)
    assert rules.outcome(state).details[1:] == ("took nothing", "took nothing")
    assert rules.outcome(state).ranks == (3, 1, 1)


def test_equal_points_are_equally_good() -> None:
    assert HOCHSTAPLER.ties is Ties.DRAW
    assert rules.ranks((2, 2, 3)) == (1, 1, 3)


@pytest.mark.parametrize(("largest", "over"), [(9, False), (10, True), (11, True)])
def test_a_match_ends_with_ten_points_or_more(largest: int, over: bool) -> None:
    state = table(3, match=True)
    state.totals = (largest - 3, 0, 0)
    first_colour_game(state)
    assert state.totals == (largest, 2, 2)
    assert state.over is over


@pytest.mark.parametrize("seats", [0, 2, 8])
def test_numbers_of_seats_that_cannot_be(seats: int) -> None:
    with pytest.raises(PlayersError, match=rf"3 to 7 players, not {seats} \(X2\)"):
        rules.deal(seats, Options(), Chance(SEED))
    with pytest.raises(PlayersError):
        rules.start(seats, Options(), Deal(0, (UNSHUFFLED,)), Chance(SEED))


@pytest.mark.parametrize(
    ("match", "deal"),
    [
        (False, Deal(3, (UNSHUFFLED,))),
        (False, Deal(-1, (UNSHUFFLED,))),
        (False, Deal(0, ())),
        (False, Deal(0, (UNSHUFFLED,) * 2)),
        (True, Deal(0, (UNSHUFFLED,) * 5)),
        (False, Deal(0, (UNSHUFFLED[1:],))),
        (False, Deal(0, ((rules.VALUES[1:], *UNSHUFFLED[1:]),))),
        (True, Deal(0, (UNSHUFFLED, ((7, *rules.VALUES[1:]), *UNSHUFFLED[1:])))),
    ],
)
def test_a_given_deal_must_fit(match: bool, deal: Deal) -> None:
    with pytest.raises(GameError, match="given"):
        rules.start(3, Options(match), deal, Chance(SEED))


@pytest.mark.parametrize(
    "action",
    [
        Action(rules.CALL, 5, -1),
        Action(rules.CALL, 5, 7),
        Action(rules.CALL, -1, 0),
        Action(rules.CALL, 4, 0),
        Action(rules.EXCHANGE, 0, -1),
        Action(rules.EXCHANGE, 0, 7),
        Action(rules.EXCHANGE, 5, 0),
        Action(rules.DOUBT, 0, 0),
        Action(rules.DOUBT, 5, -1),
        Action(3, 0, 0),
        Action(-1, 0, 0),
        (0, 0, -1),
        (2, 5, 0),
        None,
    ],
)
def test_what_is_not_legal_is_refused(action: Any) -> None:
    state = table(3)
    play(state, call(4, "clock"))
    before = state.copy()
    said = "to doubt; to exchange clock, .*, ring; to call 5 to 18 of clock, .*, ring"
    with pytest.raises(IllegalActionError, match=said):
        play(state, action)
    assert state == before


def test_what_is_legal_is_said_in_a_few_words() -> None:
    state = table(3)
    with pytest.raises(IllegalActionError, match=r"seat 0; legal is to exchange clock, .*; to call 1 to 18"):
        play(state, doubt)
    play(state, exchange("ring"))
    with pytest.raises(IllegalActionError, match="seat 0; legal is to call 1 to 18"):
        play(state, doubt)
    play(state, call(18, "ring"))
    with pytest.raises(IllegalActionError, match=r"seat 1; legal is to doubt \(X6\)"):
        play(state, exchange("ring"))


def test_nobody_moves_once_the_match_is_over() -> None:
    state = table(3)
    first_colour_game(state)
    with pytest.raises(IllegalActionError, match="nobody: the match is over"):
        rules.apply(state, {state.turn: doubt})


# the log that a view keeps


def test_a_view_keeps_calls_exchanges_and_reveals_of_the_game() -> None:
    state = table(4, EXAMPLE)
    play(state, call(10, "diamond"), exchange("wine"), call(13, "ring"), exchange("car"), call(14, "ring"))
    play(state, doubt, exchange("house"))
    assert state.auctions[0].calls[1:] == (Call(1, 13, 6, 3), Call(2, 14, 6, 2))
    view = HOCHSTAPLER.view(state, 0)
    first, second = view.auctions
    assert [(c.seat, c.total, c.colour) for c in first.calls] == [(0, 10, 5), (1, 13, 7), (2, 14, 7)]
    assert [c.exchanged for c in first.calls if c.HasField("exchanged")] == [4, 3]
    assert (first.starter, first.doubter, first.loser) == (0, 3, 2)
    assert (second.starter, len(second.calls), second.HasField("doubter")) == (3, 0, False)
    assert view.exchanged == 2
    assert not view.HasField("call")
    assert (list(view.piles[6].revealed), view.piles[6].taken_by) == ([5, 4, 3, 1], 2)
    assert (list(view.penalty_points), list(view.totals)) == ([0, 0, 1, 0], [0, 0, 1, 0])


def test_a_view_keeps_what_its_seat_drew_and_discarded() -> None:
    state = table(3, {"ring": (2, 4, 3, 7, 6, 5)})
    play(state, exchange("ring"), call(1, "ring"), exchange("ring"), call(2, "ring"), call(3, "clock"))
    play(state, exchange("ring"), call(4, "clock"))
    ring = HOCHSTAPLER.view(state, 0).piles[6]
    assert [(card.seat, card.value) for card in ring.discards] == [(0, 2), (1, 4), (0, 7)]
    assert [card.drawn for card in ring.discards if card.HasField("drawn")] == [7, 5]
    assert ring.card == 5


def test_a_view_keeps_earlier_games_of_the_match() -> None:
    state = table_of(3, [UNSHUFFLED] * 2, match=True)
    first_colour_game(state)
    view = HOCHSTAPLER.view(state, 2)
    assert [list(game.penalty_points) for game in view.games] == [[3, 2, 2]]
    assert (list(view.penalty_points), list(view.totals)) == ([0, 0, 0], [3, 2, 2])
    assert (view.start_seat, view.match, view.highest_call) == (1, True, 18)


# sizes


@pytest.mark.parametrize(
    ("seats", "game", "games"), [(3, 217, 4), (4, 245, 6), (5, 266, 7), (6, 287, 8), (7, 301, 10)]
)
def test_how_many_decisions_a_match_can_take(seats: int, game: int, games: int) -> None:
    assert rules.decision_bound(seats, Options()) == game
    assert rules.decision_bound(seats, Options(True)) == game * games
    assert rules.game_bound(seats, Options(True)) == games


@pytest.mark.parametrize("seats", rules.SEATS)
def test_the_bound_of_a_game_is_reached(seats: int) -> None:
    """Every total is called, before each call somebody exchanges while there is a card left to draw."""
    state, decisions = table(seats), 0
    while rules.to_move(state):
        members = rules.MEMBERS[state.in_play]
        last = state.in_play == 1 << members[0]
        spare = exchanges_of(state)
        # A pile that is not drawn empty when its colour goes is lost, so that colour's comes first.
        wanted = [action for action in spare if action.colour == members[0]] or spare * last
        if wanted and state.exchanged == NO_COLOUR:
            play(state, wanted[0])
        elif calls_of(state):
            play(state, calls_of(state)[0])
        else:
            play(state, doubt)
        decisions += 1
    assert decisions == rules.decision_bound(seats, Options())


@pytest.mark.parametrize("seats", rules.SEATS)
def test_the_longest_match_is_reached(seats: int) -> None:
    """Points are spread so evenly that nobody has 10 before the last game that there can be."""
    state = table(seats, match=True)
    games = 0
    while rules.to_move(state):
        game = state.game
        while rules.to_move(state) and state.game == game:
            points = [total + point for total, point in zip(state.totals, state.points, strict=True)]
            lose(state, points.index(min(points)))
        games += 1
    assert games == rules.game_bound(seats, Options(True))


@settings(max_examples=40)
@given(
    seats=st.sampled_from(rules.SEATS),
    seed=st.binary(min_size=32, max_size=32),
    choices=st.lists(st.integers(0, 2**16), min_size=1),
    match=st.booleans(),
)
def test_any_game_stays_within_its_bounds(seats: int, seed: bytes, choices: list[int], match: bool) -> None:
    """At least a call and a doubt for each colour, and the points of each game sum to seven."""
    chance = Chance(seed)
    options = Options(match)
    state, events = rules.start(seats, options, rules.deal(seats, options, chance), chance)
    decisions = 0
    while rules.to_move(state):
        actions = legal(state)
        assert len(actions) <= 7 * rules.HIGHEST_CALL[seats] + (1 if state.calls else 7)
        events += play(state, actions[choices[decisions % len(choices)] % len(actions)])
        decisions += 1
    games = [event.points for event in only(events, GameEnded)]
    assert 14 * len(games) <= decisions <= rules.decision_bound(seats, options)
    assert all(sum(points) == 7 for points in games)
    assert (2 if match else 1) <= len(games) <= rules.game_bound(seats, options)


def test_a_copy_shares_nothing_that_changes() -> None:
    state = table(4, EXAMPLE)
    play(state, call(10, "diamond"))
    before, twin = state.copy(), state.copy()
    assert twin == state
    play(twin, exchange("ring"), call(14, "ring"), doubt)
    assert state == before
    assert twin != state
