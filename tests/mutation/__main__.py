"""`make mutation`: plant each known fault in a copy of the rules and see whether the tests find it.

`python -m tests.mutation [GAME ...]`. Golden records are left out: they notice any change, also of
what is right, so they would prove nothing about the other tests. A fault counts as caught only if a
test fails; one that keeps the code from being loaded is no fault but a mistake in the list.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from arena.games import GAMES
from tests.mutation.fault import Fault

ROOT = Path(__file__).parent.parent.parent
TEST_SECONDS = 60
"""Longest time for one test: a fault may keep a match from ever ending."""


class Result(NamedTuple):
    """What became of a fault: the test that found it, "" if none did, or why nothing could be found out."""

    game: str
    fault: Fault | None
    caught_by: str
    problem: str

    @property
    def good(self) -> bool:
        return not self.problem and bool(self.caught_by) == (self.fault is not None)


def faults_of(game: str) -> Sequence[Fault]:
    """The known faults of a game."""
    faults: Sequence[Fault] = import_module(f"tests.mutation.{game}").FAULTS
    return faults


def try_out(game: str, fault: Fault | None) -> Result:
    """Run a game's tests on a copy of the rules with a fault; None: without one, so that they must pass."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("arena", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "golden"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        if fault is not None and (problem := _plant(copy / "arena" / "games" / game / fault.file, fault)):
            return Result(game, fault, "", problem)
        return _tested(game, fault, copy)


def _plant(path: Path, fault: Fault) -> str:
    """Make a file wrong; says what keeps it from being done."""
    text = path.read_text("utf-8")
    if text.count(fault.right) != 1:
        return f"its text stands {text.count(fault.right)} times in {fault.file}, not once"
    path.write_text(text.replace(fault.right, fault.wrong), "utf-8")
    return ""


def _tested(game: str, fault: Fault | None, copy: Path) -> Result:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    command += [
        f"--timeout={TEST_SECONDS}",
        "-k",
        game,
        f"tests/games/{game}",
        "tests/games/test_contract.py",
    ]
    # Each try draws the same examples: a fault must not be found by luck only.
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*command, "--hypothesis-seed=0"],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return Result(game, fault, "", "")
    found = re.search(r"^FAILED (\S+)", done.stdout, re.MULTILINE)
    if done.returncode == 1 and found:
        return Result(game, fault, found[1].rpartition("/")[2], "")
    if "Timeout" in done.stdout + done.stderr:
        return Result(game, fault, f"no end within {TEST_SECONDS} s", "")
    return Result(game, fault, "", f"pytest ended with {done.returncode}: {done.stdout[-500:]}")


def _results(work: Sequence[tuple[str, Fault | None]]) -> Iterator[Result]:
    begin = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tries = [pool.submit(try_out, game, fault) for game, fault in work]
        for number, done in enumerate(as_completed(tries), 1):
            left = (time.monotonic() - begin) / number * (len(work) - number)
            print(f"{number}/{len(work)} tried, about {left:.0f} s left", file=sys.stderr)
            yield done.result()


def main(games: Sequence[str]) -> int:
    """Try all faults of some games, or of all."""
    work = [(game, fault) for game in games or GAMES for fault in (None, *faults_of(game))]
    results = {(result.game, result.fault): result for result in _results(work)}
    for game, fault in work:
        result = results[game, fault]
        what = "nothing planted" if fault is None else fault.what
        came = result.problem or (f"caught by {result.caught_by}" if result.caught_by else "not caught")
        print(f"{'ok ' if result.good else 'BAD'} {game}: {what}: {came}")
    for game in games or GAMES:
        planted = [result for (of, fault), result in results.items() if of == game and fault is not None]
        print(f"{game}: {sum(result.good for result in planted)} of {len(planted)} planted faults caught")
    return 0 if all(result.good for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
