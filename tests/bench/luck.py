"""What luck is worth in each game, and what duplicate deals are: `python -m tests.bench.luck`.

Plays a small tournament of every game, each deal in all rotations, once with the four house bots, which
differ much, and once with two pairs of them: among near equals duplicate deals are worth most.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from arena.games import GAMES

FIELDS = {
    "all four": ("house:search", "house:greedy", "house:first", "house:random"),
    "two pairs": ("house:greedy", "house:greedy", "house:first", "house:first"),
}
GOAL = 1.3
"""Factor that duplicate deals should be worth."""
SECONDS = float(os.environ.get("BENCH_LUCK_SECONDS", "12"))
"""Time to play a game and a field; how many deals that are is measured first."""
_FIRST_DEALS = 8
_FEWEST_DEALS = 16


def main() -> None:
    """Print a line for every game and field."""
    print(f"{'game':12} {'field':10} {'deals':>6} {'luck index':>11} {'duplicate factor':>18}   goal {GOAL}")
    rows = [measured(game, field) for game in GAMES for field in FIELDS]
    if path := os.environ.get("BENCH_JSON"):
        Path(path).write_text(json.dumps(rows, indent=1), encoding="utf-8")


def measured(game: str, field: str) -> dict[str, Any]:
    """Luck index and duplicate factor of a game among some bots; told as soon as it is known."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        _play(Path(folder), game, field, _FIRST_DEALS)
        deals = max(_FEWEST_DEALS, int(_FIRST_DEALS * SECONDS / (time.monotonic() - began)))
        _play(Path(folder), game, field, deals)
        shown = _arena(Path(folder), "tournament", "show", f"luck-{deals}", "--json")
    luck = next(row for row in map(json.loads, shown.splitlines()) if row["kind"] == "luck")
    index, factor = luck["luck_index"], luck["duplicate_factor"]
    worth = "–" if factor is None else f"{factor:.2f} ± {luck['duplicate_error']:.2f}"
    met = "–" if factor is None else "reached" if factor >= GOAL else "not reached"
    spread = "–" if index is None else f"{index:.2f}"
    print(f"{game:12} {field:10} {deals:6} {spread:>11} {worth:>18}   {met}", flush=True)
    return {"game": game, "field": field, "deals": deals, **luck}


def _play(folder: Path, game: str, field: str, deals: int) -> None:
    name = f"luck-{deals}"
    if not (folder / f"arena.db.logs/{name}").exists():
        _arena(
            folder,
            "tournament",
            "run",
            game,
            *FIELDS[field],
            "--deals",
            str(deals),
            "--name",
            name,
            "--quiet",
        )


def _arena(folder: Path, *line: str) -> str:
    """Standard output of the arena's program."""
    command = [str(Path(sys.executable).with_name("arena")), *line]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
