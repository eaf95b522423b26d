"""The house bots at Combo Up: legal everywhere, repeatable, and stronger the more they know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from botarena.v1.combo_up_pb2 import ComboUpTurn
from botarena.v1.game_pb2 import GameTurn

from arena.games import find_game
from arena.games.chance import deal_seed
from arena.games.combo_up import rules
from arena.games.combo_up.rules import State
from bots.first.main import FirstBot
from bots.greedy.combo_up import prospects, worth
from bots.greedy.main import GreedyBot
from bots.random.main import RandomBot
from bots.search import main as search
from bots.search.main import SearchBot
from tests.bots_house.playing import NewBot, mean_ranks, play
from tests.games.combo_up.positions import act, cards, give, legal, position, solo, special
from tests.games.option_sets import OPTION_SETS, OptionSet
from tests.games.table import Table, case, random_moves

COMBO_UP = find_game("combo_up")
SEATS = (3, 4, 5)
CLASSIC = {"edition": "krass_kariert"}


@pytest.mark.parametrize("options", [{}, {**CLASSIC, "scoring": "true"}], ids=["default", "classic"])
@pytest.mark.parametrize("seats", SEATS)
def test_every_choice_of_greedy_is_legal(seats: int, options: OptionSet) -> None:
    bots: Sequence[NewBot] = [GreedyBot] * seats
    table = play(case("combo_up", seats, options), bots, bytes(range(32)))
    assert len(table.outcome().ranks) == seats


@pytest.mark.parametrize("seats", SEATS)
def test_every_choice_of_search_is_legal(seats: int) -> None:
    options = {"scoring": "true"} if seats == 4 else {}
    bots: Sequence[NewBot] = [RandomBot] * (seats - 1)
    table = play(case("combo_up", seats, options), [*bots, SearchBot], bytes(range(32)))
    assert len(table.outcome().ranks) == seats


@pytest.mark.parametrize("bot", [GreedyBot, SearchBot], ids=lambda bot: bot.__name__)
def test_a_match_repeats_itself_exactly(bot: NewBot) -> None:
    seating: Sequence[NewBot] = [RandomBot, FirstBot, bot]
    first, second = (play(case("combo_up", 3, CLASSIC), seating, bytes(32)) for _ in range(2))
    assert first.indexes == second.indexes
    assert first.digest() == second.digest()


def test_greedy_beats_first_and_random() -> None:
    ranks = mean_ranks(case("combo_up", 3, {}), [GreedyBot, FirstBot, RandomBot], deals=3)
    assert ranks["GreedyBot"] < 1.2
    assert ranks["GreedyBot"] + 0.15 < min(ranks["FirstBot"], ranks["RandomBot"])


def test_search_beats_first() -> None:
    """In every seat of two deals, between two that play the first action that there is."""
    ranks = []
    for deal in range(2):
        for seat in range(3):
            bots: list[NewBot] = [FirstBot] * 3
            bots[seat] = SearchBot
            table = play(case("combo_up", 3, CLASSIC), bots, deal_seed(bytes(32), "combo_up", deal))
            ranks.append(table.outcome().ranks[seat])
    assert ranks.count(1) >= 5


@pytest.mark.parametrize("options", OPTION_SETS["combo_up"])
def test_what_search_knows_of_combo_up_is_legal_play(options: Mapping[str, str]) -> None:
    """Playouts from every position of a random match end in a result for each seat."""
    rng, knowledge = Random(1), search.knowledge_of("combo_up")
    assert knowledge.prospects is not None
    state = Table(case("combo_up", 4, options), bytes(32)).state
    while COMBO_UP.to_move(state):
        future = state.copy()
        assert len(knowledge.playout(future, rng)) == 4
        assert len(knowledge.prospects(state)) == 4
        COMBO_UP.apply(state, random_moves(COMBO_UP, state, rng))
    assert len(knowledge.playout(state, rng)) == 4


def turn_of(state: State, seat: int) -> ComboUpTurn:
    turn = GameTurn.FromString(COMBO_UP.turn_bytes(state, seat, rules.actions(state, seat), ()))
    return turn.combo_up


def best(state: State, seat: int) -> str:
    """What greedy likes best, in words."""
    turn = turn_of(state, seat)
    worths = [worth(turn.view, seat, action) for action in turn.actions]
    return COMBO_UP.action_text(rules.actions(state, seat)[worths.index(max(worths))])


@pytest.mark.parametrize(
    ("led", "hand", "reserves", "liked"),
    [
        pytest.param("1", "3 9 6 7 1", "", "play card 0 as solo 3", id="a low card goes first"),
        pytest.param("2", "12 3 12 9 1", "", "play card 1 as solo 3", id="what parts two equal ones goes"),
        pytest.param("12", "8 8 D 1", "", "play cards 0 to 1 as pair 8", id="special cards last"),
        pytest.param("12", "8 1 8 4", "8 9", "take reserve 0 to place 0", id="a reserve that makes a pair"),
        pytest.param("12", "8 1 S 4", "", "play special card 2", id="no choice"),
    ],
)
def test_what_greedy_likes_best(led: str, hand: str, reserves: str, liked: str) -> None:
    state = position(f"{led} 1", hand, "9 9 4", reserves={1: reserves})
    solo(state, int(led))
    assert best(state, 1) == liked


def test_greedy_gives_what_it_can_spare_and_inserts_where_it_fits() -> None:
    state = position("P 7 7 1", "5 4", "7 9", reserves={})
    special(state, 0)
    assert best(state, 0) == "give card 2"
    give(state, 2, 0, 0)
    assert best(state, 0) == "insert at place 0"


def test_greedy_would_rather_not_win_a_round_with_three_draw() -> None:
    state = position("2 1", "D 8", "9 8 3", reserves={2: "3 5"}, pile="1 2 3")
    solo(state, 2)
    assert best(state, 1) in ("play special card 0", "play card 1 as solo 8")
    special(state, 0)
    assert best(state, 2).startswith("take reserve")


def test_greedy_values_few_turns_and_strong_ones() -> None:
    ascending = ["1 5 9", "1 5 12", "1 2 9", "1 1 9", "1 1 1", "12 12 12", ""]
    values = [prospects(cards(hand)) for hand in ascending]
    assert values == sorted(values)
    assert len(set(values)) == len(values)
    state = position("3 1", "4 4", "5 5")
    act(state, legal(state)[0])
    assert len(turn_of(state, 1).actions) == len(legal(state))
