"""What a person writes about a tournament, turned into one that can be stored."""

from __future__ import annotations

import re
import secrets
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, TypeAlias

from arena.bots.reference import BotSpec, current_version, resolve_all
from arena.errors import ArenaError, NotFoundError, UsageError
from arena.games import find_game
from arena.games.chance import SEED_BYTES
from arena.games.game import AnyGame, PlayersError
from arena.runs.custody import Custody, Tell, confine, custody, silent
from arena.store.stored import StoredBot, StoredTournament
from arena.tournament.formats import (
    ALL_SETS,
    DEFAULT_FORMAT,
    LADDER,
    UNTIL,
    Format,
    Plan,
    is_complete,
    make_format,
)
from arena.units import parse_time, time_text

_NAME = re.compile(r"[\w][\w.+-]{0,79}")

Entrants: TypeAlias = Callable[[Sequence[str], str], Sequence[StoredBot]]
"""Gives the bots that references stand for, each with a name of its own; told the game's name."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The clock of every seat, in microseconds, and its tolerance."""

    move_us: int = 5_000_000
    bank_us: int = 60_000_000
    start_us: int = 10_000_000
    faults_allowed: int = 0


@dataclass(frozen=True, slots=True)
class Definition:
    """A tournament as a person describes it; what is None has its default."""

    game: str
    bots: Sequence[str]
    kind: str = "tournament"
    seats: int | None = None
    deals: int | None = None
    matches: int | None = None
    rotate: bool = True
    format: str = DEFAULT_FORMAT
    rounds: int | None = None
    until: str | None = None
    confidence: float | None = None
    tolerance: float | None = None
    gain: float | None = None
    seed: str | None = None
    name: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    custody: Custody = field(default_factory=Custody)

    def build(self, tell: Tell = silent, entrants: Entrants | None = None) -> StoredTournament:
        """The tournament, all of it checked.

        Args:
            tell: takes what a person should know about it.
            entrants: knows the bots; None: they are looked for on this machine, and held as `custody` says.

        Raises:
            ArenaError, GameError, ScheduleError: what is wrong.
        """
        game = find_game(self.game)
        seats = self._seats(game)
        named = self._filled(seats)
        bots = entrants(named, game.name) if entrants else self._found(named, game.name, tell)
        game.options(self.options)
        seed = parse_seed(self.seed) if self.seed else secrets.token_bytes(SEED_BYTES)
        schedule = self._schedule(game, len(bots), seats, seed)
        return StoredTournament(
            id=0,
            name=_checked_name(self.name) if self.name else _new_name(game.name),
            kind=self.kind,
            game=game.name,
            options=dict(self.options),
            seats=seats,
            deals=schedule.matches // schedule.seatings,
            rotate=self.rotate,
            matches=min(schedule.matches, self.matches or schedule.matches),
            seed=seed,
            move_us=self.limits.move_us,
            bank_us=self.limits.bank_us,
            start_us=self.limits.start_us,
            faults_allowed=self.limits.faults_allowed,
            bots=tuple(bots),
            created_us=time.time_ns() // 1000,
            finished_us=None,
            format=self._format,
            settings=dict(schedule.settings),
        )

    def _found(self, references: Sequence[str], game: str, tell: Tell) -> list[StoredBot]:
        """The bots on this machine."""
        held = confine(resolve_all(references, game), self.custody, tell)
        return [StoredBot(bot.name, bot.version, bot.to_json()) for bot in held]

    @property
    def _format(self) -> str:
        """The format: who names a goal and no format plays until it is reached."""
        if self.format == LADDER and self.kind != "league":
            raise UsageError(
                "a ladder is no tournament",
                "it has no end",
                "begin a league: arena league run NAME --game GAME",
            )
        if self.until is None:
            return self.format
        if self.format not in (DEFAULT_FORMAT, UNTIL):
            raise UsageError(
                f"--until and --format {self.format} do not go together",
                f"{self.format} ends by its own rules, and --until chooses the tables itself",
                "drop one of them",
            )
        return UNTIL

    def _schedule(self, game: AnyGame, bots: int, seats: int, seed: bytes) -> Format:
        name, deals = self._format, self._deals(bots, seats)
        own = {key: getattr(self, key) for key in ("rounds", "until", "confidence", "tolerance", "gain")}
        settings: dict[str, Any] = {key: value for key, value in own.items() if value is not None}
        if name == DEFAULT_FORMAT and is_complete(bots, seats, deals, self.rotate):
            settings["sets"] = ALL_SETS
        if name == UNTIL:
            settings["ties"] = game.ties.value
        return make_format(name, Plan(bots, seats, deals, seed, self.rotate, settings))

    def _deals(self, bots: int, seats: int) -> int:
        """Deals, or the most that there can be."""
        if self.deals is not None:
            return self.deals
        if self._format == UNTIL:
            from arena.tournament.adaptive import most_deals  # it loads what rates, which others rate without

            return most_deals(bots, seats, self.rotate)
        return _deals_for(self.matches, seats if self.rotate else 1)

    def _seats(self, game: AnyGame) -> int:
        """Seats at a table."""
        few, most = game.seats.start, game.seats.stop - 1
        if self.kind == "play" and len(self.bots) not in game.seats:
            raise PlayersError(
                f"{game.name} has {few} to {most} seats, and bots were named for {len(self.bots)}: "
                "name one for each seat, such as house:random"
            )
        if self.seats is not None and self.seats not in game.seats:
            raise PlayersError(f"{game.name} has {few} to {most} seats, and {self.seats} were asked for")
        if self.seats is None and len(self.bots) < few:
            raise PlayersError(
                f"{game.name} has {few} to {most} seats, and {len(self.bots)} bots are too few: "
                f"name more, such as house:random, or let copies of them sit down with --seats {few}"
            )
        return self.seats or min(len(self.bots), most)

    def _filled(self, seats: int) -> Sequence[str]:
        """The bots, and copies of them in turn if a table would not be full."""
        missing = max(0, seats - len(self.bots)) if self.bots else 0
        return [*self.bots, *islice(cycle(self.bots), missing)]


def bots_of(tournament: StoredTournament) -> list[BotSpec]:
    """The bots of a stored tournament, as they are started."""
    return [BotSpec.from_json(bot.spec) for bot in tournament.bots]


def check_versions(tournament: StoredTournament, do: str) -> None:
    """Whether the bots that still play are what they were.

    Args:
        tournament: whose bots they are.
        do: what to do if one has changed.

    Raises:
        ArenaError: the code of a bot has changed.
    """
    for stored, bot in zip(tournament.bots, bots_of(tournament), strict=True):
        if not stored.retired and (now := current_version(bot)) != bot.version:
            raise ArenaError(
                f"{tournament.name} cannot be resumed",
                f"the code of {bot.name} has changed since it began ({bot.version} then, {now} now)",
                do,
            )


def parse_options(pairs: Sequence[str]) -> dict[str, str]:
    """Options of a game out of `--option key=value`."""
    return dict(_pair(pair, "--option specials=2,3,4") for pair in pairs)


def parse_each(pairs: Sequence[str], limits: Limits = Limits()) -> Limits:
    """Limits out of `--each time=1s,bank=30s`, put over others."""
    for pair in (part for text in pairs for part in text.split(",")):
        key, value = _pair(pair, "--each time=1s,bank=60s,start=10s,faults=0")
        if key == "faults":
            limits = replace(limits, faults_allowed=_count(value, "faults"))
        elif key in ("time", "bank", "start"):
            name = {"time": "move_us", "bank": "bank_us", "start": "start_us"}[key]
            limits = replace(limits, **{name: parse_time(value)})
        else:
            raise UsageError(
                f"--each {pair} means nothing",
                f"there is no limit {key!r}",
                "use time, bank, start or faults",
            )
    return limits


def limits_text(limits: Limits) -> str:
    """Limits as `parse_each` reads them."""
    return (
        f"time={time_text(limits.move_us)},bank={time_text(limits.bank_us)},"
        f"start={time_text(limits.start_us)},faults={limits.faults_allowed}"
    )


def parse_seed(text: str) -> bytes:
    """A seed out of up to 64 hexadecimal digits; fewer are filled up with zeros on the left."""
    if not re.fullmatch(r"[0-9a-fA-F]{1,64}", text):
        raise UsageError(
            f"{text!r} is no seed",
            "it must be 1 to 64 hexadecimal digits",
            "leave --seed out for a random one",
        )
    return bytes.fromhex(text.zfill(2 * SEED_BYTES))


def read_definition(path: Path) -> Definition:
    """A tournament out of a TOML file.

    Its keys are those of `arena tournament run`: game, bots, seats, deals, rotate, format,
    rounds, until, confidence, tolerance, seed, name, sandbox, and the tables [options] and [each].
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}", "the path leads nowhere", "check it") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read", str(error), "mend it: it must be TOML") from None
    allowed: dict[str, type] = {
        "game": str,
        "bots": list,
        "seats": int,
        "deals": int,
        "rotate": bool,
        "format": str,
        "rounds": int,
        "until": str,
        "confidence": float,
        "tolerance": float,
        "seed": str,
        "name": str,
        "sandbox": str,
        "options": dict,
        "each": dict,
    }
    for key, value in values.items():
        if key not in allowed or not isinstance(value, allowed[key]):
            wanted = (
                f"make it a {allowed[key].__name__}" if key in allowed else f"use only {', '.join(allowed)}"
            )
            raise UsageError(f"{path} cannot be used", f"it has {key} = {value!r}", wanted)
    if missing := [key for key in ("game", "bots") if key not in values]:
        raise UsageError(
            f"{path} cannot be used", f"it has no {' and no '.join(missing)}", "add what is missing"
        )
    return _from_table(values)


def _from_table(values: dict[str, Any]) -> Definition:
    options = {key: _option_text(value) for key, value in values.pop("options", {}).items()}
    limits = parse_each([f"{key}={value}" for key, value in values.pop("each", {}).items()])
    held = custody(values.pop("sandbox", None), None)
    return Definition(**values, options=options, limits=limits, custody=held)


def _option_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _pair(text: str, example: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"{text!r} means nothing", "it is not like key=value", f"write it like {example}")
    return key.strip(), value.strip()


def _count(text: str, what: str) -> int:
    if not text.isdecimal():
        raise UsageError(
            f"{what}={text} means nothing", "it must be a whole number", f"write it like {what}=2"
        )
    return int(text)


def _deals_for(matches: int | None, per_deal: int) -> int:
    return -(-(matches or per_deal) // per_deal)


def _new_name(game: str) -> str:
    return f"{game}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for a tournament",
            "it must be 1 to 80 letters, digits or .+-_, the first a letter or a digit",
            "choose another --name",
        )
    return name
