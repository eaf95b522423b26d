"""The house bots at Kamozza: legal everywhere, repeatable, and each stronger than the one below it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from botarena.v1.game_pb2 import GameTurn

from arena.games import find_game
from arena.games.kamozza import rules
from arena.games.kamozza.rules import CAT_SHIP, TYPHOON, Options, State
from bots.first.main import FirstBot
from bots.greedy.kamozza import worth
from bots.greedy.main import GreedyBot
from bots.random.main import RandomBot
from bots.search import kamozza as known
from bots.search import main as search
from bots.search.main import SearchBot
from tests.bots_house.playing import NewBot, mean_ranks, play
from tests.games.kamozza.positions import BASE, VARIANT, load, play_cargo, play_round, started
from tests.games.option_sets import OptionSet
from tests.games.table import Table, case, random_moves

KAMOZZA = find_game("kamozza")
BOTS: Sequence[NewBot] = (RandomBot, FirstBot, GreedyBot, SearchBot)
BONUS: OptionSet = {"mode": "variant", "typhoon": "true", "cat_ship": "true", "table_talk": "true"}
OPTIONS: Sequence[OptionSet] = ({}, {"mode": "variant"}, BONUS)

every_bot = pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.__name__)
every_option = pytest.mark.parametrize("options", OPTIONS)


@every_bot
@pytest.mark.parametrize("options", [{}, BONUS])
@pytest.mark.parametrize("seats", KAMOZZA.seats)
def test_every_choice_is_legal_and_repeats_itself(bot: NewBot, seats: int, options: OptionSet) -> None:
    seating = [bot, RandomBot, *[bot] * (seats - 2)]
    first, second = (play(case("kamozza", seats, options), seating, bytes(range(32))) for _ in range(2))
    assert len(first.outcome().ranks) == seats
    assert first.digest() == second.digest()


@every_option
def test_greedy_beats_first_and_random(options: OptionSet) -> None:
    ranks = mean_ranks(case("kamozza", 3, options), [GreedyBot, FirstBot, RandomBot], deals=12)
    assert ranks["GreedyBot"] < 1.5
    assert ranks["GreedyBot"] + 0.4 < min(ranks["FirstBot"], ranks["RandomBot"])


@pytest.mark.parametrize(("options", "deals"), [(OPTIONS[0], 3), (OPTIONS[1], 2)])
def test_search_beats_greedy(options: OptionSet, deals: int) -> None:
    seating = [SearchBot, GreedyBot, RandomBot, FirstBot]
    ranks = mean_ranks(case("kamozza", 4, options), seating, deals)
    assert ranks["SearchBot"] + 0.2 < ranks["GreedyBot"]
    assert ranks["SearchBot"] + 0.8 < min(ranks["RandomBot"], ranks["FirstBot"])


@every_option
@pytest.mark.parametrize("seats", KAMOZZA.seats)
def test_what_search_knows_judges_every_position_for_every_seat(seats: int, options: OptionSet) -> None:
    knowledge, rng = search.knowledge_of("kamozza"), Random(1)
    state = Table(case("kamozza", seats, options), bytes(32)).state
    assert knowledge.prospects is not None
    while KAMOZZA.to_move(state):
        before = KAMOZZA.view(state, None)
        assert len(knowledge.prospects(state)) == len(knowledge.playout(state.copy(), rng)) == seats
        assert KAMOZZA.view(state, None) == before
        KAMOZZA.apply(state, random_moves(KAMOZZA, state, rng))


def liked_best(state: State, seat: int) -> str:
    """What greedy likes best, in words."""
    actions = KAMOZZA.actions(state, seat)
    turn = GameTurn.FromString(KAMOZZA.turn_bytes(state, seat, actions, ()))
    worths = [worth(turn.kamozza.view, seat, action) for action in turn.kamozza.actions]
    return KAMOZZA.action_text(actions[worths.index(max(worths))])


def last_round(hands: Sequence[str], a: int, b: int, options: Options = BASE) -> State:
    """The last round of a match for 4 with given hands."""
    state = started(4, options, [8] * 4 + [a], [45] * 4 + [b])
    rounds = state.rounds
    for value in rules.VALUES[: rounds - 1]:
        play_round(state, f"{value}A " * 4)
    if rounds == 4:
        state.deal = rules.Deal(0, ((8, 8, 8, a), (45, 45, 45, b)))
    state.hands = [load(hand).cards for hand in hands]
    return state


def test_greedy_plays_all_that_it_has_in_the_last_round() -> None:
    state = last_round(["1", "1", "1", "5+7"], 45, 45)
    assert liked_best(state, 3) == "load 5 and 7"


def test_greedy_keeps_a_card_for_every_round() -> None:
    state = started(4)
    play_round(state, "1A 1A 1A 1A")
    state.hands[1] = load("3+5+7").cards
    assert liked_best(state, 1) in ("load 3", "load 5", "load 7")


def test_greedy_brings_heavy_cargo_to_the_large_ship() -> None:
    state = last_round(["1", "1", "1", "20"], 8, 45)
    play_cargo(state, "1 1 1 20")
    assert liked_best(state, 3) == "port B"


def test_greedy_goes_where_there_is_room() -> None:
    state = last_round(["20", "20", "20", "3"], 8, 40)
    play_cargo(state, "20 20 20 3")
    assert liked_best(state, 3) == "port A"


def test_greedy_keeps_gold_from_rats() -> None:
    state = last_round(["1", "1", "1", "15+20"], 30, 30, VARIANT)
    state.hands[:3] = [load(hand).cards for hand in ("3+5", "5+7", "3+10")]
    assert liked_best(state, 3) == "load 20"
    state.hands[:3] = [load("1").cards] + [load("3").cards] * 2
    assert liked_best(state, 3) == "load 15"


@pytest.mark.parametrize(
    ("ship", "cards", "port"), [(TYPHOON, "3 7 5 20", "port B"), (CAT_SHIP, "1 7 5 20", "port A")]
)
def test_greedy_knows_bonus_ships(ship: int, cards: str, port: str) -> None:
    options = Options("variant", typhoon=True, cat_ship=True)
    state = started(4, options, [ship] * 5, [30] * 5)
    state.hands = [load(card).cards for card in cards.split()]
    play_cargo(state, cards)
    assert liked_best(state, 3) == port


@pytest.mark.parametrize("ship", [8, 20, 21, 30, 45, CAT_SHIP, TYPHOON])
def test_what_search_thinks_a_load_scores_is_what_it_scores(ship: int) -> None:
    rng = Random(ship)
    for _ in range(60):
        options, most = (VARIANT, 7) if ship < 1 or rng.random() < 0.5 else (BASE, 28)
        loads = [rng.choice(rules.ALL_LOADS[:most]) for _ in range(4)]
        state = started(4, options, [ship] * 5)
        while state.loading:
            rules.apply(state, {seat: loads[seat] for seat in state.movers})
        rules.apply(state, {seat: rules.Dock(rules.PORT_A) for seat in range(4)})
        score = known.score_of_one if options == VARIANT else known.score_of_cargo
        cards = [load.cards for load in loads]
        scores = [score(cards[seat], cards[:seat] + cards[seat + 1 :], ship) for seat in range(4)]
        assert scores == state.points
