"""Disturb a tournament at random moments, resume it each time, and compare with an undisturbed one.

Usage: python -m tests.chaos [--injections 200] [--seed 1] [--sandbox none] [--kinds KIND ...] [--matches N]

As root it works in a mount namespace of its own, with a disk of its own that it fills and breaks.
It ends with 3 if something was lost, doubled, changed, left over or not explained.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.cli.output import progress_line
from tests.chaos import containers, disk
from tests.chaos.containers import ContainerEngine
from tests.chaos.disk import Disk
from tests.chaos.experiment import Experiment, Outcome, Plan
from tests.chaos.kinds import KINDS

_INSIDE = "ARENA_CHAOS_NAMESPACE"
_MATCHES = 30  # per injection
_BOTS = ("house:random", "house:first", "house:greedy", "house:random")
_DISK_BYTES = 512 << 20


def main() -> int:
    """Run the experiment and say how it went."""
    options = _options()
    if not disk.missing() and _INSIDE not in os.environ:
        os.environ[_INSIDE] = "1"
        disk.enter_namespace([sys.executable, "-m", "tests.chaos", *sys.argv[1:]])
    if options.sandbox == "docker" and (reason := containers.missing()):
        print(f"error: {reason}", file=sys.stderr)
        return 1
    began = time.monotonic()
    with (
        _places(options.sandbox == "none") as (folder, disturbed, own_disk),
        _engine(options.sandbox, folder) as engine,
    ):
        bots = _BOTS if engine is None else [engine.reference(bot) for bot in _BOTS]
        matches = options.matches or _MATCHES * options.injections
        kinds = [name for name in options.kinds if not _lacking(name, own_disk, engine)]
        plan = Plan(matches, options.injections, options.seed, kinds, bots, ("--sandbox", options.sandbox))
        teller = _Teller(plan.injections)
        outcome = Experiment(plan, folder, disturbed, own_disk, engine, teller).run()
    _show(outcome, plan, time.monotonic() - began)
    return 3 if outcome.problems else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--injections", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sandbox", default="none", choices=("none", "bwrap", "docker"))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS), metavar="KIND")
    parser.add_argument("--matches", type=int, help=f"{_MATCHES} per injection if left out")
    return parser.parse_args()


@contextmanager
def _places(alone: bool) -> Iterator[tuple[Path, Path, Disk | None]]:
    """A folder, the folder of the disturbed tournament, and the disk that this is on if there is one.

    Args:
        alone: whether nothing outside of the namespace is known by folders in /tmp, as sandboxes are.
    """
    inside = _INSIDE in os.environ
    if inside and alone and not Path(sys.executable).is_relative_to("/tmp"):
        disk.private_tmp()
    with tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if not inside:
            (folder / "disturbed").mkdir()
            yield folder, folder / "disturbed", None
            return
        own = Disk(folder, _DISK_BYTES)
        try:
            yield folder, own.path, own
        finally:
            own.close()


@contextmanager
def _engine(sandbox: str, folder: Path) -> Iterator[ContainerEngine | None]:
    """The engine that runs the bots in containers, if any does."""
    if sandbox != "docker":
        yield None
        return
    engine = ContainerEngine(folder / "engine")
    try:
        yield engine
    finally:
        engine.stop()


def _lacking(name: str, own_disk: Disk | None, engine: ContainerEngine | None) -> bool:
    """Whether a kind of blow cannot be dealt here; it is told if that is the machine's doing."""
    needs = KINDS[name].needs
    if needs == "disk" and own_disk is None:
        print(f"left out: {name}, since {disk.missing()}", file=sys.stderr)
        return True
    return needs == ("engine" if engine is None else "supervisor")


class _Teller:
    """Says how far it is."""

    def __init__(self, injections: int) -> None:
        self._total = injections
        self._began = time.monotonic()

    def __call__(self, done: int) -> None:
        rate = done / (time.monotonic() - self._began)
        print(f"injections {progress_line(done, self._total, rate)}", file=sys.stderr, flush=True)


def _show(outcome: Outcome, plan: Plan, seconds: float) -> None:
    print(f"{'kind':<16} injections  commands ended with")
    for name in plan.kinds:
        codes: Counter[int] = Counter()
        for (of, code), count in sorted(outcome.endings.items()):
            codes[code] += count if of.split(",")[0] == name else 0
        endings = ", ".join(f"{code} ({count} times)" for code, count in codes.items() if count)
        print(f"{name:<16} {outcome.done[name]:>10}  {endings or 'none'}")
    for problem in outcome.problems:
        print(f"PROBLEM {problem}")
    found = (
        f"{len(outcome.problems)} problems" if outcome.problems else "records identical, nothing left over"
    )
    matches = outcome.tournaments * plan.matches
    print(f"{outcome.injections} injections into {matches} matches in {seconds:.0f} s: {found}")


if __name__ == "__main__":
    sys.exit(main())
