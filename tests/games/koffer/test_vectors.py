"""Koffer by hand: every vector T1 to T23 and the rulings R-1 to R-24, worked out from the printed rules."""

from __future__ import annotations

from random import Random

import pytest

from arena.games import find_game
from arena.games.chance import Chance
from arena.games.game import (
    GameError,
    IllegalActionError,
    OptionError,
    PlayersError,
    SpecialUnknownError,
    SpecialUnprintedError,
    competition_ranks,
)
from arena.games.koffer import rules
from arena.games.koffer.rules import (
    Ended,
    FinalRound,
    NotRefilled,
    Options,
    Placed,
    Refilled,
    Started,
    State,
    Take,
    Taken,
)
from tests.games.koffer.positions import (
    CANONICAL,
    card,
    common_row,
    deal_of,
    laid,
    legal,
    legal_positions,
    play,
    position,
    row_text,
    take,
)

PRINTED_LAYOUT = {
    "red": "r1 r5 r7",
    "yellow": "y6 y10 [y3]",
    "black": "k4 k6 [k2] k5",
    "blue": "b4 b9",
}
"""The layout of the rulebook's scoring example, which has 3 chips."""


def total_of(layout: dict[str, str], chips: int, specials: tuple[int, ...] = ()) -> int:
    return rules.total(position("", specials=specials, layouts={0: layout}, chips=(chips, 0)), 0)


def always_first(seats: int, deck: tuple[int, ...], specials: tuple[int, ...] = ()) -> State:
    """A game in which everybody always takes the first card."""
    state, _ = rules.start(seats, Options(specials), deal_of(deck, specials))
    while rules.to_move(state):
        rules.apply(state, {state.turn: legal(state)[0]})
    return state


def takes_of(seats: int, upto: int) -> State:
    """The first moves of a game in canonical order in which everybody always takes the first card."""
    state, _ = rules.start(seats, Options(), deal_of(CANONICAL))
    for _ in range(upto):
        rules.apply(state, {state.turn: legal(state)[0]})
    return state


# vectors from the rulebook


def test_t1_taking_the_third_card() -> None:
    state = position("r10 k2 r1 y6 b4 k6 y10", pile="b9")
    events = play(state, 3, "red", "up")
    assert state.chips == [5, 7]
    assert row_text(state, 0, "red") == "r1"
    assert common_row(state) == "r10(1) k2(1) y6(0) b4(0) k6(0) y10(0) b9(0)"
    assert events == [Taken(0, 3, card("r1"), 2, 0), Placed(0, 1, True), Refilled(card("b9"))]
    assert list(map(type, events)) == [Taken, Placed, Refilled]
    assert rules.to_move(state) == (1,)


def test_t2_lower_goes_face_down_and_anything_goes_on_that() -> None:
    state = position("k2 r1 r2 r3 r4 k5 r6", layouts={0: {"black": "k4 k6"}})
    assert [action for action in legal(state) if action.position == 1] == [take(1, "black", "down")]
    play(state, 1)
    assert row_text(state, 0, "black") == "k4 k6 [k2]"
    play(state, 1)
    fives = [action for action in legal(state) if state.row[action.position - 1] == card("k5")]
    assert fives == [take(4, "black", "up")]
    play(state, 4)
    assert row_text(state, 0, "black") == "k4 k6 [k2] k5"


def test_t3_scoring() -> None:
    rows = {colour: rules.row_points(laid(row)) for colour, row in PRINTED_LAYOUT.items()}
    assert rows == {"red": 13, "yellow": 15, "black": 14, "blue": 13}
    assert total_of(PRINTED_LAYOUT, 3) == 58


@pytest.mark.parametrize(("where", "cost", "row_chips"), [(1, 0, []), (2, 1, [1]), (3, 2, [1, 1])])
def test_t4_skipping_costs(where: int, cost: int, row_chips: list[int]) -> None:
    state = position("r10 k2 r1 y6 b4 k6 y10")
    events = play(state, where)
    assert state.chips[0] == 7 - cost
    assert state.row_chips == row_chips + [0] * (7 - len(row_chips))
    assert events[0] == Taken(0, where, card(("r10", "k2", "r1")[where - 1]), cost, 0)


def test_t5_seven_on_seven() -> None:
    state = position("b7 k1 k2 k3 k4 k5 k6", specials=(3,), layouts={0: {"blue": "r7"}})
    assert [action for action in legal(state) if action.position == 1 and action.row == 2] == [
        take(1, "blue", "down")
    ]


# further vectors


def test_t6_without_chips_only_the_first_card() -> None:
    state = position("k1(2) r9 r8 r7 r6 r5 r3", chips=(0, 12))
    assert legal_positions(state) == [1]
    play(state, 1)
    assert state.chips[0] == 2


def test_t8_fours_are_free() -> None:
    state = position("k1 r9 b4(2) r8 y4 r7 r6", specials=(2,), chips=(0, 12))
    assert legal_positions(state) == [1, 3, 5]
    events = rules.apply(state, {0: take(3, "blue", "up")})
    assert state.chips[0] == 2
    assert common_row(state).startswith("k1(0) r9(0) r8(0)")
    assert events[0] == Taken(0, 3, card("b4"), 0, 2)


def test_t9_a_seven_goes_anywhere() -> None:
    layout = {"red": "r9", "blue": "b6", "yellow": "y7"}
    state = position("r7 k1 k2 k3 k4 k5 k6", specials=(3,), layouts={0: layout})
    assert [action for action in legal(state) if action.position == 1] == [
        take(1, "black", "up"),
        take(1, "red", "down"),
        take(1, "blue", "up"),
        take(1, "yellow", "down"),
    ]


@pytest.mark.parametrize(
    ("face", "then", "row", "points"),
    [("up", "r6", "r8 r5 r6", 19), ("down", "r2", "r8 [r5] r2", 9)],
)
def test_t10_a_five_may_lie_face_up(face: str, then: str, row: str, points: int) -> None:
    state = position(f"r5 k1 {then} k2 k3 k4 k6", specials=(6,), layouts={0: {"red": "r8"}})
    assert legal(state)[:2] == [take(1, "red", "up"), take(1, "red", "down")]
    play(state, 1, "red", face)
    play(state, 1)
    assert [action for action in legal(state) if action.position == 1] == [take(1, "red", "up")]
    play(state, 1)
    assert row_text(state, 0, "red") == row
    assert rules.row_points(state.layouts[0][1]) == points


def test_t10_a_five_that_goes_up_anyway() -> None:
    state = position("r5 k1 k2 k3 k4 k6 k7", specials=(6,), layouts={0: {"red": "r3"}})
    assert [action for action in legal(state) if action.position == 1] == [take(1, "red", "up")]


@pytest.mark.parametrize(
    ("specials", "points"),
    [
        pytest.param((13,), 45, id="T11"),
        pytest.param((13, 15), 39, id="T12"),
        pytest.param((15,), 52, id="T12-15-alone"),
    ],
)
def test_t11_t12_special_cards_of_the_end(specials: tuple[int, ...], points: int) -> None:
    assert total_of(PRINTED_LAYOUT, 3, specials) == points


@pytest.mark.parametrize(
    ("layout", "chips", "points"),
    [({"red": "r10 [r4]"}, 2, 2), ({"red": "r9", "blue": "b4"}, 0, 9)],
)
def test_t13_missing_colours_are_not_the_lowest(layout: dict[str, str], chips: int, points: int) -> None:
    assert total_of(layout, chips, (13,)) == points


def test_t15_the_end_with_two_seats() -> None:
    state = takes_of(2, 33)
    assert (rules.CARDS - state.drawn, len(state.row), state.final_round) == (0, 7, False)
    assert rules.to_move(state) == (1,)
    events = rules.apply(state, {1: legal(state)[0]})
    assert [type(event) for event in events] == [Taken, Placed, NotRefilled, FinalRound, Ended]
    assert rules.to_move(state) == ()
    assert len(state.row) == 6
    assert [sum(map(len, state.layouts[seat])) for seat in range(2)] == [17, 17]


@pytest.mark.parametrize(("seats", "last_taker", "turns"), [(3, 0, 12), (4, 1, 9)])
def test_t16_the_end_with_more_seats(seats: int, last_taker: int, turns: int) -> None:
    state = takes_of(seats, 33)
    assert rules.to_move(state) == (last_taker,)
    events = rules.apply(state, {last_taker: legal(state)[0]})
    assert str(events[-1]) == f"FinalRound(seat={last_taker})"
    for seat in (last_taker + 1, last_taker + 2):
        assert rules.to_move(state) == (seat,)
        later = rules.apply(state, {seat: legal(state)[0]})
        assert FinalRound not in map(type, later)
    assert rules.to_move(state) == ()
    assert [sum(map(len, state.layouts[seat])) for seat in range(seats)] == [turns] * seats
    assert len(state.row) == 4


def test_t19_a_shared_win() -> None:
    assert competition_ranks((41, 41, 30)) == (1, 1, 3)


@pytest.mark.parametrize(
    ("specials", "error", "named"),
    [
        ((1, 9, 13), SpecialUnprintedError, "special card 1, 9 "),
        ((16,), SpecialUnknownError, "special card 16"),
        ((2, 2, 3), OptionError, "2, 2, 3"),
    ],
)
def test_t20_special_cards_that_cannot_be(
    specials: tuple[int, ...], error: type[OptionError], named: str
) -> None:
    with pytest.raises(OptionError, match=named) as raised:
        Options(specials)
    assert type(raised.value) is error
    assert "2, 3, 4, 6, 13, 15" in str(raised.value)


@pytest.mark.parametrize("seats", [1, 5])
def test_t20_numbers_of_seats_that_cannot_be(seats: int) -> None:
    with pytest.raises(PlayersError, match=f"2 to 4 players, not {seats}"):
        rules.deal(seats, Options(), Chance(bytes(32)))
    with pytest.raises(PlayersError):
        rules.start(seats, Options(), deal_of(CANONICAL))


@pytest.mark.parametrize(
    ("seats", "totals", "ranks"),
    [
        (2, (86, 103), (2, 1)),
        (3, (67, 69, 71), (3, 2, 1)),
        (4, (50, 59, 48, 57), (3, 1, 4, 2)),
    ],
)
def test_t22_a_whole_game_in_canonical_order(
    seats: int, totals: tuple[int, ...], ranks: tuple[int, ...]
) -> None:
    state = always_first(seats, CANONICAL)
    assert rules.outcome(state).scores == totals
    assert rules.outcome(state).ranks == ranks
    assert state.chips == [7] * seats


@pytest.mark.parametrize(("seats", "totals"), [(2, (64, 54)), (3, (48, 47, 46)), (4, (44, 38, 41, 36))])
def test_t23_a_whole_game_in_descending_order(seats: int, totals: tuple[int, ...]) -> None:
    descending = tuple(colour * 10 + value for colour in range(4) for value in reversed(range(10)))
    assert rules.outcome(always_first(seats, descending)).scores == totals


# rulings


def test_r1_chips_on_the_wanted_card_do_not_help_to_pay() -> None:
    assert legal_positions(position("k1 k2 k3(5) k4 k5 k6 k7", chips=(1, 8))) == [1, 2]


def test_r2_paid_chips_stay_and_come_back_even_to_the_payer() -> None:
    state = position("k1 r2 b3 y4 k5 r6 b7")
    play(state, 3)
    play(state, 4)
    assert state.row_chips[:3] == [2, 2, 1]
    play(state, 1)
    assert state.chips == [7, 4]


def test_r3_a_supply_has_no_limit() -> None:
    state = position("k1(3) r2 b3 y4 k5 r6 b7", seats=2, chips=(9, 2))
    play(state, 1)
    assert state.chips == [12, 2]


def test_r4_drawing_the_last_card_does_not_begin_the_final_round() -> None:
    state = takes_of(4, 33)
    assert state.drawn == rules.CARDS
    assert not state.final_round
    rules.apply(state, {state.turn: legal(state)[0]})
    assert state.final_round


def test_r5_extra_turns_do_not_change_whose_regular_turn_is_next() -> None:
    state = position("k1(3) r2 b3 y4 k5", specials=(4,), seats=3, chips=(6, 6, 6), pile="")
    assert str(play(state, 1)[-1]) == "ExtraTurn(seat=0)"
    takers = []
    while rules.to_move(state):
        takers.append(state.turn)
        play(state, 1)
    assert takers == [0, 1, 2]
    assert len(state.row) == 1


def test_r6_an_empty_row_ends_the_game() -> None:
    state = position("k1(3) r2(3)", specials=(4,), seats=4, chips=(5, 5, 6, 6), pile="")
    play(state, 1)
    events = play(state, 1)
    assert [type(event) for event in events] == [Taken, Placed, NotRefilled, Ended]
    assert rules.to_move(state) == ()
    assert [sum(map(len, state.layouts[seat])) for seat in range(4)] == [2, 0, 0, 0]


def test_r7_the_take_that_begins_the_final_round_earns_its_extra_turn() -> None:
    state = position("k1(3) r2 b3 y4 k5 r6 b7", specials=(4,), chips=(5, 6), turn=1, pile="")
    state.final_round = False
    events = play(state, 1)
    assert list(map(str, events[2:])) == ["NotRefilled()", "FinalRound(seat=1)", "ExtraTurn(seat=1)"]
    assert (rules.to_move(state), state.extra_turn) == ((1,), True)
    assert type(play(state, 1)[-1]) is Ended


def test_r8_extra_turns_chain_and_then_the_next_seat_follows() -> None:
    state = position("k1(3) r2(4) b3 y4 k5 r6 b7", specials=(4,), seats=4, chips=(7, 7, 7, 0))
    for _ in range(2):
        assert str(play(state, 1)[-1]) == "ExtraTurn(seat=0)"
        assert (rules.to_move(state), state.extra_turn) == ((0,), True)
    play(state, 1)
    assert (rules.to_move(state), state.extra_turn) == ((1,), False)


@pytest.mark.parametrize(("chips", "extra"), [(2, False), (3, True), (4, True)])
def test_r9_chips_on_the_taken_card_count(chips: int, extra: bool) -> None:
    state = position(f"k1(2) r2({chips}) b3 y4 k5 r6 b7", specials=(4,), chips=(12 - chips, 0))
    events = play(state, 2)
    assert events[0] == Taken(0, 2, card("r2"), 1, chips)
    assert state.extra_turn is extra


def test_r9_without_special_card_4_nothing_is_earned() -> None:
    state = position("k1(7) r2 b3 y4 k5 r6 b7", chips=(7, 0))
    play(state, 1)
    assert rules.to_move(state) == (1,)


def test_r10_paying_for_a_free_four_is_not_offered() -> None:
    state = position("k1 r9 b4 r8 y3 r7 r6", specials=(2,))
    assert [action for action in legal(state) if action.position == 3] == [take(3, "blue", "up")]
    play(state, 3)
    assert (state.chips[0], state.row_chips) == (7, [0] * 7)


def test_r11_chips_on_a_free_four_are_gained_and_may_earn_a_turn() -> None:
    state = position("k1 r9 b4(3) r8 y3 r7 r6", specials=(2, 4), chips=(0, 11))
    events = play(state, 3)
    assert (state.chips[0], str(events[-1])) == (3, "ExtraTurn(seat=0)")


@pytest.mark.parametrize("value", [1, 3, 5, 10])
def test_r12_any_card_lies_face_up_on_a_face_down_card(value: int) -> None:
    state = position(f"k{value} r2 b3 y4 r5 r6 b7", layouts={0: {"black": "k4 k8 [k2]"}})
    assert legal(state)[0] == take(1, "black", "up")


def test_r13_there_is_one_way_to_place_a_card_in_the_basic_game() -> None:
    table = takes_of(4, 20)
    assert legal_positions(table) == [action.position for action in legal(table)]
    with pytest.raises(IllegalActionError):
        rules.apply(table, {table.turn: legal(table)[0]._replace(face_up=not legal(table)[0].face_up)})


def test_r14_equal_is_not_higher() -> None:
    assert not rules.goes_face_up(card("b7"), laid("r7"))


def test_r15_a_seven_opens_a_foreign_row_and_its_colour_keeps_its_own() -> None:
    state = position("r7 k1 k9 r2 k3 y5 b5", specials=(3,))
    play(state, 1, "black", "up")
    play(state, 1)
    play(state, 1)
    assert row_text(state, 0, "black") == "r7 k9"
    play(state, 2)
    play(state, 1)
    assert row_text(state, 0, "red") == "r2"


def test_r16_a_seven_may_be_put_where_it_lies_face_down_and_on_a_face_down_card() -> None:
    layout = {"red": "r9", "blue": "b8 [b2]"}
    state = position("r7 k1 k2 k3 k4 k5 k6", specials=(3,), layouts={0: layout})
    assert {take(1, "red", "down"), take(1, "blue", "up")} <= set(legal(state))


def test_r17_r18_a_lower_five_is_a_choice_and_counts_as_the_top_card() -> None:
    state = position("r5 k1 r4 r6 k2 k3 k4", specials=(6,), layouts={0: {"red": "r8"}})
    play(state, 1, "red", "up")
    assert not rules.goes_face_up(card("r4"), state.layouts[0][1])
    assert rules.goes_face_up(card("r6"), state.layouts[0][1])


def test_r19_r20_one_whole_row_is_dropped_whatever_ties() -> None:
    assert total_of({"red": "r9 [r1] [r2]", "blue": "b10", "black": "k7"}, 0, (13,)) == 17
    assert total_of({"red": "r9", "blue": "b9"}, 0, (13,)) == 9
    assert total_of({"red": "r9"}, 4, (13,)) == 4


def test_r21_the_lowest_a_colour_row_can_count() -> None:
    assert rules.row_points(laid("r2 [r1]")) == 1


def test_r22_chips_that_count_minus_leave_the_layout_alone() -> None:
    assert total_of({"red": "r2"}, 9, (15,)) == -7


def test_r23_the_start_seat_is_drawn_once_and_moves_on() -> None:
    options = Options(games=4)
    seed = bytes(31) + b"\x07"
    chance, deck = Chance(seed), list(range(rules.CARDS))
    chance.shuffle(deck)
    start_seat = chance.below(3)
    deal = rules.deal(3, options, Chance(seed))
    assert (deal.start_seat, deal.games[0].deck) == (start_seat, tuple(deck))
    state, events = rules.start(3, options, deal)
    rng = Random(1)
    while rules.to_move(state):
        events += rules.apply(state, {state.turn: rng.choice(legal(state))})
    started = [event for event in events if isinstance(event, Started)]
    assert [event.start_seat for event in started] == [(start_seat + game) % 3 for game in range(4)]
    assert [event.game for event in started] == [0, 1, 2, 3]


def test_r24_a_face_down_card_is_shown_to_all() -> None:
    state = position("r7 k1 k2 k3 k4 k5 k6", layouts={0: {"red": "r9 [r3]"}})
    view = find_game("koffer").view(state, 1)
    assert list(view.players[0].rows[0].values) == [9, 3]
    assert list(view.players[0].rows[0].face_up) == [True, False]


# series, deals, outcomes


def test_k3_random_special_cards_are_drawn_between_deck_and_start_seat() -> None:
    seed = bytes(range(32))
    chance = Chance(seed)

    def draw_game() -> tuple[tuple[int, ...], tuple[int, ...]]:
        deck, specials = list(range(rules.CARDS)), [2, 3, 4, 6, 13, 15]
        chance.shuffle(deck)
        chance.shuffle(specials)
        return tuple(deck), tuple(sorted(specials[:3]))

    first = draw_game()
    start_seat = chance.below(4)
    deal = rules.deal(4, Options("random", 2), Chance(seed))
    assert deal.start_seat == start_seat
    assert [tuple(game) for game in deal.games] == [first, draw_game()]


def test_k18_totals_of_a_series_are_added() -> None:
    options = Options((4, 13, 15), games=3)
    state, events = rules.start(4, options, rules.deal(4, options, Chance(bytes(32))))
    rng = Random(2)
    while rules.to_move(state):
        events += rules.apply(state, {state.turn: rng.choice(legal(state))})
    ended = [event for event in events if isinstance(event, Ended)]
    sums = tuple(map(sum, zip(*(event.totals for event in ended), strict=True)))
    outcome = rules.outcome(state)
    assert len(ended) == 3
    assert outcome.scores == sums
    assert outcome.ranks == competition_ranks(sums)
    assert outcome.details[1] == f"games {', '.join(str(event.totals[1]) for event in ended)}"


def test_k18_the_next_game_starts_in_the_event_list_of_the_last_turn() -> None:
    options = Options(games=2)
    state, _ = rules.start(2, options, rules.deal(2, options, Chance(bytes(32))))
    for _ in range(33):
        rules.apply(state, {state.turn: legal(state)[0]})
    events = rules.apply(state, {state.turn: legal(state)[0]})
    assert [type(event) for event in events[-2:]] == [Ended, Started]
    assert (state.game, state.final_round, state.chips) == (1, False, [7, 7])


def test_a_single_game_is_explained_by_its_rows() -> None:
    state = position("", specials=(13, 15), layouts={0: PRINTED_LAYOUT}, chips=(3, 0))
    state.over, state.series, state.finished = True, (39, 0), ((39, 0),)
    assert rules.outcome(state).details == (
        "black 14, red 13, blue 13, yellow 15, lowest row dropped, chips -3",
        "no cards, lowest row dropped, chips -0",
    )


@pytest.mark.parametrize(
    ("options", "deal"),
    [
        (Options(games=2), deal_of(CANONICAL)),
        (Options(), deal_of(CANONICAL, start_seat=2)),
        (Options(), deal_of(CANONICAL[1:])),
        (Options(), deal_of((0, *CANONICAL[:-1]))),
        (Options(), deal_of(CANONICAL, (4,))),
    ],
)
def test_a_given_deal_must_fit(options: Options, deal: rules.Deal) -> None:
    with pytest.raises(GameError, match="given"):
        rules.start(2, options, deal)


@pytest.mark.parametrize(
    "action",
    [
        Take(0, 0, True),
        Take(8, 0, True),
        Take(-1, 0, True),
        Take(1, 1, True),
        Take(1, 4, True),
        Take(1, -4, True),
        Take(1, 0, False),
        Take(4, 3, True),
        (1, 0, True),
        None,
    ],
)
def test_k5_what_is_not_legal_is_refused(action: Take) -> None:
    state = position("k1 r2 b3 y4 k5 r6 b7", chips=(2, 12))
    before = state.copy()
    with pytest.raises(IllegalActionError, match=r"legal are Take\(position=1"):
        rules.apply(state, {0: action})
    assert state == before


def test_k5_nobody_moves_once_the_match_is_over() -> None:
    state = always_first(2, CANONICAL)
    with pytest.raises(IllegalActionError, match="nobody: the match is over"):
        rules.apply(state, {0: Take(1, 0, True)})


@pytest.mark.parametrize(
    ("seats", "options", "bound"),
    [
        (2, Options(), 34),
        (3, Options(), 36),
        (4, Options(), 36),
        (4, Options((2, 3, 6)), 36),
        (4, Options((4,)), 40),
        (2, Options("random", 3), 120),
        (3, Options(games=3), 108),
    ],
)
def test_k12_k14_how_many_decisions_a_match_can_take(seats: int, options: Options, bound: int) -> None:
    assert rules.decision_bound(seats, options) == bound


def test_a_copy_shares_nothing_that_changes() -> None:
    state = takes_of(4, 10)
    twin = state.copy()
    assert twin == state
    play(twin, 3)
    assert takes_of(4, 10) == state
    assert twin != state
