"""The house bots at Koffer: legal everywhere, and each stronger than the one below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from botarena.v1.game_pb2 import GameTurn

from arena.games import find_game
from bots.first.main import FirstBot
from bots.greedy.koffer import worth
from bots.greedy.main import GreedyBot
from bots.random.main import RandomBot
from bots.search import main as search
from bots.search.main import SearchBot
from tests.bots_house.playing import NewBot, mean_ranks, play
from tests.games.koffer.positions import legal, position
from tests.games.option_sets import OptionSet
from tests.games.table import Table, case, random_moves

BOTS: Sequence[NewBot] = (RandomBot, FirstBot, GreedyBot, SearchBot)
OPTIONS: Sequence[OptionSet] = (
    {},
    {"specials": "2,3,4"},
    {"specials": "6,13,15"},
    {"specials": "random", "games": "2"},
)

every_bot = pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.__name__)


@every_bot
@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("options", OPTIONS)
def test_every_choice_is_legal(bot: NewBot, seats: int, options: Mapping[str, str]) -> None:
    table = play(case("koffer", seats, options), [bot] * seats, bytes(range(32)))
    assert len(table.outcome().ranks) == seats


def test_greedy_beats_first_and_random() -> None:
    ranks = mean_ranks(case("koffer", 3, {}), [GreedyBot, FirstBot, RandomBot], deals=12)
    assert ranks["GreedyBot"] < 1.4
    assert ranks["GreedyBot"] + 0.4 < min(ranks["FirstBot"], ranks["RandomBot"])


def test_search_beats_greedy() -> None:
    ranks = mean_ranks(case("koffer", 4, {}), [SearchBot, GreedyBot, FirstBot, RandomBot], deals=6)
    assert ranks["SearchBot"] < 1.6
    assert ranks["SearchBot"] + 0.15 < ranks["GreedyBot"]
    assert ranks["GreedyBot"] + 0.4 < min(ranks["FirstBot"], ranks["RandomBot"])


@pytest.mark.parametrize("options", OPTIONS)
def test_what_search_knows_of_koffer_is_legal_play(options: Mapping[str, str]) -> None:
    """Playouts from every position of a random match end in a result for each seat."""
    koffer, rng = find_game("koffer"), Random(1)
    knowledge = search.knowledge_of("koffer")
    state = Table(case("koffer", 4, options), bytes(32)).state
    while koffer.to_move(state):
        future = state.copy()
        assert len(knowledge.playout(future, rng)) == 4
        koffer.apply(state, random_moves(koffer, state, rng))


@pytest.mark.parametrize(
    ("row", "specials", "chips", "layout", "best"),
    [
        pytest.param("k2 k9 r1 b1 y1 r2 b2", (), 7, {}, 2, id="points"),
        pytest.param("k2(5) k5 r1 b1 y1 r2 b2", (), 7, {}, 1, id="chips"),
        pytest.param("k2(5) k8 r1 b1 y1 r2 b2", (15,), 7, {}, 2, id="chips that count minus"),
        pytest.param("r2 k2 r1 b1 y4 r3 b2", (2,), 7, {}, 5, id="a free four"),
        pytest.param("r2 k2(3) r3 b5 y4 r4 b3", (4,), 7, {}, 2, id="an extra turn"),
        pytest.param("k3 r3 b1 y1 b2 y2 b3", (), 7, {"black": "k9"}, 2, id="not face down"),
        pytest.param("k5 k4 r1 k3 k2 k1 b1", (), 0, {}, 1, id="no choice"),
    ],
)
def test_what_greedy_likes_best(
    row: str, specials: tuple[int, ...], chips: int, layout: Mapping[str, str], best: int
) -> None:
    state = position(row, specials=specials, chips=(chips, 14 - chips), layouts={0: layout})
    koffer = find_game("koffer")
    turn = GameTurn.FromString(koffer.turn_bytes(state, 0, legal(state), ()))
    worths = [worth(turn.koffer.view, 0, action) for action in turn.koffer.actions]
    assert legal(state)[worths.index(max(worths))].position == best
