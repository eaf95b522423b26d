"""Kamozza by hand: the vectors T1 to T30 and the rulings K-1 to K-36, worked out from the printed rules."""

from __future__ import annotations

from typing import Any

import pytest
from botarena.v1.game_pb2 import GameClaim
from botarena.v1.kamozza_pb2 import KamozzaClaim, KamozzaPort

from arena.games import find_game
from arena.games.chance import Chance
from arena.games.game import GameError, IllegalActionError, OptionError, PlayersError
from arena.games.kamozza import rules
from arena.games.kamozza.rules import (
    CAT_SHIP,
    NEVER,
    TYPHOON,
    Began,
    Claim,
    Committed,
    Deal,
    Dock,
    Docked,
    Eliminated,
    Ended,
    Load,
    Options,
    Resolved,
    Scored,
    State,
)
from tests.games.kamozza.positions import (
    BASE,
    VARIANT,
    fates,
    hands,
    legal,
    load,
    one_ship,
    play_cargo,
    play_ports,
    play_round,
    play_rounds,
    said,
    started,
)

KAMOZZA = find_game("kamozza")
TALK = Options(table_talk=True)
BONUS = Options("variant", typhoon=True, cat_ship=True)


def points(ship: int, loads: str, options: Options = BASE) -> list[int]:
    """Points of those whose cards meet at a ship."""
    return one_ship(ship, loads, options)[0].points[: len(loads.split())]


# vectors from the rulebook


def test_t1_the_printed_ship_departs() -> None:
    assert points(45, "15 3 20") == [15, 3, 20]


def test_t2_another_gold_sinks_it() -> None:
    state, resolved = one_ship(45, "15 3 20 20")
    assert (state.points, resolved.weight) == ([0, 0, 0, 0], 58)
    assert {card.fate for card in resolved.cargo} == {"sunk"}


def test_t3_two_equal_goods_are_confiscated() -> None:
    state, resolved = one_ship(45, "5 5", VARIANT)
    assert state.points[:2] == [0, 0]
    assert fates(resolved) == ["seat 0: 5 confiscated", "seat 1: 5 confiscated"]


def test_t4_rats_that_ate_gold_are_too_heavy() -> None:
    state, resolved = one_ship(20, "1 20", VARIANT)
    assert state.points[:2] == [0, 0]
    assert fates(resolved) == ["seat 0: 1 left behind", "seat 1: 20 eaten"]


@pytest.mark.parametrize("ship", [20, 21, 45])
def test_t5_two_rats_cancel_each_other_and_the_gold_is_loaded(ship: int) -> None:
    assert points(ship, "1 1 20", VARIANT) == [0, 0, 20]


def test_t6_two_gold_cancel_each_other_and_the_rats_are_loaded() -> None:
    assert points(20, "1 20 20", VARIANT) == [1, 0, 0]


@pytest.mark.parametrize(("seats", "rounds"), [(3, 6), (4, 4), (5, 5)])
def test_t7_rounds_of_the_base_game(seats: int, rounds: int) -> None:
    state = started(seats)
    assert state.rounds == rounds
    for value in rules.VALUES[:rounds]:
        assert state.movers
        play_round(state, f"{value}A " * seats)
    assert not state.movers
    assert len(state.past) == rounds


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_t7_rounds_of_the_variant(seats: int) -> None:
    state = started(seats, VARIANT)
    for value in rules.VALUES[:5]:
        play_round(state, f"{value}A " * seats)
    assert not state.movers
    assert hands(state) == [(15, 20)] * seats


# further vectors, base game


def test_t8_eaten_gold_lets_a_ship_depart() -> None:
    state, resolved = one_ship(45, "15 3 20 20+1")
    assert (state.points, resolved.weight) == ([15, 3, 0, 1], 19)
    assert [stamp != NEVER for stamp in state.stamps] == [True, True, False, True]


def test_t9_the_own_gold_is_eaten_as_well() -> None:
    state, resolved = one_ship(23, "1+20")
    assert (state.points[0], resolved.weight) == (1, 1)
    assert fates(resolved) == ["seat 0: 1 loaded", "seat 0: 20 eaten"]


def test_t11_capacity_just_met_and_exceeded() -> None:
    assert points(8, "7 1") == [7, 1]
    state, resolved = one_ship(8, "10 1+20")
    assert (state.points[:2], resolved.weight) == ([0, 0], 11)
    assert fates(resolved) == ["seat 0: 10 sunk", "seat 1: 1 sunk", "seat 1: 20 eaten"]


def test_t12_how_many_loads_are_legal() -> None:
    state = started(3)
    assert len(legal(state)) == 28
    assert legal(state)[:8] == [(1,), (3,), (5,), (7,), (10,), (15,), (20,), (1, 3)]
    assert legal(state)[-2:] == [(10, 20), (15, 20)]
    state.hands[0] = load("10+15").cards
    assert legal(state) == [(10,), (15,), (10, 15)]
    state.hands[0] = load("15").cards
    assert legal(state) == [(15,)]


def test_t13_a_whole_base_game() -> None:
    state = started(4)
    expected = [[0, 5, 3, 0], [0, 6, 28, 0], [0, 6, 48, 15], [15, 28, 48, 15]]
    rounds = ["20B 5A 3A 20B", "7+3A 20+1B 15+10B 10A", "15A 10A 20B 15B", "10+5B 15+7B 7+5A 7+5A"]
    orders, decisions = [], 0
    for plays, after in zip(rounds, expected, strict=True):
        orders.append(state.order)
        events = play_round(state, plays)
        decisions += sum(isinstance(event, Committed) for event in events) + state.seats
        assert state.points == after
    assert orders == [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)]
    assert rules.outcome(state).scores == (15, 28, 48, 15)
    assert rules.outcome(state).ranks == (3, 2, 1, 4)
    assert hands(state) == [(1,), (3,), (1,), (1, 3)]
    assert decisions == 32
    assert [[resolved.weight for resolved in past.resolved] for past in state.past] == [
        [8, 40],
        [20, 26],
        [25, 35],
        [24, 37],
    ]


def test_t15_a_tie_in_the_same_ship() -> None:
    state = started(4, a=(8, 8, 8, 45), b=(45,) * 4)
    play_rounds(state, *(f"{value}A " * 4 for value in (20, 15, 10, 7)))
    assert rules.outcome(state).scores == (7, 7, 7, 7)
    assert rules.outcome(state).ranks == (1, 1, 1, 1)


def test_t17_all_are_eliminated() -> None:
    state = started(5)
    rounds = ["1+3A 1+3A 1+3B 1+3B 1+3B", "5+7B 5+7B 5+7A 5+7A 5+7A", "10+15A " * 5, "20A 20B 20A 20A 20A"]
    decisions = 0
    for plays in rounds:
        decisions += 2 * len(state.order)
        events = play_round(state, plays)
    assert decisions == 40
    assert events[-6:-1] == [Eliminated(seat, 5) for seat in range(5)]
    assert isinstance(events[-1], Ended)
    assert rules.to_move(state) == ()
    # Round 1: both ships travel. Round 2: B's first; A's sinks. Round 4: B's, with one card on it.
    assert rules.outcome(state).scores == (16, 36, 4, 4, 4)
    assert rules.outcome(state).ranks == (2, 1, 3, 3, 3)


# further vectors, variant


def test_t18_rats_of_21_do_not_fit_onto_a_ship_of_20() -> None:
    assert points(20, "1 20 15 7", VARIANT) == [0, 0, 15, 0]


def test_t19_rats_of_21_fit_onto_a_ship_of_21() -> None:
    assert points(21, "1 20 15 7", VARIANT) == [21, 0, 0, 0]


def test_t21_what_does_not_fit_is_skipped() -> None:
    state, resolved = one_ship(14, "15 10 5 3", VARIANT)
    assert (state.points, resolved.weight) == ([0, 10, 0, 3], 13)
    assert state.stamps == [NEVER, (1, 2, 1), NEVER, (1, 2, 2)]


def test_t22_the_heaviest_comes_first_though_others_would_fill_the_ship() -> None:
    assert points(8, "7 5 3 1", VARIANT) == [7, 0, 0, 1]


def test_t24_only_what_is_there_once_counts() -> None:
    assert points(30, "1 1 20 20 3", VARIANT) == [0, 0, 0, 0, 3]


def test_t25_a_typhoon_takes_all() -> None:
    state, resolved = one_ship(TYPHOON, "10 10 20", VARIANT)
    assert (state.points[:3], state.stamps[:3]) == ([0, 0, 0], [NEVER] * 3)
    assert {card.fate for card in resolved.cargo} == {"blown away"}
    assert resolved.weight == 0


def test_t27_a_whole_game_of_the_variant() -> None:
    state = started(4, VARIANT)
    expected = [
        ("20B 7A 20B 1A", [0, 7, 0, 1]),
        ("1B 20B 15B 10A", [21, 7, 0, 11]),
        ("15A 10A 3A 20B", [21, 17, 3, 31]),
        ("10B 15A 10B 15B", [21, 32, 3, 46]),
        ("7A 5A 7B 7A", [21, 37, 10, 46]),
    ]
    decisions = 0
    for plays, after in expected:
        decisions += 2 * len(state.movers)
        play_round(state, plays)
        assert state.points == after
    assert decisions == 40
    assert rules.outcome(state).scores == (21, 37, 10, 46)
    assert rules.outcome(state).ranks == (3, 2, 4, 1)
    assert hands(state) == [(3, 5), (1, 3), (1, 5), (3, 5)]


def test_t29_a_tie_inside_a_ship() -> None:
    state = started(3, VARIANT, a=(45,) * 14, b=())
    play_rounds(state, "10 3 3", "1 1 5", "7 7 1", "20 20 10")
    assert state.points == [10, 0, 16]
    play_round(state, "5 15 20")
    assert rules.outcome(state).scores == (15, 15, 36)
    assert state.stamps == [(5, 1, 3), (5, 1, 2), (5, 1, 1)]
    assert rules.outcome(state).ranks == (2, 3, 1)


def test_t30_errors() -> None:
    with pytest.raises(OptionError, match="bonus ships belong to the variant"):
        Options("base", typhoon=True)
    for seats in (2, 6):
        with pytest.raises(PlayersError, match=f"3 to 5 players, not {seats}"):
            rules.deal(seats, BASE, Chance(bytes(32)))
        with pytest.raises(PlayersError):
            rules.start(seats, BASE, Deal(0, ((8,) * 7, (30,) * 7)))
    base, variant = started(4), started(4, VARIANT)
    base.hands[0] &= ~rules.GOLD
    for state, action in ((base, load("1+3+5")), (base, load("20")), (base, load("1+20"))):
        with pytest.raises(IllegalActionError, match="is not legal for seat 0; legal are: load 1, load 3"):
            rules.apply(state, {0: action})
    with pytest.raises(IllegalActionError, match="load 20 "):
        rules.apply(variant, {seat: load("1+3" if seat == 2 else "1") for seat in range(4)})
    assert (base.committed, variant.committed) == ([0] * 4, [0] * 4)


# rulings


@pytest.mark.parametrize(
    ("plays", "order"),
    [("3A 3B 3A 3B", [0, 1]), ("3A 3B 3A 3A", [1, 0]), ("3A 3B 3B 3B", [0, 1]), ("3B 3B 3B 3B", [1])],
)
def test_k1_k35_the_port_with_fewer_players_comes_first(plays: str, order: list[int]) -> None:
    state = started(4)
    play_round(state, plays)
    resolved = state.past[0].resolved
    assert [port.port for port in resolved] == order
    # An empty port is the first one all the same.
    assert [port.position for port in resolved] == ([1, 2] if len(order) == 2 else [2])


def test_k2_k20_a_ship_to_which_nobody_goes_leaves() -> None:
    state = started(5)
    for number in range(5):
        assert state.ships == (rules.SMALL_SHIPS[number], rules.LARGE_SHIPS[number])
        play_round(state, f"{rules.VALUES[number]}B " * 5)
    assert not state.movers
    assert state.arrived == 5
    assert [len(deck) for deck in state.deal.decks] == [7, 7]


@pytest.mark.parametrize(("options", "scored"), [(BASE, [15, 5]), (VARIANT, [15, 5])])
def test_k3_a_capacity_that_is_just_met_is_enough(options: Options, scored: list[int]) -> None:
    assert points(20, "15 5", options) == scored
    assert points(19, "15 5", BASE) == [0, 0]


def test_k4_gold_is_eaten_in_the_same_ship_only() -> None:
    state = started(4, a=(45,) * 4, b=(45,) * 4)
    play_round(state, "1A 20B 20A 3A")
    assert state.points == [1, 20, 0, 3]


def test_k5_rats_gain_nothing_in_the_base_game() -> None:
    state, resolved = one_ship(20, "1 20 15")
    assert (state.points[:3], resolved.weight) == ([1, 0, 15], 16)


def test_k6_several_rats_are_like_one() -> None:
    state, resolved = one_ship(45, "1 1 20 20")
    assert (state.points, resolved.weight) == ([1, 1, 0, 0], 2)


def test_k7_who_had_nothing_but_gold_did_not_board() -> None:
    state, _ = one_ship(45, "1 20 20+3")
    assert state.points[:3] == [1, 0, 3]
    assert [stamp == NEVER for stamp in state.stamps[:3]] == [False, True, False]
    assert state.lost[1:3] == [rules.GOLD, rules.GOLD]


def test_k8_both_cards_go_to_one_port() -> None:
    state = started(4)
    play_round(state, "3+5A 1B 1B 1B")
    assert [card.card for card in state.past[0].resolved[0].cargo] == [3, 5]
    assert len(rules.ALL_DOCKS) == 2


def test_k9_all_cards_of_a_hand_are_different() -> None:
    assert hands(started(3)) == [(1, 3, 5, 7, 10, 15, 20)] * 3


def test_k10_equal_goods_do_not_matter_in_the_base_game() -> None:
    assert points(45, "5 5 5") == [5, 5, 5]


def test_k11_k12_elimination_comes_before_the_ships() -> None:
    state = started(3)
    play_rounds(state, "1+3A 1A 1B", "5+7A 3A 3B", "10+15A 5A 5B")
    events = play_round(state, "20A 7A 7B")
    assert [type(event) for event in events[-4:]] == [Resolved, Scored, Eliminated, Began]
    assert (state.eliminated, state.order, state.round) == ([5, 0, 0], (1, 2), 5)


def test_k12_with_three_seats_somebody_may_be_out_in_the_last_round() -> None:
    state = started(3)
    play_rounds(state, "1+3A 1A 1B", "5+7A 3A 3B", "10A 5A 5B", "15A 7A 7B")
    play_round(state, "20A 10A 10B")
    assert (state.eliminated, state.order) == ([6, 0, 0], (2, 1))


def test_k12_with_four_seats_nobody_is_eliminated() -> None:
    state = started(4)
    play_rounds(state, "1+3A " * 4, "5+7A " * 4, "10+15A " * 4, "20A " * 4)
    assert (state.eliminated, hands(state)) == ([0] * 4, [()] * 4)
    assert not state.movers


def test_k13_a_survivor_without_points_is_above_the_eliminated() -> None:
    state = started(5)
    play_rounds(state, "20B 1A 1A 1A 1A", "15+10B 3A 3A 3A 3A", "7+5B 5A 5A 5A 5A")
    play_round(state, "1+3B 7A 7A 7A 7A")
    assert state.eliminated == [5, 0, 0, 0, 0]
    play_round(state, "- 20A 20A 20A 20A")
    outcome = rules.outcome(state)
    assert outcome.scores[0] == 61
    assert outcome.ranks[0] == 5
    assert outcome.details[0].endswith("eliminated in round 5")


@pytest.mark.parametrize(
    ("eliminated", "scores", "stamps", "ranks"),
    [
        # later elimination, then points, then the stamp
        ([5, 6, 6], [30, 0, 1], [(1, 1, 0)] * 3, (3, 2, 1)),
        ([5, 5, 0], [7, 7, 0], [(3, 1, 0), (3, 2, 0), NEVER], (3, 2, 1)),
        ([5, 5, 5], [7, 7, 8], [(3, 2, 0), (3, 2, 0), NEVER], (2, 2, 1)),
        ([0, 0, 0], [7, 7, 7], [NEVER, (2, 1, 0), (1, 2, 0)], (3, 1, 2)),
    ],
)
def test_k13_k19_how_the_eliminated_and_the_others_rank(
    eliminated: list[int], scores: list[int], stamps: list[Any], ranks: tuple[int, ...]
) -> None:
    state = started(3)
    state.eliminated, state.points, state.stamps, state.movers = eliminated, scores, stamps, ()
    assert rules.outcome(state).ranks == ranks
    assert rules.outcome(state).scores == tuple(scores)


def test_k14_the_next_seat_that_plays_begins() -> None:
    state = started(3, start_seat=2)
    play_rounds(state, "1A 1+3A 1B", "3A 5+7A 3B", "5A 10+15A 5B", "7A 20A 7B")
    # The nominal start seats are 2, 0, 1, 2, 0, 1; seat 1 is out when its turn to begin comes again.
    assert (state.round, state.start_seat, state.order) == (5, 0, (0, 2))
    play_round(state, "10A - 10B")
    assert (state.round, state.start_seat, state.order) == (6, 1, (2, 0))
    assert state.movers == (2,)


def test_k15_a_lone_survivor_plays_on() -> None:
    state = started(5, start_seat=4)
    play_rounds(state, "1A 1+3A 1+3A 1+3A 1+3A", "3A 5+7A 5+7A 5+7A 5+7A", "5A " + "10+15A " * 4)
    events = play_round(state, "7A " + "20A " * 4)
    assert isinstance(events[-1], Began)
    assert state.order == (0,)
    play_round(state, "20A - - - -")
    assert state.points[0] == 20
    assert not state.movers
    assert rules.outcome(state).ranks[0] == 1


def test_k16_nobody_is_left() -> None:
    state = started(3)
    play_rounds(state, "1+3A " * 3, "5+7A " * 3, "10+15A " * 3)
    events = play_round(state, "20A " * 3)
    assert [type(event) for event in events[-4:]] == [Eliminated] * 3 + [Ended]
    # No ship arrives any more.
    assert (state.round, state.arrived, state.ships) == (5, 4, ())


def test_k17_the_port_resolved_second_is_the_later_one() -> None:
    state = started(4)
    play_round(state, "3A 3B 5B 7B")
    assert state.stamps == [(1, 1, 0), (1, 2, 0), (1, 2, 0), (1, 2, 0)]
    state.movers = ()
    state.points = [3, 3, 3, 9]
    assert rules.outcome(state).ranks == (4, 2, 2, 1)


@pytest.mark.parametrize(
    ("ship", "loads", "options", "who"),
    [
        (8, "10 3", BASE, ""),
        (45, "20 1", BASE, "1"),
        (45, "20 20 5", VARIANT, "2"),
        (CAT_SHIP, "1 5", VARIANT, "1"),
        (8, "10 5", VARIANT, "1"),
        (TYPHOON, "5 7", VARIANT, ""),
    ],
)
def test_k18_who_boarded(ship: int, loads: str, options: Options, who: str) -> None:
    state, _ = one_ship(ship, loads, options)
    count = len(loads.split())
    assert [seat for seat in range(count) if state.stamps[seat] != NEVER] == list(map(int, who))
    assert [seat for seat in range(count) if state.points[seat]] == list(map(int, who))


def test_k21_three_equal_cards_are_all_confiscated() -> None:
    assert points(45, "15 15 15 5", VARIANT) == [0, 0, 0, 5]


def test_k22_equal_rats_are_confiscated_before_the_cat_sees_them() -> None:
    _, resolved = one_ship(CAT_SHIP, "1 1 20", VARIANT)
    assert fates(resolved) == ["seat 0: 1 confiscated", "seat 1: 1 confiscated", "seat 2: 20 loaded"]


def test_k23_rats_that_ate_gold_weigh_and_score_21() -> None:
    state, resolved = one_ship(23, "1 20 3 5", VARIANT)
    assert (state.points, resolved.weight) == ([21, 0, 0, 0], 21)
    # They are loaded first, though a 1 is the lightest card.
    assert state.stamps[0] == (1, 2, 1)
    assert points(20, "1 20 3 5", VARIANT) == [0, 0, 3, 5]


def test_k24_one_card_a_round_in_the_variant() -> None:
    assert legal(started(4, VARIANT)) == [(value,) for value in rules.VALUES]


def test_k25_k33_loading_goes_on_with_lighter_cards_by_itself() -> None:
    _, resolved = one_ship(17, "20 10 15 1", VARIANT)
    assert fates(resolved)[0] == "seat 0: 20 eaten"
    assert points(17, "20 10 15 3", VARIANT) == [0, 0, 15, 0]
    assert points(18, "20 10 15 3", VARIANT) == [0, 0, 15, 3]


def test_k26_both_ports_may_have_a_typhoon() -> None:
    state = started(4, BONUS, a=(TYPHOON,) * 5, b=(TYPHOON,) * 5)
    assert rules.actions(state, 0)
    play_cargo(state, "1 3 5 7")
    assert rules.actions(state, 0) == rules.ALL_DOCKS
    play_ports(state, "A B A B")
    assert (state.points, state.stamps) == ([0] * 4, [NEVER] * 4)
    assert state.lost == [1, 2, 4, 8]


@pytest.mark.parametrize(
    ("seats", "options", "a", "b"),
    [
        (3, BASE, (8, 11, 14, 17, 20, 21), (23, 30, 32, 35, 37, 40)),
        (4, BASE, rules.SMALL_SHIPS, rules.LARGE_SHIPS),
        (5, VARIANT, rules.SMALL_SHIPS, rules.LARGE_SHIPS),
        (3, VARIANT, rules.SMALL_SHIPS + rules.LARGE_SHIPS, ()),
        (4, BONUS, (*rules.SMALL_SHIPS, TYPHOON), (*rules.LARGE_SHIPS, TYPHOON, CAT_SHIP)),
        (3, BONUS, (*rules.SMALL_SHIPS, *rules.LARGE_SHIPS, TYPHOON, CAT_SHIP), ()),
        (
            5,
            Options("variant", typhoon=True),
            (*rules.SMALL_SHIPS, TYPHOON),
            (*rules.LARGE_SHIPS, TYPHOON),
        ),
        (
            3,
            Options("variant", typhoon=True),
            (*rules.SMALL_SHIPS, *rules.LARGE_SHIPS, TYPHOON),
            (),
        ),
        (5, Options("variant", cat_ship=True), rules.SMALL_SHIPS, (*rules.LARGE_SHIPS, CAT_SHIP)),
    ],
)
def test_k27_k31_the_decks(seats: int, options: Options, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    assert tuple(map(tuple, rules.unshuffled_decks(seats, options))) == (a, b)
    seed = bytes(range(32))
    chance = Chance(seed)
    decks = list(a), list(b)
    for deck in decks:
        chance.shuffle(deck)
    start_seat = chance.below(seats)
    assert rules.deal(seats, options, Chance(seed)) == Deal(start_seat, (tuple(decks[0]), tuple(decks[1])))


def test_k28_the_cat_ship() -> None:
    state, resolved = one_ship(CAT_SHIP, "1 20 10 3", VARIANT)
    assert (state.points, resolved.weight) == ([0, 20, 10, 0], 30)
    assert fates(resolved)[::3] == ["seat 0: 1 turned away", "seat 3: 3 left behind"]
    assert points(CAT_SHIP, "20 20 3", VARIANT) == [0, 0, 3]


@pytest.mark.parametrize("name", ["typhoon", "cat_ship"])
def test_k29_bonus_ships_belong_to_the_variant(name: str) -> None:
    with pytest.raises(OptionError, match=f"{name} with mode base"):
        KAMOZZA.options({name: "true"})
    assert getattr(KAMOZZA.options({"mode": "variant", name: "true"}), name)


def test_k30_the_start_seat_of_the_variant_moves_on() -> None:
    state = started(4, VARIANT, start_seat=2)
    seen = []
    for value in rules.VALUES[:5]:
        seen.append((state.start_seat, state.movers))
        play_round(state, f"{value}A " * 4)
    assert seen == [(seat, (0, 1, 2, 3)) for seat in (2, 3, 0, 1, 2)]


def test_k31_three_seats_and_one_port_without_a_decision() -> None:
    state = started(3, VARIANT)
    events = play_cargo(state, "1 3 5")
    assert [type(event) for event in events] == [*[Committed] * 3, Resolved, Scored, Began]
    assert (state.round, state.points, state.loading) == (2, [0, 3, 5], True)
    assert state.past[0].ships == (8,)


def test_k32_only_the_number_of_cards_is_public() -> None:
    state = started(4)
    events = rules.apply(state, {0: load("3+20")})
    assert events == [Committed(0, 2, rules.NOTHING_SAID)]
    for seat in (None, 1, 2, 3):
        player = KAMOZZA.view(state, seat).players[0]
        assert (player.committed, list(player.committed_cards)) == (2, [])
        assert list(player.hand) == list(rules.VALUES)
    assert list(KAMOZZA.view(state, 0).players[0].committed_cards) == [3, 20]


def test_k36_nobody_can_pass() -> None:
    state = started(4)
    with pytest.raises(IllegalActionError):
        rules.apply(state, {0: Load(0, rules.NOTHING_SAID)})
    assert min(map(len, legal(state))) == 1


# table talk


def claim(*cards: int, port: KamozzaPort.ValueType | None = None) -> GameClaim:
    return GameClaim(kamozza=KamozzaClaim(cards=cards, port=port))


def test_k34_a_claim_is_published_with_the_cargo_and_need_not_be_true() -> None:
    state = started(4, TALK)
    action = KAMOZZA.with_claim(state, 0, load("1"), claim(20, 15, port=KamozzaPort.KAMOZZA_PORT_B))
    assert action == load("1", said("15+20B"))
    assert KAMOZZA.apply(state, {0: action}) == [Committed(0, 1, said("15+20B"))]
    seen = KAMOZZA.view(state, 3).players[0].claim
    assert (list(seen.cards), seen.port) == ([15, 20], KamozzaPort.KAMOZZA_PORT_B)
    for seat in (1, 2, 3):
        rules.apply(state, {seat: load("3")})
    play_ports(state, "A A A A")
    assert state.past[0].claims == (said("15+20B"), *[rules.NOTHING_SAID] * 3)
    assert state.claims == [rules.NOTHING_SAID] * 4
    view = KAMOZZA.view(state, None)
    assert not any(player.HasField("claim") for player in view.players)
    assert [(one.seat, list(one.claim.cards)) for one in view.past[0].claims] == [(0, [15, 20])]


@pytest.mark.parametrize("seats", [3, 4])
def test_k34_claims_of_the_variant_are_published_together(seats: int) -> None:
    state = started(seats, Options("variant", table_talk=True))
    moves = {seat: load("5", Claim(0, seat % 2)) for seat in range(seats)}
    events = rules.apply(state, moves)
    assert events[:seats] == [Committed(seat, 1, Claim(0, seat % 2)) for seat in range(seats)]
    assert state.claims == ([Claim(0, seat % 2) for seat in range(4)] if seats == 4 else [(0, -1)] * 3)


def test_k34_no_claim_goes_with_a_port() -> None:
    state = started(4, TALK)
    play_cargo(state, "1 3 5 7")
    with pytest.raises(IllegalActionError, match="with a legal load only"):
        KAMOZZA.with_claim(state, 0, Dock(0), claim(1))
    with pytest.raises(IllegalActionError, match="is not legal"):
        rules.apply(state, {seat: load("10", said("1")) for seat in range(4)})


def test_a_claim_that_says_nothing_is_none() -> None:
    state = started(4, TALK)
    for empty in (GameClaim(), claim()):
        action = KAMOZZA.with_claim(state, 0, load("5"), empty)
        assert action == load("5")
        assert KAMOZZA.claim_of(action) is None
    assert KAMOZZA.apply(state, {0: action}) == [Committed(0, 1, rules.NOTHING_SAID)]


@pytest.mark.parametrize("text", ["1", "5+20", "A", "7+10B"])
def test_a_claim_comes_back_as_it_was_made(text: str) -> None:
    state, spoken = started(4, TALK), said(text)
    message = KAMOZZA.claim_of(load("5", spoken))
    assert message is not None
    assert KAMOZZA.with_claim(state, 0, load("5"), message) == load("5", spoken)
    assert KAMOZZA.with_claim(state, 0, load("5", said("1")), message) == load("5", spoken)


@pytest.mark.parametrize(
    "malformed",
    [
        claim(2),
        claim(0),
        claim(21, 1),
        claim(5, 5),
        claim(1, 3, 5),
        claim(port=KamozzaPort.KAMOZZA_PORT_UNSPECIFIED),
        GameClaim(kamozza=KamozzaClaim(port=7)),  # type: ignore[arg-type]
    ],
)
def test_malformed_claims_are_refused(malformed: GameClaim) -> None:
    state = started(4, TALK)
    with pytest.raises(IllegalActionError, match=r"seat 0 claimed .*\(Z19\)"):
        KAMOZZA.with_claim(state, 0, load("5"), malformed)


def test_a_claim_names_a_port_that_there_is() -> None:
    for port in (-2, 2):
        with pytest.raises(IllegalActionError, match=f"claimed port {port}: A, B or none"):
            rules.with_claim(started(4, TALK), 0, load("5"), (), port)


def test_claims_that_are_no_part_of_the_match_are_refused() -> None:
    state = started(4)
    with pytest.raises(IllegalActionError, match="has no table talk"):
        KAMOZZA.with_claim(state, 0, load("5"), claim(5))
    with pytest.raises(IllegalActionError):
        rules.apply(state, {0: load("5", said("5"))})
    talk = started(4, TALK)
    with pytest.raises(IllegalActionError, match="with a legal load only"):
        KAMOZZA.with_claim(talk, 1, load("5"), claim(5))
    with pytest.raises(IllegalActionError, match="with a legal load only"):
        KAMOZZA.with_claim(talk, 0, load("1+3+5"), claim(5))


@pytest.mark.parametrize("wrong", [None, (), (1, -1), Claim(128, 0), Claim(7, 0), Claim(1, 2), Claim([1], 0)])  # type: ignore[arg-type]
def test_an_action_with_a_claim_that_cannot_be_is_refused(wrong: Any) -> None:
    state = started(4, TALK)
    before = state.copy()
    with pytest.raises(IllegalActionError):
        rules.apply(state, {0: Load(1, wrong)})
    assert state == before


# what is refused, deals, sizes


@pytest.mark.parametrize(
    "action",
    [
        Dock(0),
        (1, rules.NOTHING_SAID),
        None,
        "take",
        (),
        Load(True, rules.NOTHING_SAID),
        load(""),
        Load(-1, rules.NOTHING_SAID),
        Load(128, rules.NOTHING_SAID),
    ],
)
def test_what_is_no_load_is_refused(action: Any) -> None:
    state = started(4)
    with pytest.raises(IllegalActionError, match=r"legal are: load 1, .* \(Z7"):
        rules.apply(state, {0: action})


@pytest.mark.parametrize("action", [load("1"), (0,), None, "A", Dock(2), Dock(-1), Dock(True)])
def test_what_is_no_port_is_refused(action: Any) -> None:
    state = started(4)
    play_cargo(state, "1 3 5 7")
    before = state.copy()
    with pytest.raises(IllegalActionError, match="legal are: port A, port B"):
        rules.apply(state, {0: Dock(0), 1: Dock(1), 2: action, 3: Dock(0)})
    assert state == before


def test_nobody_moves_once_the_match_is_over() -> None:
    state = started(4)
    play_rounds(state, *(f"{value}A " * 4 for value in rules.VALUES[:4]))
    with pytest.raises(IllegalActionError, match="nobody: the match is over"):
        rules.apply(state, {0: load("20")})


@pytest.mark.parametrize(
    ("seats", "options", "deal", "named"),
    [
        (4, BASE, Deal(4, ((8,) * 4, (30,) * 4)), "begun by seat 4"),
        (4, BASE, Deal(0, ((8,) * 3, (30,) * 4)), "decks of 3 and 4 ships"),
        (4, BASE, Deal(0, ((8,) * 4, ())), "4 or more are needed at port A and at port B"),
        (3, VARIANT, Deal(0, ((8,) * 5, (30,) * 5)), "at port A, none elsewhere"),
        (4, BASE, Deal(0, ((8,) * 4, (TYPHOON,) * 4)), "ship 0 was given"),
        (4, VARIANT, Deal(0, ((8,) * 5, (-2,) * 5)), "ship -2 was given"),
    ],
)
def test_a_given_deal_must_fit(seats: int, options: Options, deal: Deal, named: str) -> None:
    with pytest.raises(GameError, match=named):
        rules.start(seats, options, deal)


@pytest.mark.parametrize(
    ("seats", "options", "bound"),
    [
        (3, BASE, 36),
        (4, BASE, 32),
        (5, BASE, 50),
        (3, VARIANT, 15),
        (4, VARIANT, 40),
        (5, BONUS, 50),
    ],
)
def test_how_many_decisions_a_match_can_take(seats: int, options: Options, bound: int) -> None:
    assert rules.decision_bound(seats, options) == bound
    assert decisions_of(started(seats, options), most=1) == bound


@pytest.mark.parametrize(("seats", "least"), [(3, 24), (4, 32), (5, 40)])
def test_how_few_decisions_a_base_game_can_take(seats: int, least: int) -> None:
    assert decisions_of(started(seats), most=2) == least


@pytest.mark.parametrize(("seats", "doubles"), [(3, 1), (4, 3), (5, 2)])
def test_how_many_double_loads_a_player_can_afford(seats: int, doubles: int) -> None:
    for loads, out in ((doubles, False), (doubles + 1, True)):
        state = started(seats)
        for number in range(state.rounds):
            for seat in state.order:
                # Seat 0 spends its pairs first, the others never have one.
                most = 2 if seat == 0 and number < loads else 1
                fitting = [a for a in rules.actions(state, seat) if rules.COUNT[a[0]] <= most]
                rules.apply(state, {seat: fitting[-1]})
            rules.apply(state, {seat: Dock(0) for seat in state.movers})
            if state.eliminated[0]:
                break
        # With four seats a fourth pair cannot be had: the hand is empty just when the match is over.
        assert bool(state.eliminated[0]) == (out and seats != 4)


def decisions_of(state: State, most: int) -> int:
    """Decisions of a match in which everybody always loads the last that it may of so many cards."""
    decisions = 0
    while state.movers:
        moves = {}
        for seat in state.movers:
            actions = rules.actions(state, seat)
            cargo = 28 if state.options.mode == "base" else 7
            assert len(actions) <= (cargo if state.loading else 2)
            fitting = [a for a in actions if isinstance(a, Dock) or rules.COUNT[a.cards] <= most]
            moves[seat] = fitting[-1]
        decisions += len(moves)
        rules.apply(state, moves)
    return decisions


def test_events_of_a_round_in_order() -> None:
    state = started(4)
    events = play_round(state, "3A 5A 20B 20B")
    assert [type(event) for event in events] == [*[Committed] * 4, Docked, Resolved, Resolved, Scored, Began]
    assert events[4] == Docked((0, 0, 1, 1))
    assert events[7] == Scored((3, 5, 0, 0))
    assert events[8] == Began(2, 1, (11, 32))


def test_a_copy_shares_nothing_that_changes() -> None:
    state = started(4)
    play_round(state, "3A 5A 20B 20B")
    twin, again = state.copy(), state.copy()
    play_round(twin, "5A 7A 1B 1B")
    assert state == again
    assert twin != state
