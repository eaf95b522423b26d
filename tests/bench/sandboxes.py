"""What sandboxes cost: decisions a second of the same bots at each level, beside those at level none.

Usage: python -m tests.bench.sandboxes [--rounds 5] [--seconds 4] [--json PATH] [LEVEL ...]

A tournament of Koffer is played by one worker on one core, with bots that answer at once, in Python and
in Go. What is measured begins with the first match, when all bots have been started, and ends with the
last one. The levels take turns, so that whatever else the machine does hits all of them; the median of the
rounds counts. Beside it stands what a second of processor time gives, of the arena and its bots together: on
a machine that others use too, that is what to look at. (What gVisor spends is not seen in this way.)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from botarena.v1.record_pb2 import MatchRecord

from arena.bots.engine import connect
from arena.bots.reference import BotSpec
from arena.bots.sandbox import LEVELS, check_available, launcher_for
from arena.bots.tables import Tables
from arena.errors import ArenaError
from arena.games import find_game
from arena.match.spec import MatchSpec
from arena.tournament.local import IN_FLIGHT
from tests.bench import native, null_bot
from tests.containers import find_python_image, program_image

SEATS = 4
AIM = 0.80
"""Bots in containers shall play no less than this share of the decisions a second of those without."""
_IMAGE = "botarena-bench"
_MARK = f"arena-bench-{os.getpid()}"  # an argument that bots do not look at, to find their processes
_START_US = 60_000_000
_MOVE_US = 10_000_000
_BANK_US = 600_000_000


def bots() -> dict[str, dict[str, BotSpec]]:
    """By language and level the bot that plays; those that cannot be made here are left out."""
    source = Path(null_bot.__file__).read_text()
    python = BotSpec("python", "python", "1", ("python3", "-c", source, _MARK), str(Path.cwd()))
    found = {"python": dict.fromkeys(LEVELS, python)}
    if program := native.go_null_bot():
        go = BotSpec(str(program), "go", "1", (str(program), _MARK), str(program.parent))
        found["go"] = dict.fromkeys(LEVELS, go)
    if not _problem("docker"):
        _add_images(found)
    return found


def _add_images(found: dict[str, dict[str, BotSpec]]) -> None:
    """Give the bots that are held in containers their images."""
    for level in ("docker", "gvisor"):
        if image := find_python_image():
            found["python"][level] = replace(found["python"][level], image=image)
        if "go" in found:
            bot = found["go"][level]
            image = _image_of(Path(bot.command[0]))
            found["go"][level] = replace(bot, command=("/bot/bot", _MARK), image=image)


def _image_of(program: Path) -> str:
    client = connect()
    try:
        return program_image(client, _IMAGE, {"/bot/bot": program})
    finally:
        client.close()


def _remove_image() -> None:
    client = connect()
    try:
        if client.images(_IMAGE):
            client.remove_image(_IMAGE)
    finally:
        client.close()


def _problem(level: str) -> str:
    """Why bots cannot be held at a level here; empty if they can."""
    try:
        check_available(level)
    except ArenaError as error:
        return str(error)
    return ""


@dataclass(frozen=True, slots=True)
class Speed:
    """How quick a tournament was.

    Attributes:
        decisions_per_s: decisions a second.
        decisions_per_cpu_s: decisions for each second of processor time that the arena and its bots used.
    """

    decisions_per_s: float
    decisions_per_cpu_s: float


def speed(level: str, bot: BotSpec, seconds: float) -> Speed:
    """How quick a tournament is that takes about so many seconds."""
    with tempfile.TemporaryDirectory() as logs, _one_core():
        return asyncio.run(_play(level, bot, Path(logs), seconds))


async def _play(level: str, bot: BotSpec, logs: Path, seconds: float) -> Speed:
    field = [replace(bot, name=f"{bot.name}{seat}", sandbox=level) for seat in range(SEATS)]
    async with Tables(field, logs, _START_US, 0, IN_FLIGHT, launcher_for(level)) as tables:
        await tables.play(_match(field, 0))  # starts the bots
        loop = asyncio.get_running_loop()
        began, used = loop.time(), _cpu_s()
        numbers = iter(range(1, 1 << 40))
        counts = await asyncio.gather(
            *(_play_on(tables, field, numbers, began + seconds) for _ in range(IN_FLIGHT))
        )
        return Speed(sum(counts) / (loop.time() - began), sum(counts) / (_cpu_s() - used))


def _cpu_s() -> float:
    """Processor time of the arena and its bots so far, in seconds."""
    mine = time.process_time()
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if _MARK.encode() in (folder / "cmdline").read_bytes():
                after_name = (folder / "stat").read_text().rpartition(")")[2].split()
                ticks += int(after_name[11]) + int(after_name[12])
    return mine + ticks / os.sysconf("SC_CLK_TCK")


async def _play_on(tables: Tables, field: Sequence[BotSpec], numbers: Iterator[int], until: float) -> int:
    """One match after the other until the time is up; the decisions in them."""
    decisions = 0
    while asyncio.get_running_loop().time() < until:
        record = MatchRecord.FromString(await tables.play(_match(field, next(numbers))))
        if record.faults:
            raise RuntimeError(f"a bot failed: {record.faults} {record.circumstances.fault_details}")
        decisions += len(record.seats)
    return decisions


def _match(field: Sequence[BotSpec], number: int) -> MatchSpec:
    game = find_game("koffer")
    turn = number % SEATS
    seated = tuple((bot.name, bot.version) for bot in (*field[turn:], *field[:turn]))
    deal = number // SEATS
    seed = deal.to_bytes(32, "big")
    return MatchSpec(game, game.options({}), deal, seed, turn, seated, _MOVE_US, _BANK_US)


@contextmanager
def _one_core() -> Iterator[None]:
    """Have all run on one core, as a worker and its bots do."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def measure(levels: Sequence[str], rounds: int, seconds: float) -> list[dict[str, str | float]]:
    """A row for each language and level: how quick it was, and the ratio to level none."""
    found = bots()
    speeds: dict[tuple[str, str], list[Speed]] = {}
    for number in range(rounds):
        for language, by_level in found.items():
            for level in levels:
                one = speed(level, by_level[level], seconds)
                speeds.setdefault((language, level), []).append(one)
                print(f"round {number + 1}/{rounds} {language} {level}: {one}", file=sys.stderr)
    return [
        {
            "language": language,
            "level": level,
            "decisions_per_s": round(statistics.median(one.decisions_per_s for one in found)),
            "ratio": _ratio(found, base, lambda one: one.decisions_per_s),
            "cpu_ratio": _ratio(found, base, lambda one: one.decisions_per_cpu_s),
        }
        for (language, level), found, base in (
            (key, values, speeds[key[0], "none"]) for key, values in speeds.items()
        )
    ]


def _ratio(values: Sequence[Speed], base: Sequence[Speed], of: Callable[[Speed], float]) -> float:
    """The median over the rounds: what disturbs the machine for long hits both of a round."""
    return round(statistics.median(of(one) / of(other) for one, other in zip(values, base, strict=True)), 3)


def main() -> int:
    """Measure and print; exit code 1 if containers cost more than they may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("levels", nargs="*", metavar="LEVEL", help=f"of {', '.join(LEVELS)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    wanted = [level for level in LEVELS if level == "none" or level in (arguments.levels or LEVELS)]
    problems = {level: _problem(level) for level in wanted}
    for level, problem in problems.items():
        if problem:
            print(f"{level} is left out: {problem}", file=sys.stderr)
    levels = [level for level in wanted if not problems[level]]
    try:
        rows = measure(levels, arguments.rounds, arguments.seconds)
    finally:
        if not _problem("docker"):
            _remove_image()
    print(f"{'bot':<8} {'sandbox':<8} {'decisions/s':>12} {'to none':>8} {'by CPU time':>12}")
    for row in rows:
        ratios = f"{row['ratio']:>8.3f} {row['cpu_ratio']:>12.3f}"
        print(f"{row['language']:<8} {row['level']:<8} {row['decisions_per_s']:>12,} {ratios}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows))
    slow = [row for row in rows if row["level"] == "docker" and float(row["ratio"]) < AIM]
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
