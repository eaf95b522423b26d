"""fastchess and cutechess as peers: programs that play chess engines against each other, many games at once.

Each is measured where an environment variable names its program: FASTCHESS, or CUTECHESS for cutechess-cli.
The options are those of their manuals. Tried so far is only the code around them, with a stand-in that takes
these options and writes the same kind of PGN; no figure of either program has been taken.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CONCURRENCIES = (1, 2, 4)
TIMEOUT = 600
"""Seconds after which a match is given up."""

# A clock that no game of an engine that answers at once can use up.
_TIME_CONTROL = "tc=60+1"
_PGN = "games.pgn"
_VARIABLES = {"fastchess": "FASTCHESS", "cutechess": "CUTECHESS"}


class ChessTesterError(Exception):
    """A tester cannot be measured: what, why, and what to do."""


@dataclass(frozen=True, slots=True)
class ChessTester:
    """A program that runs matches between engines.

    Attributes:
        name: "fastchess" or "cutechess".
        program: path of it.
    """

    name: str
    program: Path

    def command(self, engine: Path, concurrency: int, rounds: int) -> list[str]:
        """Play rounds of two games, colours swapped, between two processes of an engine per game."""
        engines = [word for name in "ab" for word in ("-engine", f"cmd={engine}", f"name={name}")]
        common = ["-each", "proto=uci", _TIME_CONTROL, "-rounds", str(rounds), "-games", "2"]
        return [str(self.program), *engines, *common, "-concurrency", str(concurrency), *self._own_options()]

    def _own_options(self) -> list[str]:
        if self.name == "fastchess":
            # It takes no more games at once than there are cores, unless it is told to.
            return ["-force-concurrency", "-pgnout", f"file={_PGN}", "notation=uci"]
        return ["-pgnout", _PGN]


def available() -> list[ChessTester]:
    """The testers that environment variables name.

    Raises:
        ChessTesterError: if one of them names no program.
    """
    found = []
    for name, variable in _VARIABLES.items():
        if value := os.environ.get(variable):
            program = shutil.which(value)
            if program is None:
                raise ChessTesterError(
                    f"{name} cannot be measured: {variable}={value} is no program; "
                    f"set {variable} to the path of one, or unset it"
                )
            found.append(ChessTester(name, Path(program).absolute()))
    return found


def rates(tester: ChessTester, engine: Path, games: int) -> Iterator[tuple[int, float]]:
    """Concurrency and moves per second, start of the programs included, for each of CONCURRENCIES.

    Args:
        tester: what runs the matches.
        engine: a UCI engine that answers at once.
        games: how many games are played at each concurrency; an odd number is rounded up.

    Raises:
        ChessTesterError: if the tester fails, or the games are not what was asked for.
    """
    for concurrency in CONCURRENCIES:
        yield concurrency, _rate(tester, engine, concurrency, (games + 1) // 2)


def _rate(tester: ChessTester, engine: Path, concurrency: int, rounds: int) -> float:
    command = tester.command(engine, concurrency, rounds)
    # Testers leave files of their own where they are started.
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        _run(tester, command, folder)
        seconds = time.perf_counter() - begin
        pgn = Path(folder) / _PGN
        if not pgn.exists():
            raise ChessTesterError(f"{tester.name} wrote no games; run it by hand: {' '.join(command)}")
        text = pgn.read_text(encoding="utf-8")
    played = pgn_moves(tester, text)
    if len(played) != 2 * rounds:
        raise ChessTesterError(f"{tester.name} was asked for {2 * rounds} games and played {len(played)}")
    return sum(played) / seconds


def _run(tester: ChessTester, command: list[str], folder: str) -> None:
    try:
        ended = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise ChessTesterError(f"{tester.name} did not end within {TIMEOUT} s: {' '.join(command)}") from None
    except OSError as error:
        raise ChessTesterError(f"{tester.name} cannot be started: {error}") from None
    if ended.returncode:
        said = (ended.stderr.strip() or ended.stdout.strip() or "it said nothing").splitlines()[-1]
        raise ChessTesterError(f"{tester.name} ended with exit code {ended.returncode}: {said}")


def pgn_moves(tester: ChessTester, text: str) -> list[int]:
    """Moves of each game of a PGN file, those of both sides counted.

    Raises:
        ChessTesterError: if a game did not end by the rules of chess: it would measure something else.
    """
    moves = []
    for game in re.split(r"(?m)^(?=\[Event )", text):
        if not game.strip():
            continue
        ending = re.search(r'(?m)^\[Termination "(.*)"\]', game)
        if ending is not None and ending[1] != "normal":
            raise ChessTesterError(f"{tester.name}: a game ended by {ending[1]!r}, not by the rules")
        tags_removed = re.sub(r"(?m)^\[.*\]$", "", game)
        comments_removed = re.sub(r"\{[^}]*\}", "", tags_removed)
        moves.append(sum(map(_is_move, comments_removed.split())))
    return moves


def _is_move(token: str) -> bool:
    """Neither a move's number nor a result."""
    return re.fullmatch(r"\d+\.+|1-0|0-1|1/2-1/2|\*", token) is None
