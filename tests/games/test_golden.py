"""Golden records replay exactly: a change of the rules or of the wire cannot go unnoticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.games import GAMES
from tests.games.golden import FOLDER, golden_paths, replay, text_of, wanted

HINT = "run `python -m tests.games.golden --write`, read the difference and raise the game's version"


@pytest.mark.parametrize("name", GAMES)
def test_a_game_has_golden_records_for_each_number_of_seats(name: str) -> None:
    seats = {json.loads(path.read_text("utf-8"))["seats"] for path in (FOLDER / name).glob("*.json")}
    assert seats == set(GAMES[name].seats)


def test_there_are_just_the_files_that_there_should_be() -> None:
    assert golden_paths() == sorted(wanted())


@pytest.mark.parametrize("path", golden_paths(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_golden_record_replays(path: Path) -> None:
    stored = path.read_text("utf-8")
    assert text_of(replay(json.loads(stored))) == stored, HINT
