"""Kill a tournament with SIGKILL at random moments, resume it each time, compare with an undisturbed one.

Usage: python -m tests.e2e.kill_and_resume [--matches 2000] [--kills 20] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.arena import Arena

BOTS = ("house:random", "house:first", "house:greedy", "house:random")
NAME = "cup"


@dataclass(slots=True)
class Outcome:
    """What the experiment found.

    Attributes:
        kills: how many were done, by what was killed.
        identical: whether both sets of records are the same.
        matches: number of matches in each.
        left_over: command lines of processes that outlived a kill.
    """

    kills: dict[str, int]
    identical: bool
    matches: tuple[int, int]
    left_over: list[str]

    @property
    def good(self) -> bool:
        """Whether nothing was lost, doubled, changed or left over."""
        return self.identical and not self.left_over and self.matches[0] == self.matches[1]


def experiment(folder: Path, matches: int, kills: int, seed: int) -> Outcome:
    """Run the tournament twice, once undisturbed and once with kills."""
    rng = random.Random(seed)
    undisturbed, disturbed = Arena(_made(folder / "undisturbed")), Arena(_made(folder / "disturbed"))
    command = [
        "tournament",
        "run",
        "koffer",
        *BOTS,
        "--deals",
        str(matches // 4),
        "--seed",
        "77",
        "--name",
        NAME,
    ]
    undisturbed.run(*command)
    done: dict[str, int] = {}
    left_over: list[str] = []
    begun = False
    # A moment is a number of stored matches: so the kills spread over the whole of the tournament.
    for moment in sorted(rng.randrange(matches) for _ in range(kills)):
        process = disturbed.start(*(["tournament", "resume", NAME] if begun else command))
        victim = _kill_at(disturbed, process.pid, moment, rng)
        done[victim] = done.get(victim, 0) + 1
        process.wait()
        left_over += disturbed.wait_until_alone().values()
        begun = disturbed.stored(NAME) > 0
        print(f"killed {victim} after {moment} matches: {disturbed.stored(NAME)} stored", file=sys.stderr)
    disturbed.run(*(["tournament", "resume", NAME] if begun else command))
    disturbed.run("verify", "--tournament", NAME)
    one, two = undisturbed.records(NAME), disturbed.records(NAME)
    return Outcome(done, one == two, (len(one), len(two)), left_over)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _kill_at(arena: Arena, pid: int, moment: int, rng: random.Random) -> str:
    """SIGKILL to the arena once so many matches are stored; half the time a worker is killed just before."""
    while arena.stored(NAME) <= moment and _lives(pid):
        time.sleep(0.02)
    time.sleep(rng.uniform(0, 0.1))
    victim = "arena"
    if rng.random() < 0.5:
        workers = [number for number, line in arena.processes().items() if "arena.cli.worker" in line]
        if workers:
            _kill(rng.choice(workers))
            victim = "worker, then arena"
            time.sleep(rng.uniform(0, 0.5))
    _kill(pid)
    return victim


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def main() -> int:
    """Run the experiment and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = experiment(Path(folder), options.matches, options.kills, options.seed)
    print(
        f"{sum(found.kills.values())} kills ({found.kills}); "
        f"{found.matches[0]} and {found.matches[1]} matches; "
        f"records identical: {'yes' if found.identical else 'NO'}; left over: {found.left_over or 'nothing'}"
    )
    return 0 if found.good else 3


if __name__ == "__main__":
    sys.exit(main())
