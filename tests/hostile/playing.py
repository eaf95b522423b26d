"""Plays a case under a level of sandbox: real bots, real tables."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from botarena.v1.record_pb2 import MatchRecord

from arena.bots.launcher import Launcher, Place, Running
from arena.bots.limits import BotLimits
from arena.bots.reference import BotSpec
from arena.bots.tables import Tables
from arena.games import find_game
from arena.games.chance import deal_seed
from arena.match.record import unseal
from arena.match.spec import MatchSpec
from tests.hostile.cases import BAD, Case

HERE = Path(__file__).parent
START_S = 30
TOURNAMENT_SEED = hashlib.sha256(b"the tournament of the hostile corpus").digest()


@dataclass(slots=True)
class Played:
    """What came of a case.

    Attributes:
        records: of its matches.
        specs: of its matches.
        places: what each life of each bot was given, by the bot's name.
        mark: a word on every bot's command line that nothing else on the machine has.
        logs: the bots' output.
        seconds: how long it took.
        grown_bytes: by how much the arena's process was larger at its largest than before.
    """

    records: list[MatchRecord]
    specs: list[MatchSpec]
    places: list[tuple[str, Place]]
    mark: str
    logs: Path
    seconds: float = 0
    grown_bytes: int = 0


@dataclass(slots=True)
class Noted:
    """A launcher that notes what it gives to bots."""

    launcher: Launcher
    places: list[tuple[str, Place]] = field(default_factory=list)

    async def start(self, bot: BotSpec, limits: BotLimits, place: Place) -> Running:
        """Start a bot."""
        self.places.append((bot.name, place))
        return await self.launcher.start(bot, limits, place)

    async def close(self) -> None:
        """Clear up."""
        await self.launcher.close()


def lay_out(folder: Path) -> Path:
    """A copy of the bots and of what they import, and nothing else: what is shown to a sandbox.

    Returns:
        Where `python3 -m tests.hostile.bots.NAME` starts one.
    """
    target = folder / "tests" / "hostile"
    shutil.copytree(HERE / "bots", target / "bots", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("raw.py", "probe.py", "choice.py", "http2.py"):
        shutil.copy(HERE / name, target / name)
    for package in (target.parent, target, target / "bots"):
        (package / "__init__.py").touch()
    return folder


def names(case: Case) -> list[str]:
    """The bots' names by seat."""
    return [f"bad-{seat}" if seat in case.bad_seats else f"honest-{seat}" for seat in range(len(case.table))]


def specs_of(case: Case) -> list[MatchSpec]:
    """The matches of a case."""
    game = find_game(case.game)
    return [
        MatchSpec(
            game=game,
            options=game.options({}),
            deal=deal,
            seed=deal_seed(TOURNAMENT_SEED, case.game, deal),
            seating=0,
            bots=tuple((name, "1") for name in names(case)),
            move_us=round(case.move_s * 1e6),
            bank_us=round(case.bank_s * 1e6),
        )
        for deal in range(case.matches)
    ]


def bots_of(case: Case, folder: Path, image: str, mark: str) -> list[BotSpec]:
    """The bots of a case by seat."""
    return [
        _bot(case, who, name, folder, mark, image) for who, name in zip(case.table, names(case), strict=True)
    ]


def _bot(case: Case, who: str, name: str, folder: Path, mark: str, image: str) -> BotSpec:
    bad = who.startswith(BAD)
    words = [*who.split()[1:], f"mark={mark}"]
    if bad and case.knows_secrets:
        words += [f"secret={secret.hex()}" for secret in _disguised(specs_of(case))]
    command = ("python3", "-m", f"tests.hostile.bots.{case.bot if bad else who}", *words)
    limits = replace(case.limits, start_us=round(case.start_s * 1e6)) if bad else BotLimits()
    return BotSpec(str(folder), name, "1", command, str(folder), limits=limits, image=image)


def _disguised(specs: list[MatchSpec]) -> Iterator[bytes]:
    for seed in (TOURNAMENT_SEED, *(spec.seed for spec in specs)):
        for secret in (seed, seed.hex().encode()):
            yield bytes(255 - byte for byte in secret)


async def play(
    case: Case, launcher: Launcher, folder: Path, logs: Path, mark: str, image: str = ""
) -> Played:
    """Play a case.

    Args:
        case: the case.
        launcher: starts its bots.
        folder: where `lay_out` put them.
        logs: an empty folder for their output.
        mark: a word that no other process has on its command line.
        image: the image with them, if they are to run in containers.

    Raises:
        TimeoutError: it was not over when it must have been.
    """
    noted, specs = Noted(launcher), specs_of(case)
    began, size = time.monotonic(), _reset_peak()
    async with asyncio.timeout(case.bound_s):
        async with Tables(
            bots_of(case, folder, image, mark), logs, START_S * 1_000_000, launcher=noted
        ) as tables:
            records = await asyncio.gather(*(tables.play(spec) for spec in specs))
    played = Played([unseal(record) for record in records], specs, noted.places, mark, logs)
    played.seconds = time.monotonic() - began
    played.grown_bytes = _status("VmHWM") - size
    return played


def _reset_peak() -> int:
    """Forget how large this process was at its largest; how large it is."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(key: str) -> int:
    """A figure about this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) << 10
    raise KeyError(key)


def new_mark() -> str:
    """A word for one play of a case."""
    return f"corpus-{secrets.token_hex(8)}"
