"""Kotki by hand: the vectors KV-01 to KV-20 and the rulings KR-01 to KR-39, from the printed rules."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import combinations, permutations, product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games import find_game
from arena.games.chance import Chance
from arena.games.game import GameError, IllegalActionError, PlayersError, competition_ranks
from arena.games.kotki import components, rules, text
from arena.games.kotki.components import CAT_IDS, CATS, COPIES, DECK, DOG, SHOWS
from arena.games.kotki.rules import (
    Action,
    BaitReshuffled,
    Bust,
    CatsReshuffled,
    Deal,
    DogDiscarded,
    DogIgnored,
    DogPending,
    Drawn,
    DrawnPlaced,
    Ended,
    Lured,
    NeutralCard,
    Options,
    Padlocked,
    Placed,
    Revealed,
    Shifted,
    Started,
    State,
    Stopped,
    Surplus,
    Swapped,
    TurnEnded,
    TurnStarted,
    Unlocked,
    YardDiscarded,
    YardFilled,
)
from tests.games.kotki.invariants import assigned
from tests.games.kotki.positions import (
    ACCEPT,
    END,
    FINISH,
    REVEAL,
    SEED,
    STOP,
    arrows,
    bait,
    baits,
    baits_text,
    collected,
    deal_of,
    discard,
    draw,
    ignore,
    is_used,
    legal,
    legal_of,
    lure,
    padlock,
    phase,
    pillow,
    place,
    place_drawn,
    play,
    position,
    shift,
    swap,
    types,
    yard,
)

KOTKI = find_game("kotki")
ARROWS = ("F|- - -", "L|- - -", "M|- - -", "Y|- - -")


def patryk() -> State:
    """The first collecting example after the stop."""
    state = position("F|- - -", stack="L M Y P D")
    play(state, *[REVEAL] * 4)
    assert collected(state) == "L M Y P"
    play(state, STOP)
    return state


def seeds() -> list[bytes]:
    return [bytes([number]) * 32 for number in range(40)]


# vectors from the rulebook


def test_kv01_four_cards_for_a_pillow_with_three_free_fields() -> None:
    state = patryk()
    assert legal(state) == [*(place(card, field) for card in "LMYP" for field in range(4)), FINISH]


def test_kv01a_one_card_is_surplus() -> None:
    state = patryk()
    play(state, place("L", 1), place("M", 2), place("Y", 3))
    assert legal(state) == [place("P", 0), FINISH]
    assert types(play(state, FINISH)) == [Surplus]
    assert (pillow(state, 0), discard(state), phase(state)) == ("F|L M Y", "P", "after")


def test_kv01b_an_old_card_makes_room() -> None:
    state = patryk()
    events = play(state, place("L", 1), place("M", 2), place("Y", 3), place("P", 0))
    assert (pillow(state, 0), discard(state), phase(state)) == ("P|L M Y", "F", "after")
    assert events[-1] == Placed(bait("P"), 0, bait("F"))


def test_kv02_a_dog_costs_all_collected_cards() -> None:
    state = position(*ARROWS, stack="F M D L")
    events = play(state, REVEAL, REVEAL, REVEAL)
    assert events == [Revealed(bait("F")), Revealed(bait("M")), Bust(baits("F M"))]
    assert (pillow(state, 0), discard(state), phase(state)) == ("F|- - -", "F M D", "after")
    assert legal(state) == [swap(1), swap(2), swap(3), END]


@pytest.mark.parametrize(
    ("stack", "dogs", "card"),
    [pytest.param("D M L", "D", "M", id="KV-03"), pytest.param("D D L F", "D D", "L", id="KV-04")],
)
def test_kv03_kv04_a_dog_as_first_card_is_discarded(stack: str, dogs: str, card: str) -> None:
    state = position("F|- - -", stack=stack)
    events = play(state, REVEAL)
    assert types(events) == [DogDiscarded] * len(dogs.split()) + [Revealed]
    assert (discard(state), collected(state), phase(state)) == (dogs, card, "revealing")
    assert legal(state) == [REVEAL, STOP]


@pytest.mark.parametrize(
    ("fields", "lures"),
    [
        ("F+L|- - -", []),
        ("F+L|L - -", [lure(0, (0, 1))]),
        ("F+L|F - -", [lure(0, (0, 1))]),
        ("F+L|M - -", []),
    ],
)
def test_kv05_a_card_pays_one_of_its_symbols(fields: str, lures: list[Action]) -> None:
    assert legal_of(position(fields, yard="11 22 23 24"), rules.LURE) == lures


def test_kv06_three_of_four_cats() -> None:
    state = position("F|L Y+P M", yard="1 5 15 32", cat_stack="20 21 22")
    assert legal_of(state, rules.LURE) == [lure(0, (0,)), lure(1, (2,)), lure(2, (1, 3))]
    assert play(state, lure(0, (0,))) == [Lured(0, 1, 1, 0), YardFilled(0, 20)]
    assert state.yard == [20, 5, 15, 32]
    play(state, lure(1, (2,)), lure(2, (1, 3)))
    assert state.yard == [20, 21, 22, 32]
    assert (pillow(state, 0), discard(state), state.points) == ("-|- - -", "F L M Y+P", [4, 0, 0, 0])
    assert legal(state) == [*(yard(1, slot) for slot in range(4)), draw(5), END]


# further vectors


@pytest.mark.parametrize(("fields", "lures"), [("F+L+M|F+L F -", [lure(0, (0, 1, 2))]), ("F+L+M|F F -", [])])
def test_kv07_sources_are_matched_with_symbols(fields: str, lures: list[Action]) -> None:
    state = position(fields, yard="22 1 1 1")
    assert [action for action in legal_of(state, rules.LURE) if action.number == 0] == lures


def test_kv09_swaps_of_a_turn() -> None:
    state = position("F|- - -", "L|- - -", "-|- - -", "P|- - -")
    assert legal_of(state, rules.SWAP) == [swap(1), swap(3)]
    assert play(state, swap(1)) == [Swapped(1, bait("F"), bait("L"))]
    assert arrows(state) == "L F - P"
    assert legal_of(state, rules.SWAP) == [swap(3)]
    play(state, swap(3))
    assert arrows(state) == "P F - L"
    assert legal_of(state, rules.SWAP) == []


def test_kv09_nothing_is_swapped_for_an_empty_arrow_field() -> None:
    assert legal_of(position("-|F - -", *ARROWS[1:]), rules.SWAP) == []


def test_kv12_two_cards_drawn_and_one_field() -> None:
    state = position("F|F - F", cats={0: "17"}, stack="L D P Y")
    assert play(state, draw(17)) == [DogDiscarded(), Drawn(17, baits("L P"))]
    assert (discard(state), phase(state)) == ("D", "drawn")
    assert legal(state) == [place_drawn("L", 2), place_drawn("P", 2)]
    assert play(state, place_drawn("P", 2)) == [DrawnPlaced(bait("P"), 2), Surplus(baits("L"))]
    assert (pillow(state, 0), discard(state), phase(state)) == ("F|F P F", "L D", "start")
    assert is_used(state, 0, 17)


def test_kv12_nothing_is_drawn_for_a_full_pillow() -> None:
    assert legal_of(position("F|F L F", cats={0: "17 5"}), rules.DRAW) == []


def test_kv12_any_empty_field_will_do() -> None:
    state = position("-|F - -", cats={0: "5"}, stack="L")
    play(state, draw(5))
    assert legal(state) == [place_drawn("L", 0), place_drawn("L", 2), place_drawn("L", 3)]


def test_kv14_ignoring_a_dog() -> None:
    state = position(cats={0: "4"}, stack="L D F")
    assert play(state, REVEAL, REVEAL) == [Revealed(bait("L")), DogPending()]
    assert legal(state) == [ignore(4), ACCEPT]
    twin = state.copy()
    assert play(state, ignore(4)) == [DogIgnored(4)]
    assert (collected(state), discard(state), phase(state)) == ("L", "D", "revealing")
    assert is_used(state, 0, 4)
    play(state, REVEAL)
    assert collected(state) == "L F"
    assert play(twin, ACCEPT) == [Bust(baits("L"))]
    assert (discard(twin), phase(twin), is_used(twin, 0, 4)) == ("L D", "after", False)


def test_kv14_kr02_a_dog_as_first_card_asks_nothing() -> None:
    state = position(cats={0: "4"}, stack="D L")
    assert play(state, REVEAL) == [DogDiscarded(), Revealed(bait("L"))]
    assert not is_used(state, 0, 4)


def test_kv15_an_empty_arrow_field_comes_first() -> None:
    state = position("-|F - -", stack="L P")
    play(state, REVEAL, REVEAL, STOP)
    assert legal(state) == [place("L", 0), place("P", 0)]
    play(state, place("P", 0))
    assert legal(state) == [place("L", 1), place("L", 2), place("L", 3), FINISH]
    play(state, FINISH)
    assert (pillow(state, 0), discard(state)) == ("P|F - -", "L")


def test_kv15_equal_cards_are_one_action() -> None:
    state = position("F|- - -", stack="L L")
    play(state, REVEAL, REVEAL, STOP)
    assert legal(state) == [*(place("L", field) for field in range(4)), FINISH]


def after_collecting(state: State) -> State:
    """Ends the turn of a player who has collected one card and kept nothing new."""
    play(state, REVEAL, STOP, FINISH, END)
    return state


def test_kv16_a_neutral_pillow_between_two_players() -> None:
    state = position("F|- - -", "-|L - -", "M|- - -", "Y|- - -", seats=2, stack="M D P F")
    play(state, REVEAL, STOP, FINISH)
    events = play(state, END)
    assert events == [TurnEnded(0), DogDiscarded(), NeutralCard(1, 0, bait("P")), TurnStarted(1, 1)]
    assert (discard(state), pillow(state, 1), pillow(state, 3)) == ("M D", "P|L - -", "Y|- - -")


def test_kv16_the_second_player_feeds_the_other_one() -> None:
    state = position("F|- - -", "-|L - -", "M|- - -", "M|- - -", seats=2, turn=1, stack="L F")
    after_collecting(state)
    assert (pillow(state, 1), pillow(state, 3), state.round) == ("-|L - -", "M|F - -", 2)


def test_kv16_no_card_is_taken_for_a_full_pillow() -> None:
    state = position("F|- - -", "P|L M Y", "M|- - -", seats=2, stack="M D")
    after_collecting(state)
    assert state.bait[state.bait_taken] == DOG
    assert (state.turn, phase(state), discard(state)) == (1, "start", "M")


def test_kv16_three_players_have_one_neutral_pillow() -> None:
    state = position("F|- - -", "L|- - -", "M|- - -", "Y|- - -", seats=3, stack="L M Y F+L")
    assert NeutralCard not in types([*play(state, REVEAL, STOP, FINISH, END)])
    assert NeutralCard not in types([*play(state, REVEAL, STOP, FINISH, END)])
    play(state, REVEAL, STOP, FINISH, END)
    assert (pillow(state, 3), state.turn, state.round) == ("Y|F+L - -", 0, 2)


def test_four_players_have_no_neutral_pillow() -> None:
    state = position(*ARROWS)
    for _ in range(4):
        assert NeutralCard not in types(play(state, REVEAL, STOP, FINISH, END))


def test_kv17_the_round_is_completed() -> None:
    state = position(*ARROWS, seats=3, start_seat=1, turn=1, round=6, cats={1: "28 30 11"})
    assert state.points[1] == 10
    for player in (1, 2):
        assert rules.to_move(state) == (player,)
        after_collecting(state)
    assert rules.to_move(state) == (0,)
    assert types(play(state, REVEAL, STOP, FINISH, END)) == [Revealed, Stopped, Surplus, TurnEnded, Ended]
    assert (rules.to_move(state), state.round) == ((), 6)


@pytest.mark.parametrize(("target", "over"), [(10, True), (15, False)])
def test_kv17_the_last_player_of_a_round_ends_the_match(target: int, over: bool) -> None:
    state = position(
        "F|L Y -",
        seats=3,
        start_seat=1,
        round=6,
        yard="24 1 2 3",
        cats={0: "28 11"},
        options=Options(target=target),
    )
    play(state, lure(0, (0, 1, 2)), END)
    assert (state.points[0], state.over, state.round) == (10, over, 6 if over else 7)


@pytest.mark.parametrize(("points", "over"), [("28 30 5", False), ("28 30 11", True), ("28 30 26", True)])
def test_kv17_at_least_the_target_ends_the_match(points: str, over: bool) -> None:
    state = position(*ARROWS, turn=3, cats={2: points})
    after_collecting(state)
    assert state.over is over


@pytest.mark.parametrize(("round", "max_rounds", "over"), [(99, 100, False), (100, 100, True), (3, 3, True)])
def test_kv17_kr36_the_last_round_ends_the_match(round: int, max_rounds: int, over: bool) -> None:
    state = position(*ARROWS, turn=3, round=round, options=Options(max_rounds=max_rounds))
    after_collecting(state)
    assert state.over is over


def test_kv19_a_locked_arrow_field_can_be_filled() -> None:
    state = position("F|- - -", cats={0: "10 20"}, stack="L")
    assert legal_of(state, rules.PADLOCK) == [padlock(10), padlock(20)]
    assert play(state, padlock(10)) == [Padlocked(10, 0)]
    assert legal_of(state, rules.PADLOCK) == []
    play(state, REVEAL, STOP)
    assert place("L", 0) in legal(state)


def test_kv20_ranks_are_shared_without_a_tie_break() -> None:
    assert competition_ranks((12, 9, 12, 7)) == (1, 3, 1, 4)
    state = position(*ARROWS, turn=3, cats={0: "28 30 22", 1: "26 27 23", 2: "24 25 31", 3: "29 32 1"})
    after_collecting(state)
    outcome = rules.outcome(state)
    assert (outcome.scores, outcome.ranks) == ((12, 9, 12, 7), (1, 3, 1, 4))
    assert outcome.details[3] == "cats 29 (3), 32 (3), 1 (1)"


# rulings: the action of a turn


def test_kr01_kr23_a_turn_reveals_or_lures() -> None:
    state = position(*ARROWS, yard="1 2 3 4", cats={0: "5"})
    assert legal(state) == [REVEAL, lure(0, (0,)), swap(1), swap(2), swap(3), draw(5)]
    for action in (END, STOP, FINISH, lure(0)):
        with pytest.raises(IllegalActionError):
            play(state, action)


def test_kr03_there_is_no_stop_before_a_card_has_come() -> None:
    state = position(stack="D D D L")
    assert STOP not in legal(state)
    play(state, REVEAL)
    assert legal(state) == [REVEAL, STOP]


def test_kr04_a_bust_leaves_the_rest_of_the_turn() -> None:
    state = position(*ARROWS, stack="L D", cats={0: "8 10"})
    play(state, REVEAL, REVEAL)
    assert legal(state) == [swap(1), swap(2), swap(3), shift(8), padlock(10), END]


def test_kr05_a_card_can_always_be_revealed() -> None:
    """All pillows full, all other cards but the dogs in the discard, the dogs on top of the stack."""
    state = position(*["F+L|F+M F+Y F+P", "L+M|L+Y L+P M+Y", "M+P|Y+P F F", "F F F L"])
    state.bait = bytes((DOG,) * 10)
    left = [card for card in DECK if card != DOG]
    for card in (card for lying in state.pillows for card in lying):
        left.remove(card)
    state.bait_discard = bytes(left)
    events = play(state, REVEAL)
    assert types(events) == [DogDiscarded] * 10 + [BaitReshuffled] + types(events)[11:]
    assert types(events)[-1] is Revealed
    assert BaitReshuffled(39) in events


def test_kr06_cards_need_not_be_placed() -> None:
    state = position("F|- - -", stack="L M")
    play(state, REVEAL, REVEAL, STOP, FINISH)
    assert (pillow(state, 0), discard(state)) == ("F|- - -", "L M")


def test_kr07_finish_waits_for_the_arrow_field() -> None:
    state = position("-|F L M", stack="Y")
    play(state, REVEAL, STOP)
    assert legal(state) == [place("Y", 0)]


def test_kr08_a_field_takes_one_card_in_a_placing() -> None:
    state = position("F|- - -", stack="L M Y P F")
    play(state, *[REVEAL] * 5, STOP, place("L", 0))
    assert {action.where for action in legal_of(state, rules.PLACE)} == {1, 2, 3}
    events = play(state, place("M", 1), place("Y", 2), place("P", 3))
    assert types(events) == [Placed] * 3 + [Surplus]
    assert (phase(state), discard(state), state.placed) == ("after", "F F", 0)


def test_kr08_the_next_placing_can_use_all_fields_again() -> None:
    state = position("F|L M Y", stack="L", seats=2)
    play(state, REVEAL, STOP, place("L", 2), END)
    play(state, REVEAL, STOP)
    assert {action.where for action in legal_of(state, rules.PLACE)} == {0}
    play(state, legal(state)[0], END)
    play(state, REVEAL, STOP)
    assert {action.where for action in legal_of(state, rules.PLACE)} == {0, 1, 2, 3}


def test_kr09_kr17_any_card_can_be_replaced_even_a_locked_one() -> None:
    state = position("F|L M Y", cats={0: "10"}, stack="P")
    play(state, padlock(10), REVEAL, STOP)
    assert legal_of(state, rules.PLACE) == [place("P", field) for field in range(4)]
    play(state, place("P", 0))
    assert (pillow(state, 0), discard(state)) == ("P|L M Y", "F")


@pytest.mark.parametrize(
    ("actions", "now", "allowed"),
    [
        ((), "start", True),
        ((REVEAL,), "revealing", True),
        ((REVEAL, REVEAL), "dog", False),
        ((REVEAL, STOP), "placing", False),
        ((draw(5),), "drawn", False),
        ((lure(0, (0,)),), "luring", True),
        ((REVEAL, REVEAL, ACCEPT), "after", True),
        ((REVEAL, STOP, FINISH), "after", True),
    ],
)
def test_kr10_kr11_when_swaps_and_abilities_may_be_used(
    actions: tuple[Action, ...], now: str, allowed: bool
) -> None:
    state = position("F|F F -", *ARROWS[1:], yard="1 2 3 6", cats={0: "4 5 8"}, stack="L D")
    play(state, *actions)
    assert phase(state) == now
    # An arrow card that was paid cannot be swapped.
    swaps = allowed and bool(state.pillows[0][0] != bait("-"))
    assert (bool(legal_of(state, rules.SWAP)), shift(8) in legal(state)) == (swaps, allowed)


# rulings: swaps


def test_kr12_neutral_pillows_are_swapped_with_too() -> None:
    state = position(*ARROWS, seats=2)
    assert legal_of(state, rules.SWAP) == [swap(1), swap(2), swap(3)]
    play(state, swap(3))
    assert arrows(state) == "Y L M F"


def test_kr13_an_empty_arrow_field_has_nothing_to_take() -> None:
    assert legal_of(position("F|- - -", "-|L L L", *ARROWS[2:]), rules.SWAP) == [swap(2), swap(3)]


def test_kr14_each_pillow_once_a_turn_in_any_order() -> None:
    for order in permutations((1, 2, 3)):
        state = position(*ARROWS)
        play(state, *map(swap, order))
        assert legal_of(state, rules.SWAP) == []
        assert state.pillows[0][0] == baits("F L M Y")[order[-1]]


def test_kr14_the_next_turn_begins_anew() -> None:
    state = position(*ARROWS, seats=2)
    play(state, swap(1), swap(2), REVEAL, STOP, FINISH, END)
    assert legal_of(state, rules.SWAP) == [swap(0), swap(1), swap(3)]


def test_kr15_a_shift_does_not_give_swaps_back() -> None:
    state = position(*ARROWS, cats={0: "8"})
    play(state, swap(1), shift(8))
    assert legal_of(state, rules.SWAP) == [swap(2), swap(3)]


# rulings: padlocks and shifts


def test_kr16_a_locked_arrow_card_is_neither_swapped_nor_paid() -> None:
    state = position(*ARROWS, yard="1 6 2 3", cats={0: "10"}, seats=4)
    assert lure(0, (0,)) in legal(state)
    play(state, padlock(10))
    assert legal_of(state, rules.SWAP, rules.LURE) == []
    play(state, REVEAL, STOP, FINISH, END)
    for player in (1, 2, 3):
        assert state.turn == player
        assert swap(0) not in legal(state)
        assert state.locked == 1
        after_collecting(state)
    assert state.locked == 0
    assert lure(0, (0,)) in legal(state)


def test_kr16_the_padlock_ends_with_the_event_of_the_own_turn() -> None:
    state = position(*ARROWS, seats=2, turn=1, locked=(0, 2))
    assert play(state, REVEAL, STOP, FINISH, END)[-2:] == [TurnStarted(0, 2), Unlocked(0)]
    assert state.locked == 0b100


def test_kr16_plain_fields_of_a_locked_pillow_pay() -> None:
    state = position("F|F - -", yard="1 2 3 4", locked=(0,))
    assert legal_of(state, rules.LURE) == [lure(0, (1,))]


def test_kr18_an_empty_arrow_field_can_be_locked() -> None:
    state = position("-|- - -", cats={0: "10"})
    assert legal_of(state, rules.PADLOCK) == [padlock(10)]


@pytest.mark.parametrize(
    ("cat", "locked", "after"),
    [
        (8, (), "L M Y F"),
        (9, (), "Y F L M"),
        (8, (1,), "M L Y F"),
        (9, (1,), "Y L F M"),
        (18, (0, 2), "F Y M L"),
        (19, (3,), "M F L Y"),
    ],
)
def test_kr19_kr34_shifts_jump_over_locked_pillows(cat: int, locked: tuple[int, ...], after: str) -> None:
    """Right is against the order of turns: what lies on pillow 1 comes to pillow 0."""
    state = position(*ARROWS, cats={0: str(cat)}, locked=locked)
    (event,) = play(state, shift(cat))
    assert arrows(state) == after
    assert isinstance(event, Shifted)
    assert [after.split()[to] for to in event.to] == ["F", "L", "M", "Y"]
    assert is_used(state, 0, cat)


def test_kr19_whole_pillows_move_and_neutral_ones_too_but_no_collected_card() -> None:
    state = position("F|- - -", "L|M - Y", seats=2, cats={0: "8"}, stack="P")
    play(state, REVEAL, shift(8))
    assert [pillow(state, number) for number in range(4)] == ["L|M - Y", "-|- - -", "-|- - -", "F|- - -"]
    assert collected(state) == "P"


@pytest.mark.parametrize(
    ("locked", "shifts"), [((0, 1), 2), ((1, 2, 3), 0), ((0, 1, 2, 3), 0), ((0, 1, 3), 0)]
)
def test_kr19_a_shift_needs_two_unlocked_pillows(locked: tuple[int, ...], shifts: int) -> None:
    state = position(*ARROWS, cats={0: "8 9"}, locked=locked)
    assert len(legal_of(state, rules.SHIFT)) == shifts


# rulings: stacks that run out


def test_kr20_bait_is_reshuffled_only_when_a_card_is_needed() -> None:
    state = position("F|- - -", stack="L", rest="discard")
    words = state.chance.used
    assert types(play(state, REVEAL)) == [Revealed]
    assert (state.bait_taken, state.chance.used) == (1, words)
    expected = list(DECK)
    for card in baits("F L"):
        expected.remove(card)
    Chance(SEED, words).shuffle(expected)
    events = play(state, REVEAL)
    assert events[0] == BaitReshuffled(53)
    assert (state.bait, state.bait_taken) == (bytes(expected), 1)
    assert collected(state).startswith("L")
    assert discard(state) == ""


def test_kr20_drawn_cards_are_not_reshuffled() -> None:
    state = position("-|- - -", cats={0: "17"}, stack="L", rest="discard")
    play(state, draw(17))
    left = len(DECK) - 1  # all but the first drawn card
    assert len(state.bait) == left
    assert state.bait.count(bait("L")) == COPIES[bait("L")] - 1


def test_kr20_a_given_reshuffle_draws_nothing() -> None:
    order = tuple(reversed(DECK))
    state = position("F|- - -", rest="discard")
    state.later_bait, words = (order,), state.chance.used
    play(state, REVEAL)
    assert tuple(state.bait) == order[:-1]
    assert (state.bait_taken, state.chance.used) == (11, words)
    assert not state.later_bait


def test_kr21_cats_are_reshuffled_when_one_is_needed() -> None:
    state = position("F|L - -", yard="1 2 3 4", cat_rest="discard")
    words = state.chance.used
    expected = list(range(5, 33))
    Chance(SEED, words).shuffle(expected)
    events = play(state, lure(1, (1,)))
    assert events == [Lured(1, 2, 2, 0), CatsReshuffled(28), YardFilled(1, expected[0])]
    assert (state.cats, state.cats_taken, state.cat_discard) == (bytes(expected), 1, 0)


def test_kr21_a_given_reshuffle_draws_nothing() -> None:
    state = position("F|L - -", yard="1 2 3 4", cat_rest="discard")
    state.later_cats, words = (tuple(reversed(CAT_IDS)),), state.chance.used
    play(state, lure(1, (1,)))
    assert state.yard == [1, 32, 3, 4]
    assert state.chance.used == words
    assert not state.later_cats


def test_kr21_without_any_cat_the_slot_stays_empty() -> None:
    state = position("F|L - -", yard="1 2 3 4", cat_stack="5")
    state.cats = bytes((5,))
    play(state, lure(0, (0,)), lure(1, (1,)))
    assert state.yard == [5, 0, 3, 4]
    assert state.top_cat == 0
    assert legal_of(state, rules.CHANGE_YARD) == [
        yard(1, 0),
        yard(1, 2),
        yard(1, 3),
        *(yard(2, *slots) for slots in ((0, 2), (0, 3), (2, 3))),
    ]


def test_kr22_a_cat_that_was_just_discarded_can_come_back() -> None:
    state = position(yard="5 7 8 9", cats={0: "1"})
    state.cats = b""
    events = play(state, yard(1, 2))
    assert events == [YardDiscarded(1, 0b100, (8,)), CatsReshuffled(1), YardFilled(2, 8)]
    assert state.yard == [5, 7, 8, 9]


# rulings: luring


def test_kr24_no_more_is_paid_than_the_cost() -> None:
    state = position("F|F+L F -", yard="1 22 23 24")
    assert legal_of(state, rules.LURE) == [lure(0, (0,)), lure(0, (1,)), lure(0, (2,))]


def test_kr25_substitutes_pay_in_place_of_cards() -> None:
    state = position("F|Y - -", yard="20 1 26 2", cats={0: "7 11 21 32"}, used="21")
    assert legal_of(state, rules.LURE) == [
        # 20 costs Y and P: cat 7 shows both, cat 11 Y
        lure(0, (1,), (7,)),
        lure(0, (), (7, 11)),
        # 1 costs F: cat 32 shows it
        lure(1, (0,)),
        lure(1, (), (32,)),
        # 26 costs F, M and Y: cat 11 shows M and Y
        lure(2, (0, 1), (11,)),
        lure(2, (0,), (7, 11)),
        lure(2, (1,), (11, 32)),
        lure(2, (), (7, 11, 32)),
        # 2 costs L: cat 32 shows it
        lure(3, (), (32,)),
    ]
    play(state, lure(2, (), (7, 11, 32)))
    assert state.points[0] == 1 + 2 + 2 + 3 + 3
    assert all(is_used(state, 0, cat) for cat in (7, 11, 32))
    assert (pillow(state, 0), discard(state)) == ("F|Y - -", "")


def test_kr25_a_substitute_counts_once_in_a_payment() -> None:
    assert legal_of(position(yard="20 21 1 3", cats={0: "7"}), rules.LURE) == []


def test_kr26_a_cat_lured_now_can_pay_for_the_next() -> None:
    state = position("L|- - -", yard="7 4 8 9", seats=2)
    play(state, lure(0, (0,)))
    assert legal_of(state, rules.LURE) == [lure(1, (), (7,)), lure(3, (), (7,))]


def test_kr26_the_cat_that_fills_the_yard_can_be_lured_at_once() -> None:
    state = position("F|L - -", yard="1 3 4 5", cat_stack="2")
    play(state, lure(0, (0,)))
    assert legal_of(state, rules.LURE) == [lure(0, (1,))]


def test_kr27_abilities_without_effect_are_not_offered() -> None:
    state = position("F|L M Y", yard="0 0 0 0", cats={0: "1 2 3 5 17 8 9 10"}, locked=(0, 1, 2))
    state.cats = b""
    assert legal(state) == [REVEAL]


def test_kr27_drawing_needs_a_card_that_is_no_dog() -> None:
    state = position("F|- - -", "F+L|F+M F+Y F+P", "L+M|L+Y L+P M+Y", "M+P|Y+P F+L+M F+L+Y", cats={0: "5"})
    held = [card for card in state.bait if card != DOG]
    state.collected, state.phase = bytes(held), rules.REVEALING
    state.bait = bytes((DOG,) * 10)
    assert legal_of(state, rules.DRAW, rules.REVEAL) == [REVEAL]
    state.collected, state.bait = bytes(held[1:]), bytes((*state.bait, held[0]))
    assert draw(5) in legal(state)


def test_kr29_fewer_cards_are_drawn_if_there_are_no_more() -> None:
    state = position("F|- - -", cats={0: "17"})
    held = [card for card in state.bait if card != DOG]
    state.collected, state.phase = bytes(held[1:]), rules.REVEALING
    state.bait = bytes((DOG, held[0], *(DOG,) * 9))
    assert play(state, draw(17)) == [DogDiscarded(), Drawn(17, (held[0],))]
    assert len(legal(state)) == 3
    play(state, legal(state)[0])
    assert phase(state) == "revealing"


def test_kr28_kr29_drawn_cards_must_be_placed_while_there_is_room() -> None:
    state = position("-|- F F", cats={0: "17"}, stack="L P")
    play(state, draw(17))
    assert legal(state) == [place_drawn(card, field) for card in "LP" for field in (0, 1)]
    play(state, place_drawn("P", 1))
    assert legal(state) == [place_drawn("L", 0)]
    play(state, place_drawn("L", 0))
    assert (pillow(state, 0), phase(state)) == ("L|P F F", "start")


# rulings: neutral pillows, what is public, counting


def test_kr30_two_players_sit_opposite() -> None:
    state = position("F|- - -", "L|- - -", "M|- - -", "Y|- - -", seats=2, turn=1, stack="P")
    play(state, REVEAL, STOP, place("P", 1))
    assert pillow(state, 2) == "M|P - -"


def test_kr31_the_points_of_the_top_cat_are_shown() -> None:
    state = position(yard="1 2 3 4", cat_stack="28 5")
    assert KOTKI.view(state, 0).top_cat_points == 4
    state.cats = b""
    assert KOTKI.view(state, None).top_cat_points == 0


def test_kr31_other_stacks_keep_the_points_of_the_top_cat() -> None:
    state, rng = position(yard="1 2 3 4", cat_stack="17"), Random(1)
    view = KOTKI.view(state, 0)
    tops = {KOTKI.imagine(view, (), rng).top_cat for _ in range(300)}
    assert tops == {cat for cat in range(5, 33) if CATS[cat].points == 2}
    deal = deal_of(cats=(1, 2, 3, 4, *state.cats))
    started, _ = rules.start(4, Options(), deal, Chance(SEED))
    tops = {KOTKI.redeal(deal, started, 0, rng).cats[4] for _ in range(300)}
    assert tops == {cat for cat in range(5, 33) if CATS[cat].points == 2}


@pytest.mark.parametrize(
    ("neutral", "after"),
    [
        ("-|- - -", "P|- - -"),
        ("-|L - L", "P|L - L"),
        ("F|- - -", "F|P - -"),
        ("F|L - -", "F|L P -"),
        ("F|L M -", "F|L M P"),
    ],
)
def test_kr32_the_arrow_field_first_then_the_lowest_free_one(neutral: str, after: str) -> None:
    state = position("F|- - -", neutral, "M|- - -", seats=2, stack="M P")
    after_collecting(state)
    assert pillow(state, 1) == after


def test_kr32_not_after_the_last_turn() -> None:
    state = position("F|- - -", "L|- - -", "M|- - -", "-|- - -", seats=2, turn=1, cats={0: "28 30 22"})
    assert NeutralCard not in types(play(state, REVEAL, STOP, FINISH, END))
    assert pillow(state, 3) == "-|- - -"


def test_kr33_as_many_cats_as_there_are() -> None:
    state = position(yard="0 0 7 0", cats={0: "1 2 3"})
    state.cats = b""
    assert legal_of(state, rules.CHANGE_YARD) == [yard(1, 2), yard(2, 2), yard(3, 2)]


def test_yard_abilities_in_canonical_order() -> None:
    state = position(yard="5 7 8 9", cats={0: "13 3 12 2 1"})
    pairs = list(combinations(range(4), 2))
    assert legal_of(state, rules.CHANGE_YARD) == [
        *(yard(cat, slot) for cat in (1, 12) for slot in range(4)),
        *(yard(cat, *slots) for cat in (2, 13) for slots in pairs),
        yard(3, 0, 1, 2, 3),
    ]


def test_all_of_the_yard_is_discarded_before_it_is_filled() -> None:
    state = position(yard="5 7 8 9", cats={0: "3"}, cat_stack="20 21 22 23")
    events = play(state, yard(3, 0, 1, 2, 3))
    assert events == [
        YardDiscarded(3, 15, (5, 7, 8, 9)),
        *(YardFilled(slot, cat) for slot, cat in enumerate((20, 21, 22, 23))),
    ]
    assert state.cat_discard == 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9


def test_kr35_the_highest_total_wins_whoever_had_the_target_first() -> None:
    state = position(*ARROWS, turn=3, cats={0: "28 30 11", 2: "22 24 25"})
    after_collecting(state)
    assert rules.outcome(state).ranks == (2, 3, 1, 3)


def test_kr37_one_cat_for_each_dog() -> None:
    state = position(cats={0: "26 4"}, stack="L D D F")
    play(state, REVEAL, REVEAL)
    assert legal(state) == [ignore(4), ignore(26), ACCEPT]
    play(state, ignore(26), REVEAL)
    assert legal(state) == [ignore(4), ACCEPT]
    play(state, ignore(4), REVEAL)
    assert (collected(state), discard(state)) == ("L F", "D D")


def test_kr37_the_dog_of_another_player_is_not_ignored() -> None:
    state = position(cats={1: "4"}, stack="L D")
    assert types(play(state, REVEAL, REVEAL)) == [Revealed, Bust]


def test_kr38_drawn_cards_are_not_lost_to_a_dog() -> None:
    state = position("F|- - -", cats={0: "5"}, stack="L M D")
    play(state, REVEAL, draw(5), place_drawn("M", 1), REVEAL)
    assert (pillow(state, 0), discard(state)) == ("F|M - -", "L D")


def test_kr39_five_cats_in_one_turn() -> None:
    state = position("F|L M Y", yard="1 2 3 4", cat_stack="5 10 6 7", cats={0: "16"}, stack="P")
    play(state, lure(0, (0,)), lure(1, (1,)), lure(2, (2,)), lure(3, (3,)))
    play(state, draw(16), place_drawn("P", 0), lure(0, (0,)))
    assert tuple(state.captured[0]) == (16, 1, 2, 3, 4, 5)


# material, setup, deals


def test_p2_p3_what_is_in_the_box() -> None:
    assert len(DECK) == 55
    assert DECK.count(DOG) == 10
    assert [sum(SHOWS[card] >> symbol & 1 for card in DECK) for symbol in range(5)] == [15] * 5
    assert [COPIES[card] for card in range(DOG + 1)] == [5] * 5 + [1] * 20 + [10]
    assert list(CAT_IDS) == list(range(1, 33))
    assert sum(cat.points for cat in CATS.values()) == 71
    assert [sum(cat.cost >> symbol & 1 for cat in CATS.values()) for symbol in range(5)] == [13] * 5
    assert [sum(cat.cost.bit_count() == size for cat in CATS.values()) for size in (1, 2, 3)] == [10, 11, 11]
    assert {ability: len(cats) for ability, cats in components.WITH_ABILITY.items()} == {
        "yard_1": 4,
        "yard_2": 3,
        "yard_all": 3,
        "draw_1": 3,
        "draw_2": 2,
        "shift_right": 3,
        "shift_left": 3,
        "padlock": 3,
        "ignore_dog": 3,
        "substitute": 5,
    }


def test_p3_points_follow_from_cost_and_ability() -> None:
    brings_no_card = ("yard_1", "yard_2", "yard_all", "shift_right", "shift_left", "padlock")
    for cat in CATS.values():
        size = cat.cost.bit_count()
        assert cat.points == size + (size == 3 and cat.ability in brings_no_card)
        assert cat.shows.bit_count() == (2 if cat.ability == "substitute" else 0)
        assert (cat.ability, size) != ("draw_2", 1)


def test_p2_bait_order() -> None:
    names = components.BAIT_NAMES
    assert names[:6] == ("food", "milk", "mouse", "yarn", "spider", "food+milk")
    assert names[14:17] == ("yarn+spider", "food+milk+mouse", "food+milk+yarn")
    assert names[DOG - 1 : DOG + 1] == ("mouse+yarn+spider", "dog")


def test_p3_the_table_of_the_rules_is_that_of_the_box() -> None:
    written = Path(rules.__file__).with_name("RULES.md").read_text("utf-8").split("| cat | cost |")[1]
    rows = [line.strip("| ").split(" | ") for line in written.splitlines()[2:]]
    box = tomllib.loads(Path(rules.__file__).with_name("components.toml").read_text("utf-8"))["cats"]
    assert [[number, face[0], str(face[1]), face[2]] for number, face in box.items()] == rows


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("seed", seeds())
def test_p6_what_is_drawn_in_which_order(seats: int, seed: bytes) -> None:
    chance = Chance(seed)
    start_seat = chance.below(seats)
    stack, arrow_of, dogs = list(DECK), {}, [0] * 4
    chance.shuffle(stack)
    first = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}[seats][start_seat]
    for number in range(first, first + 4):
        while stack[0] == DOG:
            chance.shuffle(stack)
            dogs[number % 4] += 1
        arrow_of[number % 4] = stack.pop(0)
    cats = list(range(1, 33))
    chance.shuffle(cats)
    drawn = Chance(seed)
    deal = rules.deal(seats, Options(), drawn)
    arrow_cards = tuple(arrow_of[number] for number in range(4))
    assert deal == Deal(start_seat, arrow_cards, tuple(stack), tuple(cats), tuple(dogs))
    assert drawn.used == chance.used
    state, events = rules.start(seats, Options(), deal, drawn)
    assert events == [
        Started(seats, start_seat, deal.arrows, tuple(dogs), tuple(cats[:4])),
        TurnStarted(start_seat, 1),
    ]
    assert (state.yard, state.top_cat, state.chance.used) == (cats[:4], cats[4], chance.used)
    assert [lying[0] for lying in state.pillows] == list(arrow_cards)


def test_p6_some_deals_shuffle_dogs_back() -> None:
    deals = [rules.deal(4, Options(), Chance(seed)) for seed in seeds()]
    assert any(sum(deal.setup_dogs) > 1 for deal in deals)
    assert {deal.start_seat for deal in deals} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "changes",
    [
        {"start_seat": 3},
        {"start_seat": -1},
        {"arrows": (0, 0, 0)},
        {"arrows": (0, 0, 0, DOG), "bait": (0, *DECK[4:-1])},
        {"bait": DECK[5:]},
        {"bait": DECK},
        {"cats": CAT_IDS[1:]},
        {"cats": (1, *CAT_IDS[:-1])},
        {"setup_dogs": (0, 0)},
        {"later_bait": (DECK[1:],)},
        {"later_bait": (DECK, ())},
        {"later_cats": (CAT_IDS[1:],)},
    ],
)
def test_p6_a_given_deal_must_fit(changes: dict[str, object]) -> None:
    with pytest.raises(GameError, match=r"given.*\(P[236]\)"):
        rules.start(3, Options(), deal_of(**changes), Chance(SEED))


@pytest.mark.parametrize("seats", [1, 5])
def test_p1_numbers_of_players_that_cannot_be(seats: int) -> None:
    with pytest.raises(PlayersError, match=f"2 to 4 players, not {seats}"):
        rules.deal(seats, Options(), Chance(SEED))
    with pytest.raises(PlayersError):
        rules.start(seats, Options(), deal_of(), Chance(SEED))


def test_p6_a_match_leaves_the_given_stream_alone() -> None:
    chance = Chance(SEED)
    deal = rules.deal(2, Options(), chance)
    used = chance.used
    state, _ = rules.start(2, Options(), deal, chance)
    rng = Random(1)
    while rules.to_move(state):
        play(state, rng.choice(legal(state)))
    assert state.bait_shuffled
    assert (chance.used, state.chance.used > used) == (used, True)


def test_reshuffles_that_are_given_replay_a_match() -> None:
    """What was drawn can be given: a match from its stacks as data is the same, and draws nothing."""
    chance = Chance(SEED)
    deal = rules.deal(3, Options(target=15), chance)
    state, _ = rules.start(3, Options(target=15), deal, chance)
    rng, moves = Random(3), []
    while rules.to_move(state):
        moves.append(rng.choice(legal(state)))
        play(state, moves[-1])
    other = KOTKI.redeal(deal, state, 0, Random(4))
    again, _ = rules.start(3, Options(target=15), other, chance)
    play(again, *moves)
    assert (again.chance.used, len(again.bait_shuffled)) == (chance.used, len(state.bait_shuffled))
    assert again.bait_shuffled[:-1] == state.bait_shuffled[:-1]
    assert (again.points, again.pillows) == (state.points, state.pillows)
    assert rules.outcome(again) == rules.outcome(state)


# what is not legal


@pytest.mark.parametrize(
    "action",
    [
        Action(-1),
        Action(14),
        Action(rules.LURE, 4, 1),
        Action(rules.LURE, -1, 1),
        Action(rules.LURE, 0, 3),
        Action(rules.LURE, 0, 1, 1 << 7),
        Action(rules.SWAP, 0),
        Action(rules.SWAP, 4),
        Action(rules.REVEAL, 1),
        Action(rules.REVEAL, 0, 1),
        Action(rules.DRAW, 1),
        Action(rules.CHANGE_YARD, 1, 16),
        Action(rules.CHANGE_YARD, 1, 3),
        Action(rules.CHANGE_YARD, 6, 1),
        Action(rules.IGNORE_DOG, 4),
        place("F", 0),
        place_drawn("F", 1),
        FINISH,
        STOP,
        END,
        (rules.REVEAL, 0, 0, 0),
        None,
    ],
)
def test_p8_what_is_not_legal_is_refused(action: Action) -> None:
    state = position(*ARROWS, yard="6 5 7 8", cats={0: "1 4"})
    before = state.copy()
    with pytest.raises(IllegalActionError, match=r"legal are Action\(kind=0"):
        rules.apply(state, {0: action})
    assert state == before


def test_p7_nobody_moves_once_the_match_is_over() -> None:
    state = position(*ARROWS, turn=3, cats={0: "28 30 11"})
    after_collecting(state)
    with pytest.raises(IllegalActionError, match="nobody: the match is over"):
        rules.apply(state, {3: END})


def test_p7_only_the_player_to_move_acts() -> None:
    with pytest.raises(IllegalActionError, match="to move is player 0 alone"):
        rules.apply(position(*ARROWS), {1: REVEAL})


# sizes


@pytest.mark.parametrize(
    ("seats", "max_rounds", "bound"), [(4, 100, 23674), (2, 100, 11874), (3, 1, 251), (4, 7, 1726)]
)
def test_p23_how_many_decisions_a_match_can_take(seats: int, max_rounds: int, bound: int) -> None:
    assert rules.decision_bound(seats, Options(max_rounds=max_rounds)) == bound


def test_p23_a_match_of_few_decisions() -> None:
    """Nobody lures; everybody reveals one card, finishes and ends the turn: four decisions a turn."""
    state, decisions = position(*ARROWS, options=Options(max_rounds=5)), 0
    while rules.to_move(state):
        play(state, {"start": REVEAL, "revealing": STOP, "placing": FINISH, "after": END}[phase(state)])
        decisions += 1
    assert decisions == 5 * 4 * 4
    assert rules.outcome(state).ranks == (1, 1, 1, 1)
    assert rules.outcome(state).details == ("no cats",) * 4


def test_p23_most_cards_revealed_in_a_turn() -> None:
    """Empty pillows, and the dogs come last: 45 cards, three ignored dogs and the one that costs."""
    others = [card for card in DECK if card != DOG]
    state = position(cats={0: "4 15 26"}, stack=f"{baits_text(others)} D D D D")
    play(state, *[REVEAL] * 45)
    for cat in (4, 15, 26):
        play(state, REVEAL, ignore(cat))
    assert types(play(state, REVEAL)) == [Bust]
    assert phase(state) == "after"


@settings(max_examples=30)
@given(
    seats=st.sampled_from(rules.SEATS),
    seed=st.binary(min_size=32, max_size=32),
    choices=st.integers(0, 2**32),
)
def test_p23_bounds_of_a_turn_and_of_a_match(seats: int, seed: bytes, choices: int) -> None:
    """What a match allows only so often is counted by itself; the rest of each turn is short."""
    rng, chance, options = Random(choices), Chance(seed), Options(max_rounds=12)
    state, _ = rules.start(seats, options, rules.deal(seats, options, chance), chance)
    abilities = (rules.CHANGE_YARD, rules.DRAW, rules.SHIFT, rules.PADLOCK)
    beside = (rules.LURE, rules.PLACE_DRAWN, rules.IGNORE_DOG, *abilities)
    of_turn, of_match = 0, Counter[int]()
    while rules.to_move(state):
        action = rng.choice(legal(state))
        play(state, action)
        if action.kind in beside:
            of_match[action.kind] += 1
        of_turn = 0 if action == END else of_turn + (action.kind not in beside)
        assert of_turn < rules.MOST_IN_A_TURN
    assert of_match.total() <= rules.MOST_BESIDE
    assert of_match[rules.LURE] <= len(CAT_IDS)
    assert of_match[rules.PLACE_DRAWN] <= 3 + 2 * 2
    assert of_match[rules.IGNORE_DOG] <= 3


def test_p23_most_lures_of_one_slot() -> None:
    """Four cards and five substitutes, of which any three can pay: 4 x C(9, 3) at most."""
    state = position("F+L+M|F+L+Y F+L+P F+M+Y", yard="22 23 24 25", cats={0: "7 11 21 29 32"})
    lures = legal_of(state, rules.LURE)
    assert 0 < len(lures) <= 4 * 84
    assert lures == sorted(lures, key=lambda action: action.number)


def test_payments_of_all_small_pillows() -> None:
    """Whether sources pay a cost, told by matching one by one, for all pairs and threes of sources."""
    for size in (1, 2, 3):
        costs = [sum(1 << symbol for symbol in chosen) for chosen in combinations(range(5), size)]
        for cost, sources in product(costs, combinations(SHOWS[:DOG], size)):
            assert rules.pays(cost, sources) == assigned(cost, sources)


def test_a_copy_shares_nothing_that_changes() -> None:
    state = position(*ARROWS, yard="1 5 7 8", cats={0: "2 9 10 16"}, rest="discard")
    before, twin = state.copy(), state.copy()
    assert twin == state
    play(twin, yard(2, 0, 1), shift(9), padlock(10), draw(16))
    assert state == before
    assert twin != state


def test_every_kind_of_action_reads_differently() -> None:
    made = [REVEAL, STOP, ignore(4), ACCEPT, place("F", 1), FINISH, lure(0, (1,), (7,)), swap(1), yard(1, 2)]
    made += [draw(5), shift(8), padlock(10), place_drawn("F", 1), END]
    assert sorted(action.kind for action in made) == list(range(14))
    assert len({text.action_text(action) for action in made}) == 14
