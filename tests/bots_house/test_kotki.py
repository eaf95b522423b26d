"""The house bots at Kotki: legal with any number of seats, repeatable, and better than choosing blindly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest
from botarena.v1.game_pb2 import GameTurn

from arena.games import find_game
from arena.games.kotki.rules import Action, State
from bots.first.main import FirstBot
from bots.greedy.kotki import worth
from bots.greedy.main import GreedyBot
from bots.random.main import RandomBot
from bots.search import main as search
from bots.search.main import SearchBot
from tests.bots_house.playing import NewBot, mean_ranks, play
from tests.games.kotki.positions import (
    END,
    FINISH,
    REVEAL,
    STOP,
    draw,
    ignore,
    legal,
    lure,
    padlock,
    place,
    position,
    shift,
    swap,
    yard,
)
from tests.games.kotki.positions import play as play_on
from tests.games.option_sets import OptionSet
from tests.games.table import Table, case, random_moves

KOTKI = find_game("kotki")
SHORT: OptionSet = {"max_rounds": "4"}


@pytest.mark.parametrize("bot", [GreedyBot, SearchBot], ids=lambda bot: bot.__name__)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_choice_is_legal(bot: NewBot, seats: int) -> None:
    table = play(case("kotki", seats, SHORT), [bot] * seats, bytes(range(32)))
    assert len(table.outcome().ranks) == seats


@pytest.mark.parametrize("bot", [GreedyBot, SearchBot], ids=lambda bot: bot.__name__)
def test_a_match_repeats_itself_exactly(bot: NewBot) -> None:
    seating = [bot, RandomBot, bot]
    first, second = (play(case("kotki", 3, SHORT), seating, bytes(32)) for _ in range(2))
    assert first.indexes == second.indexes
    assert first.digest() == second.digest()


def test_greedy_beats_first_and_random() -> None:
    ranks = mean_ranks(case("kotki", 3, {}), [GreedyBot, FirstBot, RandomBot], deals=4)
    assert ranks["GreedyBot"] < 1.3
    assert ranks["GreedyBot"] + 0.5 < min(ranks["FirstBot"], ranks["RandomBot"])


def test_search_beats_first_and_random() -> None:
    ranks = mean_ranks(case("kotki", 3, {}), [SearchBot, FirstBot, RandomBot], deals=1)
    assert ranks["SearchBot"] < 1.4
    assert ranks["SearchBot"] + 0.5 < min(ranks["FirstBot"], ranks["RandomBot"])


@pytest.mark.parametrize("seats", [2, 4])
def test_what_search_knows_is_legal_play(seats: int) -> None:
    """Playouts from every position of a random match end in a result for each seat."""
    rng, knowledge = Random(1), search.knowledge_of("kotki")
    state = Table(case("kotki", seats, {}), bytes(32)).state
    while KOTKI.to_move(state):
        assert len(knowledge.playout(state.copy(), rng)) == seats
        KOTKI.apply(state, random_moves(KOTKI, state, rng))
    assert len(knowledge.playout(state, rng)) == seats


def best(state: State) -> Action:
    """What greedy does."""
    turn = GameTurn.FromString(KOTKI.turn_bytes(state, state.turn, legal(state), ())).kotki
    worths = [worth(turn.view, state.turn, action) for action in turn.actions]
    return legal(state)[worths.index(max(worths))]


def in_phase(state: State, *actions: Action) -> State:
    play_on(state, *actions)
    return state


@pytest.mark.parametrize(
    ("state", "action"),
    [
        pytest.param(
            lambda: position("F|L M -", yard="22 1 2 3", stack="F"), lure(0, (0, 1, 2)), id="the best cat"
        ),
        pytest.param(lambda: position("F|- - -", yard="20 21 31 10"), REVEAL, id="nothing can be paid"),
        pytest.param(
            lambda: position("F|F+L Y P", yard="1 20 22 23"), lure(0, (0,)), id="the rest for another cat"
        ),
        pytest.param(
            lambda: in_phase(position("M|F F+L Y", yard="3 1 20 21"), lure(0, (0,))),
            lure(1, (1,)),
            id="paid with the least",
        ),
        pytest.param(
            lambda: in_phase(position("F|- - -", stack="L", yard="22 1 2 3"), REVEAL), REVEAL, id="room"
        ),
        pytest.param(
            lambda: in_phase(position("F|- - -", stack="L M Y P"), *[REVEAL] * 4), STOP, id="a pillow-full"
        ),
        pytest.param(
            lambda: in_phase(position("F|- - -", stack="L L+M D", cats={0: "4"}), *[REVEAL] * 3),
            ignore(4),
            id="two cards are worth an ability",
        ),
        pytest.param(
            lambda: in_phase(
                position("F+L+M|L+M+Y M+Y+P F+Y+P", stack="L", yard="22 28 31 32"), REVEAL, STOP
            ),
            FINISH,
            id="nothing to improve",
        ),
        pytest.param(
            lambda: in_phase(position("F|F F -", stack="L+M+Y F"), REVEAL, REVEAL, STOP),
            place("L+M+Y", 3),
            id="the best card first",
        ),
        pytest.param(
            lambda: position("F|L M -", "Y+P|- - -", yard="32 20 24 31"), swap(1), id="a better arrow card"
        ),
        pytest.param(
            lambda: position("F|- - -", "L|F M Y", yard="22 1 2 3", cats={0: "8 9"}),
            shift(8),
            id="a full pillow from the left",
        ),
        pytest.param(
            lambda: in_phase(position("F|L M -", yard="22 20 21 31", cats={0: "16"}), lure(0, (0, 1, 2))),
            draw(16),
            id="cards for an empty pillow",
        ),
        pytest.param(
            lambda: position("F|F F F", yard="20 21 31 10", cats={0: "3"}),
            yard(3, 0, 1, 2, 3),
            id="another yard",
        ),
        pytest.param(
            lambda: in_phase(position("F|L M Y", cats={0: "10"}, stack="F"), REVEAL, STOP, FINISH),
            padlock(10),
            id="a full pillow is kept",
        ),
        pytest.param(
            lambda: in_phase(position("F|- - -", yard="1 2 3 4", cat_stack="20"), lure(0, (0,))),
            END,
            id="done",
        ),
        pytest.param(
            lambda: position("F|- - -", yard="1 22 23 24", cats={1: "28 30 11"}),
            lure(0, (0,)),
            id="the last turn",
        ),
    ],
)
def test_what_greedy_likes_best(state: Callable[[], State], action: Action) -> None:
    assert best(state()) == action


def test_the_risk_of_a_dog_decides() -> None:
    """The same hand with many dogs in the stack, and with one among seven."""
    choices: Sequence[Action] = [
        best(in_phase(_with_stack(stack), REVEAL, REVEAL)) for stack in ("L M D D D F", "L M F F F F D")
    ]
    assert choices == [STOP, REVEAL]


def _with_stack(stack: str) -> State:
    return position("F|- - -", stack=stack, rest="discard")
