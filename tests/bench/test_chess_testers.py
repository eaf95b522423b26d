"""What is around the chess testers, with a stand-in for them: their options, their PGN, their failures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.bench.chess_testers import (
    CONCURRENCIES,
    ChessTester,
    ChessTesterError,
    available,
    pgn_moves,
    rates,
)

FASTCHESS_GAME = """[Event "Fastchess Tournament"]
[White "a"]
[Black "b"]
[Result "0-1"]
[PlyCount "4"]
[Termination "normal"]

1. f2f3 {0.00/0 0.000s} e7e5 {0.00/0 0.000s} 2. g2g4 {0.00/0 0.000s}
d8h4 {0.00/0 0.001s, Black mates} 0-1

"""
CUTECHESS_GAME = """[Event "?"]
[Result "0-1"]
[PlyCount "4"]

1. f3 {0.001s} e5 {0.001s} 2. g4 {0.001s} Qh4# {0.001s,
Black mates} 0-1

"""
# It keeps its arguments beside itself and writes what it was given, once for every game asked for.
STAND_IN = """#!{python}
import json, sys
from pathlib import Path

words = sys.argv[1:]
here = Path(__file__)
with here.with_suffix(".calls").open("a") as calls:
    calls.write(json.dumps(words) + "\\n")
games = int(words[words.index("-rounds") + 1]) * int(words[words.index("-games") + 1])
pgn = words[words.index("-pgnout") + 1].removeprefix("file=")
Path(pgn).write_text(here.with_suffix(".pgn").read_text() * (games - {missing}))
"""


def stand_in(folder: Path, game: str, missing: int = 0) -> Path:
    path = folder / "tester"
    path.write_text(STAND_IN.format(python=sys.executable, missing=missing))
    path.chmod(0o755)
    path.with_suffix(".pgn").write_text(game)
    return path


def calls(program: Path) -> list[list[str]]:
    return [json.loads(line) for line in program.with_suffix(".calls").read_text().splitlines()]


@pytest.mark.parametrize(("name", "game"), [("fastchess", FASTCHESS_GAME), ("cutechess", CUTECHESS_GAME)])
def test_rates_count_all_moves_at_every_concurrency(name: str, game: str, tmp_path: Path) -> None:
    program = stand_in(tmp_path, game)
    measured = dict(rates(ChessTester(name, program), Path("/engine"), games=5))
    assert tuple(measured) == CONCURRENCIES
    assert all(0 < rate < 24 / 0.001 for rate in measured.values())
    for concurrency, words in zip(CONCURRENCIES, calls(program), strict=True):
        assert words.count("cmd=/engine") == 2
        assert words[words.index("-rounds") + 1] == "3"
        assert words[words.index("-concurrency") + 1] == str(concurrency)


@pytest.mark.parametrize("game", [FASTCHESS_GAME, CUTECHESS_GAME])
def test_moves_are_told_from_tags_numbers_comments_and_results(game: str) -> None:
    assert pgn_moves(ChessTester("fastchess", Path("/t")), game * 3) == [4, 4, 4]


@pytest.mark.parametrize("ending", ["time forfeit", "illegal move", "abandoned"])
def test_a_game_that_did_not_end_by_the_rules_is_an_error(ending: str, tmp_path: Path) -> None:
    program = stand_in(tmp_path, FASTCHESS_GAME.replace('"normal"', f'"{ending}"'))
    with pytest.raises(ChessTesterError, match=f"a game ended by '{ending}'"):
        next(rates(ChessTester("fastchess", program), Path("/engine"), 2))


def test_missing_games_are_an_error(tmp_path: Path) -> None:
    program = stand_in(tmp_path, FASTCHESS_GAME, missing=1)
    with pytest.raises(ChessTesterError, match="asked for 4 games and played 3"):
        next(rates(ChessTester("fastchess", program), Path("/engine"), 4))


def test_a_failing_tester_is_quoted(tmp_path: Path) -> None:
    program = tmp_path / "tester"
    program.write_text("#!/bin/sh\necho 'first' >&2\necho 'no such option' >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(ChessTesterError, match="ended with exit code 3: no such option"):
        next(rates(ChessTester("fastchess", program), Path("/engine"), 2))


def test_a_tester_that_writes_nothing_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "tester"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(ChessTesterError, match="wrote no games"):
        next(rates(ChessTester("cutechess", program), Path("/engine"), 2))


def test_variables_name_the_testers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = stand_in(tmp_path, "")
    monkeypatch.setenv("FASTCHESS", str(program))
    monkeypatch.delenv("CUTECHESS", raising=False)
    assert available() == [ChessTester("fastchess", program)]


def test_a_wrong_path_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FASTCHESS", raising=False)
    monkeypatch.setenv("CUTECHESS", "/nowhere/cutechess-cli")
    with pytest.raises(ChessTesterError, match="CUTECHESS=/nowhere/cutechess-cli is no program"):
        available()
