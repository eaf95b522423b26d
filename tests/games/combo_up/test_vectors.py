"""Combo Up by hand: vectors CV-01 to CV-27 and rulings CR-01 to CR-39, worked out from the printed rules."""

from __future__ import annotations

from random import Random

import pytest

from arena.games import find_game
from arena.games.chance import Chance
from arena.games.combo_up import rules
from arena.games.combo_up.rules import (
    ALL_OUT,
    ALONE,
    DRAWING,
    GIVING,
    IN_TURN,
    KRASS_KARIERT,
    RECEIVING,
    SPECIAL,
    TAKE,
    TAKING_UP,
    UNABLE,
    Action,
    Deal,
    Drawn,
    Drew,
    Gave,
    HandEnded,
    HandStarted,
    MatchEnded,
    Options,
    Passed,
    PassedOver,
    Played,
    RoundEnded,
    RoundStarted,
    SpecialPlayed,
    Took,
    Unable,
    audience,
    strength_of,
)
from arena.games.game import GameError, IllegalActionError, Outcome, PlayersError
from tests.games.combo_up.invariants import check
from tests.games.combo_up.positions import (
    SEED,
    act,
    cards,
    ended,
    give,
    hand_text,
    hands_of,
    insert,
    legal,
    legal_plays,
    play,
    position,
    readings,
    solo,
    special,
    started,
    take,
    verbs,
)

SCORING = Options(scoring=True)
COMBO_UP = find_game("combo_up")


# vectors from the rulebook


def test_cv_01_a_twelve_a_pair_and_a_reserve() -> None:
    state = position("12 1 7", "9 5 5 2", "8 4 2 11", reserves={2: "3 10"})
    check(state)
    play(state, 0, 1, "solo", 12)
    assert legal_plays(state) == [(1, 2, "pair", 5)]
    play(state, 1, 2, "pair", 5)
    assert verbs(state) == {TAKE: 10}
    events = take(state, 0, 2)
    assert events == [
        Took(2, 3, False),
        RoundEnded(1, 0, (12, 5, 5)),
        RoundStarted(1, (1, 2, 0)),
    ]
    assert (hand_text(state.held[2]), hand_text(state.reserves[2])) == ("8 4 3 2 11", "10")
    assert rules.to_move(state) == (1,)
    check(state)
    play(state, 0, 1, "solo", 9)
    assert (1, 3, "run3", 4) in legal_plays(state)


def test_cv_02_and_cv_03_take_up_and_pass_on() -> None:
    state = position("3 2", "11 T 5", "9 P 4 1", reserves={0: "J", 1: "7", 2: "10"})
    play(state, 0, 2, "run2", 3)
    assert hands_of(state)[0] == ""
    assert special(state, 1) == [SpecialPlayed(1, rules.TAKE_UP)]
    assert (state.phase, rules.to_move(state)) == (TAKING_UP, (2,))
    take(state, 0, 4)
    assert (state.phase, rules.to_move(state)) == (TAKING_UP, (0,))
    assert take(state, 0, 0) == [Took(0, rules.JOKER, True)]
    assert hands_of(state) == ["J", "11 5", "9 P 4 1 10"]
    assert (state.phase, rules.to_move(state)) == (IN_TURN, (2,))
    assert legal(state) == (Action(SPECIAL, at=1),)
    check(state)
    # CV-03: the round goes on with Pass On
    special(state, 1)
    assert (state.phase, rules.to_move(state)) == (GIVING, (0, 1, 2))
    assert len(rules.actions(state, 0)) == 1
    assert give(state, 0, 1, 0) == [
        *(Passed(0, 1), Gave(0, 1, rules.JOKER)),
        *(Passed(1, 2), Gave(1, 2, 5)),
        *(Passed(2, 0), Gave(2, 0, 9)),
    ]
    assert (state.phase, rules.to_move(state)) == (RECEIVING, (0, 1, 2))
    check(state)
    events = insert(state, 0, 1, 1)
    assert hands_of(state) == ["9", "11 J", "4 5 1 10"]
    assert events[0] == RoundEnded(0, 0, (3, 2, rules.TAKE_UP, rules.PASS_ON))
    assert state.participants == (0, 1, 2)
    assert rules.to_move(state) == (0,)


@pytest.mark.parametrize(
    ("neighbours", "expected"),
    [
        # CV-04
        ("J 4", "run2/4 run2/5 pair/4"),
        ("4 J", "run2/4 run2/5 pair/4"),
        ("2 1", "run2/2"),
        ("7 5 6", "run3/7"),
        ("1 12", ""),
        ("3 5", ""),
        ("5 5 6", ""),
        # CV-05
        ("J 12", "run2/12 pair/12"),
        ("J 1", "run2/2 pair/1"),
        ("J J", ""),
        ("5 J J", "run3/5 run3/6 run3/7 trips/5"),
        ("1 J J", "run3/3 trips/1"),
        ("J 1 J", "run3/3 trips/1"),
        ("12 J J", "run3/12 trips/12"),
        ("4 J 6", "run3/6"),
        ("J 4 5", "run3/5 run3/6"),
        ("5 J 4", "run3/5 run3/6"),
        ("11 12 J", "run3/12"),
        ("1 2 J", "run3/3"),
        ("4 J 4", "trips/4"),
        ("4 J 7", ""),
        ("J", " ".join(f"solo/{value}" for value in range(1, 13))),
        # no combination holds a special card, CR-07
        ("S", ""),
        ("4 S", ""),
        ("4 D 4", ""),
        ("J P", ""),
        ("T 4 5", ""),
    ],
)
def test_cv_04_and_cv_05_what_cards_count_as(neighbours: str, expected: str) -> None:
    assert readings(neighbours) == expected.split()


def test_cv_04_the_default_is_the_strongest_reading() -> None:
    assert rules.READINGS[cards("J 4")][-1] == strength_of(rules.PAIR, 4)


# further vectors


def test_cv_06_ascending_strength() -> None:
    ascending = [
        *((rules.SOLO, 1), (rules.SOLO, 12)),
        *((rules.RUN2, 2), (rules.RUN2, 12)),
        *((rules.PAIR, 1), (rules.PAIR, 12)),
        *((rules.RUN3, 3), (rules.RUN3, 12)),
        *((rules.TRIPS, 1), (rules.TRIPS, 12)),
    ]
    strengths = [strength_of(*kind_and_high) for kind_and_high in ascending]
    assert strengths == sorted(set(strengths))
    assert min(strengths) > 0


def test_cv_07_a_joker_must_outbid_too() -> None:
    state = position("12 3", "J 6 S", "5 5")
    solo(state, 12)
    assert legal_plays(state) == [(0, 2, "run2", 6), (0, 2, "run2", 7), (0, 2, "pair", 6)]
    assert legal(state)[3:] == (Action(SPECIAL, at=2),)


def test_cv_08_a_special_card_saves_its_player_and_not_the_next() -> None:
    state = position("12 3", "4 7 D", "5 1", options=SCORING)
    solo(state, 12)
    assert legal(state) == (Action(SPECIAL, at=2),)
    events = special(state, 2)
    assert events[:3] == [
        SpecialPlayed(1, rules.THREE_DRAW),
        Unable(2),
        HandEnded((2,), UNABLE, (1, 1, 0), (3, 3, 2)),
    ]
    assert not [event for event in events if isinstance(event, Drawn | RoundEnded)]  # CR-26
    assert (started(events).hand, started(events).starter) == (1, 2)
    assert rules.to_move(state) == (2,)
    check(state)


def test_cv_09_a_leader_takes_no_reserve() -> None:
    state = position("4 9", "5 5", "6 6", reserves={0: "1 2", 1: "3 4"})
    assert verbs(state)[TAKE] == 0
    solo(state, 4)
    assert verbs(state)[TAKE] == 2 * 3


def test_cv_10_three_draw() -> None:
    state = position("6 2", "D 8", "9", reserves={2: "1 2"}, pile="4 S 9 7")
    solo(state, 6)
    special(state, 0)
    assert solo(state, 9) == [Played(2, (9,), strength_of(rules.SOLO, 9)), Drawn(2, 2), Drew(2, 4)]
    assert (state.phase, rules.to_move(state)) == (DRAWING, (2,))
    assert legal(state) == (Action(rules.INSERT, position=0),)
    insert(state, 0)
    assert insert(state, 1) == [Drawn(2, 0), Drew(2, 9)]
    check(state)
    events = insert(state, 1)
    assert events == [RoundEnded(2, 1, (6, rules.THREE_DRAW, 9)), RoundStarted(1, (2, 0, 1))]
    assert hands_of(state)[2] == "4 9 S"
    assert hand_text(state.deck[state.drawn :]) == "7"
    check(state)


def test_cv_13_a_led_stop_as_last_card() -> None:
    state = position("S", "4 5", "6 7")
    assert special(state, 0)[-1] == RoundStarted(1, (2, 1))


def test_cv_14_stop_as_last_card_after_a_combination() -> None:
    state = position("3 9", "S", "6 7")
    solo(state, 3)
    assert special(state, 0)[1:] == [RoundEnded(1, 0, (3, rules.STOP)), RoundStarted(1, (0, 2))]


def test_cv_15_stop_that_leaves_nobody_with_cards() -> None:
    state = position("3", "S", "", out=(2,), options=SCORING)
    solo(state, 3)
    events = special(state, 0)
    assert ended(events) == HandEnded((0,), ALL_OUT, (0, 3, 3), (2, 3, 3))
    assert started(events).starter == 0


@pytest.mark.parametrize(
    ("second", "reserves", "reason", "points"),
    [("8 8 1", {}, UNABLE, (3, 1, 0)), ("8 8", {2: "6"}, ALONE, (3, 3, 0))],
)
def test_cv_17_unable_and_alone(
    second: str, reserves: dict[int, str], reason: int, points: tuple[int, ...]
) -> None:
    state = position("7", second, "5 2 9", reserves=reserves, options=SCORING)
    solo(state, 7)
    events = play(state, 0, 2, "pair", 8)
    if reason == ALONE:
        events = take(state, 0, 0)
    assert ended(events) == HandEnded((2,), reason, points, (3, 3, 2))


def test_cv_18_the_leader_is_the_highest_bidder_who_has_cards() -> None:
    state = position("3 4", "5", "9", "1 2", reserves={3: "6"})
    for value in (3, 5, 9):
        solo(state, value)
    events = take(state, 0, 0)
    assert events[1:] == [RoundEnded(2, 0, (3, 5, 9)), RoundStarted(1, (0, 3))]


def test_cv_20_a_winner_without_cards_draws_and_stays() -> None:
    state = position("3", "D 1", "2", reserves={2: "5"}, pile="7 7 8")
    solo(state, 3)
    special(state, 0)
    take(state, 0, 0)
    assert (state.phase, rules.to_move(state)) == (DRAWING, (0,))
    insert(state, 0)
    insert(state, 1)
    assert insert(state, 2)[-1] == RoundStarted(1, (0, 1, 2))
    assert hands_of(state)[0] == "7 7 8"


def test_cv_23_playing_a_card_makes_new_neighbours() -> None:
    state = position("12 1 12 5", "2 3 2", "2 3", reserves={1: "9 9", 2: "8 8"})
    solo(state, 1)
    take(state, 0, 0)
    take(state, 0, 0)
    assert hands_of(state)[0] == "12 12 5"
    assert (0, 2, "pair", 12) in legal_plays(state)


@pytest.mark.parametrize(
    ("seats", "edition", "held", "pile"),
    [
        (3, rules.COMBO_UP, 10, 22),
        (4, rules.COMBO_UP, 10, 10),
        (5, rules.COMBO_UP, 8, 8),
        (3, KRASS_KARIERT, 10, 18),
        (4, KRASS_KARIERT, 10, 6),
        (5, KRASS_KARIERT, 7, 9),
    ],
)
def test_cv_25_deal_sizes(seats: int, edition: str, held: int, pile: int) -> None:
    options, chance = Options(edition), Chance(SEED)
    state, events = rules.start(seats, options, rules.deal(seats, options, chance), chance)
    assert [len(hand) for hand in state.held] == [held] * seats
    assert [len(reserves) for reserves in state.reserves] == [2] * seats
    assert len(state.deck) - state.drawn == started(events).pile == pile
    assert started(events).cards == held
    assert len(state.deck) == (58 if edition == rules.COMBO_UP else 54)
    assert pile >= 6  # CR-25: both 3 Draw can always be served


def test_cv_26_several_lose_their_last_token() -> None:
    state = position("7", "8", "9", tokens=(1, 1, 1))
    solo(state, 7)
    solo(state, 8)
    events = solo(state, 9)
    assert events[-2:] == [HandEnded((0, 1), ALL_OUT, (0, 0, 0), (0, 0, 1)), MatchEnded((2, 2, 1))]
    assert rules.to_move(state) == ()
    details = ("no tokens left", "no tokens left", "1 token left")
    assert rules.outcome(state) == Outcome((0, 0, 1), (2, 2, 1), details)
    check(state)


def test_cv_27_what_outbids_a_six() -> None:
    state = position("6", "6 7 6", "12 12")
    solo(state, 6)
    assert legal_plays(state) == [(1, 1, "solo", 7), (0, 2, "run2", 7), (1, 2, "run2", 7)]


# combinations


@pytest.mark.parametrize(
    ("led", "follower", "outbids"),
    [
        # CR-01: kinds first
        ((1, "solo", 12), "1 2", True),
        ((2, "run2", 12), "1 1", True),
        ((2, "pair", 12), "1 2 3", True),
        ((3, "run3", 12), "1 1 1", True),
        # CR-02: equal is not higher
        ((1, "solo", 12), "12", False),
        ((2, "run2", 12), "12 11", False),
        ((2, "pair", 12), "12 12", False),
        ((3, "run3", 12), "10 11 12", False),
        # CR-03: runs by their highest value
        ((2, "run2", 2), "2 3", True),
        ((2, "run2", 3), "2 1", False),
        # CR-04: neighbours only
        ((2, "pair", 12), "1 5 2 3", False),
        ((2, "pair", 12), "5 1 3 2", True),
    ],
)
def test_cr_01_to_cr_04_what_outbids(led: tuple[int, str, int], follower: str, outbids: bool) -> None:
    length, kind, high = led
    table = {"solo": "12", "pair": "12 12", "run2": f"{high} {high - 1}", "run3": "12 11 10"}[kind]
    state = position(f"{table} 1", follower, "9 9", reserves={1: "8"})
    play(state, 0, length, kind, high)
    assert bool(legal_plays(state)) == outbids


def test_cr_05_jokers_alone_are_no_pair() -> None:
    state = position("J J 5", "1 1", "2 2")
    assert (0, 2, "pair", 12) not in legal_plays(state)
    assert (0, 3, "trips", 5) in legal_plays(state)


def test_cr_06_a_joker_may_be_declared_low_and_as_a_fifth_card() -> None:
    state = position("J 4", "4 4 4", "2 2", reserves={1: "9"})
    assert legal_plays(state)[:12] == [(0, 1, "solo", value) for value in range(1, 13)]
    play(state, 0, 2, "run2", 4)
    play(state, 1, 2, "pair", 4)
    state = position("J", "4 4 4", "4 2", reserves={1: "9", 2: "9"})
    play(state, 0, 1, "solo", 4)
    assert state.beaten == strength_of(rules.SOLO, 4)


def test_cr_07_only_number_cards_and_jokers_make_combinations() -> None:
    state = position("4 S 4", "1 1", "2 2")
    assert legal_plays(state) == [(0, 1, "solo", 4), (2, 1, "solo", 4)]
    # A Joker is no special card: where it does not outbid, it saves nobody.
    state = position("5 5", "12 12", "J S 3")
    play(state, 0, 2, "pair", 5)
    play(state, 0, 2, "pair", 12)
    assert legal(state) == (Action(SPECIAL, at=1),)
    state = position("5 5", "12 12", "J", "9 9")
    play(state, 0, 2, "pair", 5)
    assert ended(play(state, 0, 2, "pair", 12)).losers == (2,)


# turns


def test_cr_08_a_leader_with_only_high_cards_must_play() -> None:
    state = position("12", "1 1", "2 2", reserves={0: "1 1"})
    assert verbs(state) == {rules.PLAY: 1}


def test_cr_09_where_only_special_cards_lie_anything_goes() -> None:
    state = position("D 5", "1 12", "2 2", reserves={1: "7"}, pile="1 2 3")
    special(state, 0)
    assert (0, 1, "solo", 1) in legal_plays(state)
    assert verbs(state)[TAKE] == 3


def test_cr_10_without_reserves_one_must_play_if_one_can() -> None:
    state = position("3 9", "5 1", "2 2", reserves={2: "9"})
    solo(state, 3)
    assert legal_plays(state) == [(0, 1, "solo", 5)]
    assert verbs(state)[TAKE] == 0


def test_cr_11_a_playable_special_card_must_be_played() -> None:
    state = position("12 9", "5 S", "2 2")
    solo(state, 12)
    assert legal(state) == (Action(SPECIAL, at=1),)


def test_cr_12_whoever_leads_stop_leads_again() -> None:
    state = position("4 S", "5 6", "7 8")
    assert special(state, 1) == [
        SpecialPlayed(0, rules.STOP),
        RoundEnded(0, 0, (rules.STOP,)),
        RoundStarted(1, (0, 1, 2)),
    ]


def test_cr_13_a_turn_without_cards_is_passed_over() -> None:
    state = position("P", "5", "7 3", "8 2", reserves={1: "4"})
    special(state, 0)  # its last card: seat 0 gives nothing, so seat 1 is given nothing
    assert rules.to_move(state) == (1, 2, 3)
    give(state, 0, 0, 0)
    assert rules.to_move(state) == (0, 2, 3)
    events = insert(state, 0, 0, 0)
    assert events == [PassedOver(1)]
    assert rules.to_move(state) == (2,)
    assert state.reserves[1] == (4,)
    assert state.tokens == (3, 3, 3, 3)
    solo(state, 3)
    events = solo(state, 7)
    assert RoundStarted(1, (3, 0, 2)) in events  # CR-30: seat 1 is out


def test_cr_14_nobody_is_out_before_the_round_ends() -> None:
    state = position("3", "T 9", "2 2", reserves={0: "8", 2: "5"})
    solo(state, 3)
    special(state, 0)
    assert 0 in state.participants
    take(state, 0, 0)
    take(state, 0, 0)
    play(state, 1, 2, "pair", 2)
    assert state.participants == (2, 0, 1)


def test_cr_15_special_cards_pass_by_those_who_are_out() -> None:
    state = position("T 3", "", "5 5", "6 6", out=(1,), reserves={1: "9 9", 2: "8", 3: "7"})
    special(state, 0)
    assert rules.to_move(state) == (2,)
    take(state, 0, 0)
    take(state, 0, 0)
    assert state.reserves[1] == (9, 9)
    state = position("P 3", "", "5 5", out=(1,))
    special(state, 0)
    assert [event for event in give(state, 0, 0) if isinstance(event, Passed)] == [Passed(0, 2), Passed(2, 0)]


def test_cr_16_take_up_goes_round_from_the_next_one_on() -> None:
    state = position("5 1", "6 2", "T 2", "7 3", "8 4", reserves={0: "1", 1: "2", 3: "3"}, leader=1)
    solo(state, 6)
    special(state, 0)
    order = []
    while state.phase == TAKING_UP:
        order.append(state.acting[0])
        take(state, 0, 0)
    assert order == [3, 0, 1]
    assert rules.to_move(state) == (3,)


def test_take_up_where_nobody_has_a_reserve_is_only_a_card() -> None:
    state = position("T 5", "6 1", "7 1", reserves={0: "3"})
    special(state, 0)
    assert (state.phase, rules.to_move(state)) == (IN_TURN, (1,))
    assert state.reserves[0] == (3,)


def test_cr_17_who_gives_and_who_receives() -> None:
    state = position("5", "P 6", "7 2", "8 2")
    solo(state, 5)
    special(state, 0)
    assert rules.to_move(state) == (1, 2, 3)
    events = give(state, 0, 0, 1)
    assert [event for event in events if isinstance(event, Passed)] == [
        Passed(1, 2),
        Passed(2, 3),
        Passed(3, 0),
    ]
    assert rules.to_move(state) == (0, 2, 3)  # the emptied seat 0 is given a card
    insert(state, 0, 1, 0)
    assert hands_of(state) == ["2", "", "2 6", "7 8"]


def test_cr_18_any_card_may_be_given() -> None:
    state = position("P J S 3", "D 1", "T 2")
    special(state, 0)
    assert len(rules.actions(state, 0)) == 3
    events = give(state, 1, 0, 0)
    assert [event.card for event in events if isinstance(event, Gave)] == [*cards("S D T")]


def test_cr_19_pass_on_as_last_card() -> None:
    state = position("P", "5 6", "7 8")
    special(state, 0)
    assert rules.to_move(state) == (1, 2)
    give(state, 0, 0)
    assert rules.to_move(state) == (0, 2)
    insert(state, 0, 0)
    assert hands_of(state) == ["7", "6", "5 8"]
    assert 0 in state.participants


def test_pass_on_where_nobody_has_a_card_is_only_a_card() -> None:
    state = position("5", "P", "", out=(2,))
    solo(state, 5)
    assert ended(special(state, 0)).losers == (1,)  # the highest bid was seat 0's: CR-29


def test_pass_on_is_simultaneous() -> None:
    state = position("P 3", "5 5", "6 6")
    special(state, 0)
    one = {0: Action(rules.GIVE, at=0)}
    with pytest.raises(
        IllegalActionError, match=r"moves were given for seats \[0\]; to move is seats \[0, 1, 2\]"
    ):
        rules.apply(state, one)
    assert hands_of(state) == ["3", "5 5", "6 6"]


# the end of a round


def test_cr_20_stop_wins_the_round_for_everything() -> None:
    state = position("9 1", "D 1", "S 1", "2 2", pile="7 7 7")
    solo(state, 9)
    special(state, 0)
    special(state, 0)
    assert (state.phase, rules.to_move(state)) == (DRAWING, (2,))
    for _ in range(2):
        insert(state, 0)
    events = insert(state, 0)
    assert events[0] == RoundEnded(2, 1, (9, rules.THREE_DRAW, rules.STOP))
    assert state.participants == (2, 3, 0, 1)


def test_cr_21_stop_as_last_card_with_draws_pending() -> None:
    state = position("9 1", "D 1", "S", pile="7 8 9")
    solo(state, 9)
    special(state, 0)
    special(state, 0)
    for _ in range(3):
        insert(state, 0)
    assert state.participants == (2, 0, 1)
    assert hands_of(state)[2] == "9 8 7"


def test_cr_22_both_three_draws_make_six() -> None:
    state = position("9 1", "D 1", "D 2", "S 3", pile="1 2 3 4 5 6 7")
    solo(state, 9)
    special(state, 0)
    special(state, 0)
    special(state, 0)
    left = []
    while state.phase == DRAWING:
        left.append(state.left)
        insert(state, 0)
    assert left == [5, 4, 3, 2, 1, 0]
    assert hands_of(state)[3] == "6 5 4 3 2 1 3"


def test_cr_23_who_led_three_draw_draws_only_if_nobody_bid() -> None:
    """Here somebody did: that one draws, though its hand is empty, and leads. Else: CR-24."""
    state = position("D 1", "T 5", "2 3", reserves={0: "9", 2: "4"}, pile="1 2 3")
    special(state, 0)
    special(state, 0)
    take(state, 0, 2)
    take(state, 0, 0)
    play(state, 0, 3, "run3", 4)
    assert (state.phase, rules.to_move(state)) == (DRAWING, (2,))
    for _ in range(3):
        insert(state, 0)
    assert (hands_of(state)[2], state.participants) == ("3 2 1", (2, 0, 1))


def test_cr_24_only_special_cards_the_leader_draws_and_leads() -> None:
    state = position("T 1", "D 5", "2 2", reserves={2: "8 9"}, pile="1 2 3")
    special(state, 0)
    take(state, 0, 0)
    special(state, 0)
    take(state, 0, 0)
    assert (state.phase, rules.to_move(state)) == (DRAWING, (0,))
    for _ in range(2):
        insert(state, 0)
    assert insert(state, 0) == [
        RoundEnded(0, 1, (rules.TAKE_UP, rules.THREE_DRAW)),
        RoundStarted(1, (0, 1, 2)),
    ]


def test_cr_27_the_highest_bidder_with_cards_leads() -> None:
    state = position("3 1", "5 1", "9", "1 2", reserves={3: "6"})
    for value in (3, 5, 9):
        solo(state, value)
    assert take(state, 0, 0)[1:] == [RoundEnded(2, 0, (3, 5, 9)), RoundStarted(1, (1, 3, 0))]


def test_cr_27_when_no_bidder_has_cards_the_nearest_before_the_winner_leads() -> None:
    state = position("1 2", "5", "9", "1 2", "3 3", leader=1, reserves={0: "6", 3: "6", 4: "7"})
    solo(state, 5)
    solo(state, 9)
    for _ in range(3):
        take(state, 0, 0)
    # The winner 2 and the bidder 1 are out; before them sits 0.
    assert state.participants == (0, 3, 4)


# the end of a hand


def test_cr_28_the_last_one_with_cards_still_has_a_turn() -> None:
    state = position("7", "8", "9 9")
    solo(state, 7)
    assert [type(event) for event in solo(state, 8)] == [Played]
    assert rules.to_move(state) == (2,)
    # It wins the round with its last cards, so the others pay.
    assert ended(play(state, 0, 2, "pair", 9)).losers == (0, 1)


def test_cr_29_who_left_in_earlier_rounds_never_pays() -> None:
    state = position("7", "", "9", "8", out=(1,), leader=0, reserves={1: "5"}, options=SCORING)
    solo(state, 7)
    events = solo(state, 9)
    assert ended(events) == HandEnded((3,), UNABLE, (3, 3, 3, 0), (3, 3, 3, 2))
    state = position("7", "", "8", "9", out=(1,), leader=0, options=SCORING)
    solo(state, 7)
    solo(state, 8)
    assert ended(solo(state, 9)) == HandEnded((0, 2), ALL_OUT, (0, 3, 0, 3), (2, 3, 2, 3))


def test_cr_31_the_first_loser_in_turn_order_starts() -> None:
    state = position("8", "9", "7", leader=2)
    solo(state, 7)
    solo(state, 8)
    events = solo(state, 9)
    assert ended(events).losers == (2, 0)
    assert started(events).starter == 2


def test_cr_32_those_who_keep_a_token_win() -> None:
    state = position("7", "8", "9", tokens=(1, 2, 3))
    solo(state, 7)
    solo(state, 8)
    assert solo(state, 9)[-1] == MatchEnded((3, 1, 1))
    assert state.tokens == (0, 1, 3)


def test_cr_33_reserves_of_those_who_are_out_do_not_matter() -> None:
    state = position("7", "9 9 3", "1 2", reserves={0: "5 6", 2: "4"})
    solo(state, 7)
    play(state, 0, 2, "pair", 9)
    take(state, 0, 0)
    assert state.participants == (1, 2)
    assert state.reserves[0] == (5, 6)


def test_cr_34_take_up_as_the_last_card_of_all_brings_others_back() -> None:
    state = position("7", "8", "T", reserves={0: "5", 1: "6"})
    solo(state, 7)
    solo(state, 8)
    special(state, 0)
    take(state, 0, 0)
    events = take(state, 0, 0)
    assert events[-1] == RoundStarted(1, (1, 0))
    assert hands_of(state) == ["5", "6", ""]


def test_cr_35_equal_cards_are_listed_each_by_itself() -> None:
    state = position("4", "4 4 S S", "9 9", reserves={1: "6 6"})
    solo(state, 4)
    assert verbs(state) == {rules.PLAY: 1, SPECIAL: 2, TAKE: 10}


def test_cr_36_points_when_somebody_is_unable() -> None:
    # Seat 0 plays its last card in this very round, and is not out yet: three points.
    state = position("12", "9 3", "5 1", options=SCORING, leader=2)
    solo(state, 5)
    assert ended(solo(state, 12)) == HandEnded((1,), UNABLE, (3, 0, 1), (3, 2, 3))


def test_cr_37_what_was_set_aside_is_public() -> None:
    state = position("4 S", "5 6", "7 8")
    state.aside = ()
    solo(state, 4)
    solo(state, 5)
    solo(state, 7)
    for seat in (None, 0, 1, 2):
        view = COMBO_UP.view(state, seat)
        assert list(view.aside) == [4, 5, 7]
        assert [tuple(e.played.cards) for e in view.log if e.HasField("played")] == [(4,), (5,), (7,)]


def test_cr_38_where_cards_came_from_is_told_to_nobody_else() -> None:
    """Two hands that differ only in order, and two insertions: the others are shown the same bytes."""
    shown = []
    for hand, start, place in (("6 9 7 2", 0, 0), ("9 7 2 6", 3, 3)):
        state = position("5 1", hand, "8 8 3", reserves={0: "10", 1: "4"})
        state.aside = ()
        events = [*solo(state, 5), *play(state, start, 1, "solo", 6), *play(state, 0, 2, "pair", 8)]
        events += solo(state, 3) + take(state, 0, 0) + take(state, 0, place)
        shown.append(
            (
                [COMBO_UP.event_bytes(event) for event in events],
                [COMBO_UP.view(state, seat) for seat in (None, 0, 2)],
            )
        )
    assert shown[0] == shown[1]


def test_cr_39_reserves_are_dealt_after_the_hands() -> None:
    deck = rules.DECKS[rules.COMBO_UP]
    state, events = rules.start(3, Options(), Deal(1, deck), Chance(SEED))
    assert state.held == [deck[:10], deck[10:20], deck[20:30]]
    assert state.reserves == [deck[30:32], deck[32:34], deck[34:36]]
    assert state.deck[state.drawn :] == deck[36:]
    assert events == [
        HandStarted(0, 1, 10, (deck[30:32], deck[32:34], deck[34:36]), 22),
        RoundStarted(0, (1, 2, 0)),
    ]


# chance


def test_what_is_drawn_and_when() -> None:
    by_hand, chance = Chance(SEED), Chance(SEED)
    start_seat, deck, second = (
        by_hand.below(3),
        list(rules.DECKS[rules.COMBO_UP]),
        list(rules.DECKS[rules.COMBO_UP]),
    )
    by_hand.shuffle(deck)
    by_hand.shuffle(second)
    deal = rules.deal(3, Options(), chance)
    assert deal == Deal(start_seat, tuple(deck))
    state, _ = rules.start(3, Options(), deal, chance)
    rng = Random(1)
    while state.hand == 0:
        act_at_random(state, rng)
    assert state.deck == tuple(second)
    assert state.chance.used == by_hand.used


def act_at_random(state: rules.State, rng: Random) -> None:
    rules.apply(state, {seat: rng.choice(rules.actions(state, seat)) for seat in rules.to_move(state)})


def test_given_decks_of_later_hands_take_nothing_from_the_chance() -> None:
    deck = rules.DECKS[rules.COMBO_UP]
    state, _ = rules.start(3, Options(), Deal(0, deck, (deck[::-1],)), Chance(SEED))
    rng = Random(1)
    while state.hand == 0:
        act_at_random(state, rng)
    assert state.deck == deck[::-1]
    assert state.chance.used == 0
    while state.hand == 1:
        act_at_random(state, rng)
    assert state.chance.used > 0


def test_nothing_but_tokens_points_and_the_starter_passes_to_the_next_hand() -> None:
    state = position("12 3", "4 D", "5 1", reserves={0: "9"}, options=SCORING)
    solo(state, 12)
    special(state, 1)
    assert state.points == (1, 1, 0)
    assert [len(hand) for hand in state.held] == [10, 10, 10]
    assert [len(reserves) for reserves in state.reserves] == [2, 2, 2]
    assert (state.aside, state.table, state.beaten, state.draws, state.round) == ((), (), 0, 0, 0)
    assert state.participants == (2, 0, 1)
    assert [type(event) for event in state.log] == [HandStarted, RoundStarted]
    check(state)


@pytest.mark.parametrize(
    ("deal", "said"),
    [
        (Deal(3, rules.DECKS[rules.COMBO_UP]), "begun by seat 3"),
        (Deal(0, rules.DECKS[KRASS_KARIERT]), "not that of the edition combo_up"),
        (Deal(0, rules.DECKS[rules.COMBO_UP], (rules.DECKS[rules.COMBO_UP][1:],)), "not that of the edition"),
    ],
)
def test_deals_that_do_not_fit(deal: Deal, said: str) -> None:
    with pytest.raises(GameError, match=said):
        rules.start(3, Options(), deal, Chance(SEED))


@pytest.mark.parametrize("seats", [0, 2, 6])
def test_numbers_of_players_that_cannot_play(seats: int) -> None:
    with pytest.raises(PlayersError, match=f"Combo Up is for 3 to 5 players, not {seats}"):
        rules.start(seats, Options(), Deal(0, rules.DECKS[rules.COMBO_UP]), Chance(SEED))


def test_a_classic_deck_has_no_take_up_and_no_pass_on() -> None:
    deck = rules.DECKS[KRASS_KARIERT]
    assert len(deck) == 54
    assert not set(cards("T P")) & set(deck)
    assert [rules.DECKS[rules.COMBO_UP].count(card) for card in cards("J S D T P 1 12")] == [2] * 5 + [4] * 2


# the end of the match


def test_points_decide_where_they_are_counted() -> None:
    """Who has no token left may win by points."""
    state = position("12 3", "4 D", "5 1", tokens=(2, 3, 1), options=SCORING)
    state.points = (0, 3, 7)
    solo(state, 12)
    assert special(state, 1)[-1] == MatchEnded((3, 2, 1))
    outcome = rules.outcome(state)
    assert outcome.scores == (1, 4, 7)
    assert outcome.ranks == (3, 2, 1)
    assert outcome.details == (
        "1 point, 2 tokens left",
        "4 points, 3 tokens left",
        "7 points, no tokens left",
    )


def test_equal_points_share_a_rank() -> None:
    state = position("12 3", "4 D", "5 1", tokens=(2, 3, 1), options=SCORING)
    state.points = (3, 3, 4)
    solo(state, 12)
    assert special(state, 1)[-1] == MatchEnded((1, 1, 1))


def test_without_scoring_all_but_the_loser_win() -> None:
    state = position("12 3", "4 D", "5 1", tokens=(2, 3, 1))
    solo(state, 12)
    assert special(state, 1)[-1] == MatchEnded((1, 1, 3))
    assert rules.outcome(state).scores == (2, 3, 0)


# what is private


def test_only_giver_and_receiver_learn_what_was_handed_on() -> None:
    assert audience(Gave(1, 2, 7)) == (1, 2)
    assert audience(Passed(1, 2)) is None


def test_only_the_drawer_learns_what_was_drawn() -> None:
    assert audience(Drew(1, 7)) == (1,)
    assert audience(Drawn(1, 2)) is None


def test_a_view_keeps_what_the_seat_has_seen() -> None:
    state = position("P 3 5", "5 1", "6 6")
    state.aside = ()
    special(state, 0)
    give(state, 1, 0, 0)
    views = {seat: COMBO_UP.view(state, seat) for seat in (None, 0, 1, 2)}
    assert {seat: view.incoming for seat, view in views.items()} == {None: 0, 0: 6, 1: 5, 2: 5}
    gave = {
        seat: [(e.gave.giver, e.gave.receiver, e.gave.card) for e in view.log if e.HasField("gave")]
        for seat, view in views.items()
    }
    assert gave == {None: [], 0: [(0, 1, 5), (2, 0, 6)], 1: [(0, 1, 5), (1, 2, 5)], 2: [(1, 2, 5), (2, 0, 6)]}
    insert(state, 0, 0, 0)
    act(state, legal(state)[0])
    again = COMBO_UP.view(state, 0)
    assert [e.gave.card for e in again.log if e.HasField("gave")] == [5, 6]
    assert again.incoming == 0


def test_a_drawn_card_is_seen_by_its_drawer_alone() -> None:
    state = position("6 2", "D 8", "9", pile="4 11 9 7")
    state.aside = ()
    solo(state, 6)
    special(state, 0)
    solo(state, 9)
    for seat in (None, 0, 1, 2):
        view = COMBO_UP.view(state, seat)
        assert view.incoming == (4 if seat == 2 else 0)
        assert [e.drew.card for e in view.log if e.HasField("drew")] == ([4] if seat == 2 else [])
        assert (view.draws, view.draws_left, list(view.to_move)) == (1, 2, [2])
