"""The house bots: repeatable, and described as they are started."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from arena.games import GAMES
from arena.games.chance import deal_seed
from bots.first.main import FirstBot
from bots.greedy.main import GreedyBot
from bots.random.main import RandomBot
from bots.search import main as search
from bots.search.main import SearchBot
from tests.bots_house.playing import NewBot, play
from tests.games.option_sets import GOLDEN_SETS
from tests.games.table import case

FOLDER = Path(__file__).parent.parent.parent / "bots"
BOTS: Sequence[NewBot] = (RandomBot, FirstBot, GreedyBot, SearchBot)
every_bot = pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.__name__)


@every_bot
@pytest.mark.parametrize("game", GAMES)
def test_a_match_repeats_itself_exactly(bot: NewBot, game: str) -> None:
    seating = [bot, RandomBot, bot]
    first, second = (play(case(game, 3, GOLDEN_SETS[game][-1]), seating, bytes(32)) for _ in range(2))
    assert first.indexes == second.indexes
    assert first.digest() == second.digest()


def test_random_choices_depend_on_the_seed_of_the_bot() -> None:
    tables = [
        play(case("koffer", 2, {}), [RandomBot] * 2, deal_seed(bytes(32), "koffer", deal)) for deal in (0, 1)
    ]
    assert tables[0].indexes != tables[1].indexes
    assert len(set(tables[0].indexes)) > 3


@pytest.mark.parametrize("game", GAMES)
def test_search_plays_a_game_that_it_knows_nothing_of(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda _: False)
    ignorant = search.knowledge_of.__wrapped__(game)
    assert ignorant.prospects is None
    monkeypatch.setattr(search, "knowledge_of", lambda _: ignorant._replace(futures=1))
    seats = GAMES[game].seats[0]
    table = play(case(game, seats, {}), [SearchBot, *[FirstBot] * (seats - 1)], bytes(32))
    assert len(table.outcome().ranks) == seats


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
