"""The house bots at Hochstapler: legal everywhere, repeatable, and each stronger than the one below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from botarena.v1.game_pb2 import GameTurn

from arena.games import find_game
from arena.games.hochstapler import rules
from arena.games.hochstapler.rules import Action, State
from bots.first.main import FirstBot
from bots.greedy.hochstapler import worth
from bots.greedy.main import GreedyBot
from bots.random.main import RandomBot
from bots.search import main as search
from bots.search.main import SearchBot
from tests.bots_house.playing import NewBot, mean_ranks, play
from tests.games.hochstapler import positions
from tests.games.hochstapler.positions import call, doubt, exchange, legal, table
from tests.games.option_sets import OptionSet
from tests.games.table import Table, case, random_moves

HOCHSTAPLER = find_game("hochstapler")
BOTS: Sequence[NewBot] = (RandomBot, FirstBot, GreedyBot, SearchBot)

every_bot = pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.__name__)


@every_bot
@pytest.mark.parametrize("seats", HOCHSTAPLER.seats)
def test_every_choice_is_legal(bot: NewBot, seats: int) -> None:
    """One bot among others that play quickly, as seven that search would take long."""
    table = play(case("hochstapler", seats, {}), [bot, *[RandomBot] * (seats - 1)], bytes(range(32)))
    assert len(table.outcome().ranks) == seats


@pytest.mark.parametrize("bot", [FirstBot, GreedyBot])
def test_whole_matches_are_played(bot: NewBot) -> None:
    table = play(case("hochstapler", 3, {"match": "true"}), [bot, RandomBot, bot], bytes(32))
    assert max(table.outcome().scores) >= rules.MATCH_END


@every_bot
def test_a_game_repeats_itself_exactly(bot: NewBot) -> None:
    seating = [bot, RandomBot, RandomBot]
    first, second = (play(case("hochstapler", 3, {}), seating, bytes(32)) for _ in range(2))
    assert first.indexes == second.indexes
    assert first.digest() == second.digest()


def test_greedy_beats_first_and_random() -> None:
    ranks = mean_ranks(case("hochstapler", 3, {}), [GreedyBot, FirstBot, RandomBot], deals=12)
    assert ranks["GreedyBot"] < 1.5
    assert ranks["GreedyBot"] + 0.4 < min(ranks["FirstBot"], ranks["RandomBot"])


def test_search_beats_first_and_random() -> None:
    ranks = mean_ranks(case("hochstapler", 3, {}), [SearchBot, FirstBot, RandomBot], deals=3)
    assert ranks["SearchBot"] < 1.5
    assert ranks["SearchBot"] + 0.4 < min(ranks["FirstBot"], ranks["RandomBot"])


@pytest.mark.parametrize("options", [{}, {"match": "true"}])
def test_what_search_knows_of_hochstapler_is_legal_play(options: OptionSet) -> None:
    """Playouts from every position of a random match end in a result for each seat."""
    rng, knowledge = Random(1), search.knowledge_of("hochstapler")
    assert knowledge.prospects
    for seats in HOCHSTAPLER.seats:
        state = Table(case("hochstapler", seats, options), bytes(32)).state
        while HOCHSTAPLER.to_move(state):
            HOCHSTAPLER.apply(state, random_moves(HOCHSTAPLER, state, rng))
            before = state.copy()
            assert len(knowledge.prospects(state)) == seats
            assert state == before
            assert len(knowledge.playout(state.copy(), rng)) == seats


SURE: Mapping[str, Sequence[int]] = {"ring": (7, 0, 0), "clock": (0, 7, 6), "car": (2, 3, 4)}


@pytest.mark.parametrize(
    ("before", "liked", "disliked"),
    [
        pytest.param([call(16, "clock")], doubt, call(17, "ring"), id="a call that is surely wrong"),
        pytest.param(
            [call(1, "ring"), call(2, "car")], call(3, "car"), doubt, id="a call that is likely right"
        ),
        pytest.param([], call(8, "ring"), call(15, "ring"), id="not too high"),
        pytest.param([], call(8, "ring"), call(8, "clock"), id="the colour of a high card"),
        pytest.param([], exchange("clock"), exchange("ring"), id="the low card is exchanged"),
        pytest.param([exchange("clock")], call(8, "ring"), call(18, "clock"), id="after an exchange"),
    ],
)
def test_what_greedy_likes(before: Sequence[Action], liked: Action, disliked: Action) -> None:
    state = table(3, SURE)
    positions.play(state, *before)
    worths = worths_of(state)
    assert worths[liked] > worths[disliked]


def test_greedy_trusts_a_seat_that_has_called_the_colour() -> None:
    """The same doubt of the same call, by a seat that has heard another one call the colour before."""
    heard, unheard = table(4, SURE), table(4, SURE)
    positions.play(heard, call(8, "car"), call(9, "ring"), call(10, "car"))
    positions.play(unheard, call(8, "ring"), call(9, "ring"), call(10, "car"))
    assert worths_of(heard)[doubt] < worths_of(unheard)[doubt]


def worths_of(state: State) -> dict[Action, float]:
    turn = GameTurn.FromString(HOCHSTAPLER.turn_bytes(state, state.turn, legal(state), ()))
    shown = turn.hochstapler
    worths = [worth(shown.view, state.turn, action) for action in shown.actions]
    return dict(zip(legal(state), worths, strict=True))
