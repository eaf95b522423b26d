"""The registry: all games by name, each loaded when it is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import arena.games
from arena.games import GAMES, find_game
from arena.games.game import UnknownGameError


def test_it_lists_every_game_that_has_a_folder() -> None:
    folders = {path.parent.name for path in Path(arena.games.__file__).parent.glob("*/rules.py")}
    assert set(GAMES) == folders
    assert len(GAMES) == len(folders)


def test_each_game_stands_under_its_own_name_and_is_loaded_once() -> None:
    for name, game in GAMES.items():
        assert game.name == name
        assert find_game(name) is game
        assert name in GAMES


def test_an_unknown_game_is_told_with_those_that_there_are() -> None:
    assert "chess" not in GAMES
    with pytest.raises(UnknownGameError, match="there are: koffer, hochstapler, kamozza, kotki, combo_up"):
        find_game("chess")


def test_only_the_game_that_is_asked_for_is_loaded() -> None:
    code = (
        "import sys, arena.games\n"
        "loaded = lambda: [n for n in arena.games.GAMES if f'arena.games.{n}' in sys.modules]\n"
        "assert loaded() == [], loaded()\n"
        "assert len(list(arena.games.GAMES)) == 5 and 'koffer' in arena.games.GAMES and loaded() == []\n"
        "arena.games.find_game('koffer')\n"
        "assert loaded() == ['koffer'], loaded()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
