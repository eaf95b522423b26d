"""`make bench-ratings`: our ratings beside others on the same results, and the goals they are to reach.

Skills are simulated, so the truth is known. Exit code 1 if a goal is not met. Environment:

    BENCH_LONG=1        20 seeds of everything: some five minutes on two cores
    BENCH_MATCHES=40,100    matches per bot beside the others, each divisible by 4
    BENCH_JSON=path     write {"figures": {name: {"median", "min", "max", "unit"}}}
"""

from __future__ import annotations

import os

# Before numpy is loaded: what is said of one core is to be true of it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
import math
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.bench.ratings import cells, goals, side_by_side
from tests.bench.ratings.goals import Goal
from tests.bench.ratings.methods import METHODS
from tests.bench.ratings.side_by_side import Row

LONG = os.environ.get("BENCH_LONG", "0") != "0"
MATCHES = [int(number) for number in os.environ.get("BENCH_MATCHES", "100" if LONG else "40").split(",")]
ORDERS = 3
COLUMNS = {
    "tau": "rank correlation with the truth (Kendall), by the mean over seeds",
    "excess": "log-loss of P(i above j) beyond that of the truth, by each method's formula, 1/1000 nat",
    "covered": "share of bots whose true centred skill the stated 95 % interval holds",
    "spread": "by how much the order of the same matches moves a bot, in sd of the ratings over bots",
    "seconds": "for one sample",
}


def main() -> int:
    """Measure and print."""
    began = time.monotonic()
    compared: defaultdict[tuple[str, int], list[list[Row]]] = defaultdict(list)
    samples: defaultdict[cells.Cell, list[cells.Reached]] = defaultdict(list)
    with ProcessPoolExecutor() as pool:
        quick = pool.submit(_alone)
        tasks = list(side_by_side.tasks(MATCHES, 3, ORDERS))
        sampled = list(cells.tasks(LONG))
        # What takes longest begins first.
        reached = pool.map(cells.run, sampled, chunksize=2)
        rows = pool.map(side_by_side.run, tasks)
        for sample, one in zip(sampled, _tracked(reached, len(sampled), "samples"), strict=True):
            samples[sample.cell].append(one)
        for task, each in zip(tasks, _tracked(rows, len(tasks), "comparisons"), strict=True):
            compared[task.name, task.matches].append(each)
        singles = quick.result()
    all_goals = _sorted([*singles, *goals.sampled_goals(samples)])
    _print_comparison(compared)
    _print_goals(all_goals)
    _write_json(compared, all_goals)
    _say(f"took {time.monotonic() - began:.0f} s")
    return 0 if all(goal.met for goal in all_goals) else 1


def _alone() -> list[Goal]:
    """What needs no samples: a worker's first task, on its core."""
    return [*goals.speed(), *goals.exact_goals(), *goals.edges(), goals.schedules()]


def _tracked(done: Iterable[Any], number: int, what: str) -> Iterator[Any]:
    for count, each in enumerate(done, 1):
        if count % max(1, number // 5) == 0:
            _say(f"{count} of {number} {what}")
        yield each


def _sorted(found: Iterable[Goal]) -> list[Goal]:
    return sorted(found, key=lambda goal: (goal.number[0], int(goal.number[1:])))


def _print_comparison(compared: dict[tuple[str, int], list[list[Row]]]) -> None:
    for column, means in COLUMNS.items():
        print(f"{column:8} {means}")
    for (name, matches), samples in compared.items():
        print(f"\n{name}; 32 bots, 4 seats, {matches} matches per bot, {len(samples)} seeds")
        print(f"{'':22}" + "".join(f"{column:>9}" for column in COLUMNS))
        for number, method in enumerate(METHODS):
            cells_of = (
                _cell([getattr(rows[number], column) for rows in samples], column) for column in COLUMNS
            )
            print(f"{method:22}" + "".join(f"{text:>9}" for text in cells_of))


def _cell(values: Sequence[float], column: str) -> str:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "-"
    mean = statistics.mean(known)
    if column == "spread":
        return f"{mean:.0e}" if mean < 1e-6 else f"{mean:.3f}"
    return f"{mean:.1f}" if column == "excess" else f"{mean:.3f}"


def _print_goals(found: Sequence[Goal]) -> None:
    print()
    for goal in found:
        print(f"{goal.number:4}{'met' if goal.met else 'NOT met':8} {goal.what}: {goal.reached}")
    missed = sum(not goal.met for goal in found)
    print(f"\n{len(found) - missed} of {len(found)} goals are met")


def _write_json(compared: dict[tuple[str, int], list[list[Row]]], found: Sequence[Goal]) -> None:
    if not (path := os.environ.get("BENCH_JSON")):
        return
    figures = {}
    for (name, matches), samples in compared.items():
        for number, method in enumerate(METHODS):
            for column in COLUMNS:
                values = [getattr(rows[number], column) for rows in samples]
                known = [value for value in values if not math.isnan(value)]
                if known:
                    figures[f"ratings.{name}.{matches}.{method}.{column}"] = {
                        "median": statistics.median(known),
                        "min": min(known),
                        "max": max(known),
                        "unit": "s" if column == "seconds" else "",
                    }
    met = sum(goal.met for goal in found)
    figures["ratings.goals_met"] = {"median": met, "min": met, "max": met, "unit": ""}
    Path(path).write_text(json.dumps({"figures": figures}, indent=2) + "\n", encoding="utf-8")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
