"""What the organiser allows on his machine: the file `limits.toml`, and how bots' wishes are capped by it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from arena.bots.limits import (
    BOT_KEYS,
    BotLimits,
    Key,
    duration,
    flag,
    read_table,
    size,
    table,
    text,
)
from arena.bots.sandbox import LEVELS
from arena.errors import NotFoundError, UsageError

MOST = BotLimits(
    memory_bytes=1 << 30,
    cpus=2.0,
    pids=128,
    tmp_bytes=64 << 20,
    start_us=20_000_000,
    log_bytes=1 << 20,
)
"""What a bot may have at most, if the organiser says nothing."""


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """What building a bot's image may use.

    Attributes:
        network: whether it may reach the network.
        memory_bytes: memory of all its processes together.
        seconds: how long it may take.
        log_bytes: how much of its output is kept.
        size_bytes: the greatest size of what it adds to its base image.
        base: name of the base image by language; those that are left out have the arena's own.
    """

    network: bool = False
    memory_bytes: int = 2 << 30
    seconds: float = 300.0
    log_bytes: int = 1 << 20
    size_bytes: int = 1 << 30
    base: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Organiser:
    """What the organiser decided.

    Attributes:
        sandbox: the level of sandbox if a command names none; None: he left it open.
        most: the most that a bot gets of each thing, whatever it asks for.
        build: limits of builds.
    """

    sandbox: str | None = None
    most: BotLimits = MOST
    build: BuildLimits = field(default_factory=BuildLimits)

    def capped(self, limits: BotLimits) -> BotLimits:
        """What a bot gets that asks for these limits."""
        return replace(limits, **{name: getattr(self.most, name) for name in self.beyond(limits)})

    def beyond(self, limits: BotLimits) -> list[str]:
        """Fields of limits that are greater than what a bot may have at most."""
        names = [each.name for each in fields(BotLimits)]
        return [name for name in names if getattr(limits, name) > getattr(self.most, name)]


def level(value: object) -> str:
    """A level of sandbox.

    Raises:
        ValueError: there is no such level.
    """
    if value not in LEVELS:
        raise ValueError
    return str(value)


_TOP = {
    "sandbox": Key("sandbox", level, f'"docker" (or {", ".join(LEVELS)})'),
    "most": Key("most", table, '{ memory = "1GiB" }, or as a table [most]'),
    "build": Key("build", table, "{ network = false }, or as a table [build]"),
}
_BUILD = {
    "network": Key("network", flag, "false"),
    "memory": Key("memory_bytes", size, '"2GiB"', 64 << 20, 1 << 50),
    "time": Key("seconds", lambda value: duration(value) / 1e6, '"5m"', 1, 24 * 3600),
    "log": Key("log_bytes", size, '"1MiB"', 1 << 10, 1 << 40),
    "size": Key("size_bytes", size, '"1GiB"', 1 << 20, 1 << 50),
    "base": Key("base", table, '{ python = "botarena/python" }, or as a table [build.base]'),
}


def read_organiser(path: Path | None) -> Organiser:
    """What the organiser's file says; None: what holds without one.

    Raises:
        NotFoundError: there is no such file.
        UsageError: it is no TOML, or means nothing.
    """
    if path is None:
        return Organiser()
    where, values = str(path), read_table(str(path), "", _toml(path), _TOP)
    most = read_table(where, "[most]", values.pop("most", {}), BOT_KEYS)
    build = read_table(where, "[build]", values.pop("build", {}), _BUILD)
    return Organiser(most=replace(MOST, **most), build=BuildLimits(**_with_base(where, build)), **values)


def _with_base(where: str, build: dict[str, Any]) -> dict[str, Any]:
    base = build.get("base", {})
    names = {language: Key(language, text, '"botarena/python"') for language in base}
    return {**build, "base": read_table(where, "[build.base]", base, names)}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}", "the path leads nowhere", "check it") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read", str(error.strerror), "check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read", str(error), "mend it: it must be TOML") from None
