"""The house bots: legal everywhere, repeatable, and each stronger than the one below it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest
from botarena.v1.game_pb2 import GameTurn

from arena.games import GAMES, find_game
from arena.games.chance import deal_seed
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

FOLDER = Path(__file__).parent.parent.parent / "bots"
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


@every_bot
def test_a_match_repeats_itself_exactly(bot: NewBot) -> None:
    seating = [bot, RandomBot, bot]
    first, second = (play(case("koffer", 3, {"specials": "random"}), seating, bytes(32)) for _ in range(2))
    assert first.indexes == second.indexes
    assert first.digest() == second.digest()


def test_random_choices_depend_on_the_seed_of_the_bot() -> None:
    tables = [
        play(case("koffer", 2, {}), [RandomBot] * 2, deal_seed(bytes(32), "koffer", deal)) for deal in (0, 1)
    ]
    assert tables[0].indexes != tables[1].indexes
    assert len(set(tables[0].indexes)) > 3


def test_greedy_beats_first_and_random() -> None:
    ranks = mean_ranks(case("koffer", 3, {}), [GreedyBot, FirstBot, RandomBot], deals=12)
    assert ranks["GreedyBot"] < 1.4
    assert ranks["GreedyBot"] + 0.4 < min(ranks["FirstBot"], ranks["RandomBot"])


def test_search_beats_greedy() -> None:
    ranks = mean_ranks(case("koffer", 4, {}), [SearchBot, GreedyBot, FirstBot, RandomBot], deals=6)
    assert ranks["SearchBot"] < 1.6
    assert ranks["SearchBot"] + 0.15 < ranks["GreedyBot"]
    assert ranks["GreedyBot"] + 0.4 < min(ranks["FirstBot"], ranks["RandomBot"])


@pytest.mark.parametrize("game", GAMES)
def test_search_plays_a_game_that_it_knows_nothing_of(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda _: False)
    ignorant = search.knowledge_of.__wrapped__(game)
    assert ignorant.prospects is None
    monkeypatch.setattr(search, "knowledge_of", lambda _: ignorant)
    monkeypatch.setattr(search, "FUTURES", 2)
    seats = GAMES[game].seats[0]
    table = play(case(game, seats, {}), [SearchBot, *[FirstBot] * (seats - 1)], bytes(32))
    assert len(table.outcome().ranks) == seats


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


@pytest.mark.parametrize("folder", ["random", "first", "greedy", "search"])
def test_a_bot_says_how_it_is_started(folder: str) -> None:
    about = tomllib.loads((FOLDER / folder / "bot.toml").read_text("utf-8"))
    assert about["name"] == folder
    assert about["version"]
    assert about["description"].endswith(".")
    assert about["language"] == "python"
    assert about["command"] == ["python3", "main.py"]
    assert (FOLDER / folder / "main.py").is_file()
    assert set(about.get("games", ())) <= set(GAMES)
