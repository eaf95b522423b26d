"""Golden ratings: 200 matches and what they gave, kept as a file.

`python -m tests.ratings.golden` says by how much today's ratings differ from the file's;
`python -m tests.ratings.golden --write` writes it anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from arena.ratings.fit import fit
from arena.ratings.fold import Result, TieRule
from arena.ratings.results import Results

GOLDEN = Path(__file__).with_name("two_hundred_matches.json")
BOTS = ("ann", "bob", "cat", "dan", "eve")


def play() -> list[dict[str, Any]]:
    """Matches at tables of two to five with ties, the later bots of the alphabet the better."""
    chance = Random(7)
    matches = []
    for number in range(200):
        bots = chance.sample(BOTS, chance.randint(2, 5))
        scores = [chance.randrange(3 + BOTS.index(bot)) for bot in bots]
        ranks = [1 + sum(other > score for other in scores) for score in scores]
        matches.append({"block": number // 3, "bots": bots, "ranks": ranks})
    return matches


def golden_numbers(matches: Sequence[dict[str, Any]], ties: TieRule) -> dict[str, list[float]]:
    """All numbers of the fit of these matches."""
    results = Results()
    for match in matches:
        results.add(Result(tuple(match["bots"]), tuple(match["ranks"]), b""), match["block"])
    rated = fit(results, ties)
    return {
        "mu": rated.mu.tolist(),
        "sigma": np.sqrt(np.diag(rated.covariance)).tolist(),
        "corrected_sigma": np.sqrt(np.diag(rated.corrected)).tolist(),
        **{f"seats_of_{size}": advantages.tolist() for size, advantages in rated.seats.items()},
        "margins": list(rated.margins.values()),
    }


def make() -> dict[str, Any]:
    """What the file should hold."""
    matches = play()
    ratings = {ties.value: golden_numbers(matches, ties) for ties in TieRule}
    return {"bots": list(BOTS), "matches": matches, "ratings": ratings}


def read_golden(path: Path) -> dict[str, Any]:
    """The file."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept


def write_golden(path: Path) -> None:
    """Write the file: a match in a line."""
    made = make()
    matches = ",\n  ".join(json.dumps(match) for match in made.pop("matches"))
    rest = json.dumps(made, indent=1).removesuffix("\n}")
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'{rest},\n "matches": [\n  {matches}\n ]\n}}\n', encoding="utf-8")


def main() -> int:
    """Compare or write."""
    if sys.argv[1:] == ["--write"]:
        write_golden(GOLDEN)
        return 0
    kept, worst = read_golden(GOLDEN), 0.0
    for ties in TieRule:
        got = golden_numbers(kept["matches"], ties)
        for name, numbers in kept["ratings"][ties.value].items():
            worst = max(worst, float(np.abs(np.subtract(numbers, got[name])).max(initial=0)))
    print(f"largest difference {worst:.1e}")
    return int(worst > 1e-9)


if __name__ == "__main__":
    sys.exit(main())
