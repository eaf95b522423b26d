"""Plays the hostile corpus and prints it as a table, row by row.

Usage: python -m tests.hostile [--level LEVEL]... [--row ROW]... [--case NAME]... [--available] [--json]

Without --level all levels are played: none, bwrap, docker, gvisor. A level that is missing here counts as a
failure, unless --available says that what is there is enough.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.hostile.cases import CASES, LEVELS, PROOFS, Case
from tests.hostile.judging import Result, judge
from tests.hostile.levels import CONTAINERS, image_of, missing
from tests.hostile.playing import lay_out
from tests.hostile.proving import prove

AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be played.

    Attributes:
        levels: sandboxes.
        rows: rows of the table; empty: all.
        cases: parts of names of cases; empty: all.
        available: whether missing levels are no failure.
        as_json: whether results are lines of JSON.
    """

    levels: tuple[str, ...]
    rows: tuple[int, ...]
    cases: tuple[str, ...]
    available: bool
    as_json: bool

    def has(self, row: int, name: str) -> bool:
        """Whether a line of the table is wanted."""
        return (not self.rows or row in self.rows) and (
            not self.cases or any(part in name for part in self.cases)
        )


def read_wish(arguments: list[str]) -> Wish:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__.split("\n")[0])
    parser.add_argument("--level", action="append", choices=LEVELS, default=[])
    parser.add_argument("--row", action="append", type=int, default=[])
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument(
        "--available", action="store_true", help="levels that are missing here are no failure"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    return Wish(
        tuple(given.level) or LEVELS, tuple(given.row), tuple(given.case), given.available, given.json
    )


def main(arguments: list[str]) -> int:
    """Play what is asked for; 0 if all was as it must be."""
    wish = read_wish(arguments)
    table = Table(wish.as_json)
    began = time.monotonic()
    try:
        for result in results(wish):
            table.add(result)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return table.close(time.monotonic() - began)


def results(wish: Wish) -> Iterator[Result]:
    """All lines of the table, as they come."""
    lacking = {level: reason for level in wish.levels if (reason := missing(level))}
    for level, reason in lacking.items():
        print(f"{level} is missing here: {reason}", file=sys.stderr)
        if not wish.available:
            yield Result(0, "the level itself", level, "missing", "there", None, 0, (reason,))
    levels = [level for level in wish.levels if level not in lacking]
    with ExitStack() as stack:
        base = Path(tempfile.mkdtemp(prefix="arena-hostile-"))
        stack.callback(shutil.rmtree, base, ignore_errors=True)
        base.chmod(0o755)  # bots in a sandbox are other users
        folder = lay_out(base / "corpus")
        image = stack.enter_context(image_of(folder)) if set(levels) & set(CONTAINERS) else ""
        pool = ProcessPoolExecutor(AT_ONCE, get_context("spawn"), initializer=_be_quiet)
        stack.callback(pool.shutdown, cancel_futures=True)
        jobs: dict[Future[list[Result]], str] = {
            pool.submit(_judged, case, level, folder, _logs(base, case, level), image): case.bot
            for case, level in _wanted(wish, levels)
        }
        proofs = [proof for proof in PROOFS if wish.has(proof.row, proof.what)]
        if proofs:
            jobs[pool.submit(prove, proofs, wish.available)] = "the proofs"
        for job in as_completed(jobs):
            yield from _result(job, jobs[job])


def _be_quiet() -> None:
    """In a process that plays: what the arena tells of refused streams, and gRPC of floods, is meant."""
    os.environ["GRPC_VERBOSITY"] = "NONE"
    logging.disable(logging.WARNING)


def _judged(case: Case, level: str, folder: Path, logs: Path, image: str) -> list[Result]:
    return [judge(case, level, folder, logs, image)]


def _result(job: Future[list[Result]], what: str) -> list[Result]:
    """What came of a job; if that failed itself, that is a line of the table too."""
    try:
        return job.result()
    except Exception as error:
        return [Result(0, what, "", "failed", "a result", None, 0, (repr(error),))]


def _wanted(wish: Wish, levels: list[str]) -> list[tuple[Case, str]]:
    return [
        (case, level)
        for level in levels
        for case in CASES
        if level in case.claimed and wish.has(case.row, case.bot)
    ]


def _logs(base: Path, case: Case, level: str) -> Path:
    folder = base / "logs" / level / case.bot
    folder.mkdir(parents=True)
    return folder


class Table:
    """Prints results as they come.

    Args:
        as_json: whether as lines of JSON.
    """

    _FORM = "{:>3}  {:<42}  {:<7}  {:<18}  {:<18}  {:<9}  {:>7}  {}"

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._results: list[Result] = []

    def add(self, result: Result) -> None:
        """Print a line."""
        if not self._results and not self._as_json:
            print(
                self._FORM.format(
                    "row", "case", "sandbox", "verdict", "expected", "honest =", "seconds", "ok"
                )
            )
        self._results.append(result)
        if self._as_json:
            print(json.dumps({**asdict(result), "ok": result.ok}), flush=True)
            return
        unchanged = {True: "yes", False: "no", None: "–"}[result.unchanged]
        print(
            self._FORM.format(
                result.row,
                result.case[:42],
                result.sandbox,
                result.verdict,
                result.expected,
                unchanged,
                f"{result.seconds:.1f}",
                "yes" if result.ok else "NO",
            ),
            flush=True,
        )
        for problem in result.problems:
            print(f"     ! {problem[:400]!r}", flush=True)

    def close(self, seconds: float) -> int:
        """Print how many were as they must be; the exit code."""
        good = sum(result.ok for result in self._results)
        total = len(self._results)
        if self._as_json:
            print(json.dumps({"good": good, "of": total, "seconds": round(seconds, 1)}))
        else:
            print(f"{good} of {total} in {seconds:.0f} s")
        return 0 if good == total and total else 1
