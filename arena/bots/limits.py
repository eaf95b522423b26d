"""What a bot may use of the machine, and how that is written in TOML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from typing import Any, TypeVar

from arena.errors import UsageError
from arena.units import parse_size, parse_time, size_text, time_text

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BotLimits:
    """What a bot may use of the machine.

    Attributes:
        memory_bytes: memory of all its processes together.
        cpus: cores that they keep busy together.
        pids: its processes and threads.
        tmp_bytes: what it may write to /tmp, which is all that it may write.
        start_us: longest time from its start to its hello, in microseconds; 0: the tournament's.
        log_bytes: how much of its output is kept, per worker.
    """

    memory_bytes: int = 512 << 20
    cpus: float = 1.0
    pids: int = 64
    tmp_bytes: int = 16 << 20
    start_us: int = 0
    log_bytes: int = 256 << 10


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a table of TOML.

    Attributes:
        field: the field that it fills.
        read: its value out of what TOML gives; raises ValueError, TypeError or UsageError.
        example: how it may be written.
        least: the least value; None: no such bound.
        most: the greatest value; None: no such bound.
    """

    field: str
    read: Callable[[Any], Any]
    example: str
    least: float | None = None
    most: float | None = None


def size(value: object) -> int:
    """A size in bytes out of a string."""
    return parse_size(_exactly(value, str))


def duration(value: object) -> int:
    """A length of time in microseconds out of a string."""
    return parse_time(_exactly(value, str))


def whole(value: object) -> int:
    """A whole number."""
    return _exactly(value, int)


def number(value: object) -> float:
    """A number, whole or not."""
    return float(value) if type(value) is int else _exactly(value, float)


def flag(value: object) -> bool:
    """True or false."""
    return _exactly(value, bool)


def table(value: object) -> dict[str, Any]:
    """A table."""
    return _exactly(value, dict)


def text(value: object) -> str:
    """A string with something in it."""
    if not _exactly(value, str):
        raise ValueError
    return str(value)


# The least that a sandbox can be made with: what a bot asks for must not make a machine's failure of it.
# The most keeps figures within what a kernel takes.
BOT_KEYS: Mapping[str, Key] = {
    "memory": Key("memory_bytes", size, '"512MiB"', 16 << 20, 1 << 50),
    "cpus": Key("cpus", number, "1.5", 0.05, 1024),
    "pids": Key("pids", whole, "64", 8, 1 << 20),
    "tmp": Key("tmp_bytes", size, '"16MiB"', 64 << 10, 1 << 50),
    "start": Key("start_us", duration, '"10s"', 1, 24 * 3600 * 1_000_000),
    "log": Key("log_bytes", size, '"256KiB"', 1 << 10, 1 << 40),
}
"""Keys of `[limits]` in a bot.toml and of `[most]` in the organiser's file: one vocabulary."""


def read_table(
    where: str,
    name: str,
    table: Mapping[str, object],
    keys: Mapping[str, Key],
    error: type[UsageError] = UsageError,
) -> dict[str, Any]:
    """Values by field out of a table of TOML.

    Args:
        where: the file.
        name: the table's, as it is written; empty: the file itself.
        table: what stands there.
        keys: what may stand there.
        error: what is raised.

    Raises:
        UsageError: an unknown key, or a value that means nothing.
    """
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in keys:
            raise error(
                f"{where} cannot be used",
                f"{name or 'it'} has an unknown key {shown(key)}",
                f"use only {', '.join(keys)}",
            )
        values[keys[key].field] = _read(where, name, key, value, keys[key], error)
    return values


def limit_text(field: str, value: float) -> str:
    """A limit of a bot as it is written in TOML, such as memory 64MiB."""
    key = next(key for key, rule in BOT_KEYS.items() if rule.field == field)
    if field.endswith("_bytes"):
        return f"{key} {size_text(int(value))}"
    return f"{key} {time_text(int(value))}" if field.endswith("_us") else f"{key} {value:g}"


def _read(where: str, name: str, key: str, value: object, rule: Key, error: type[UsageError]) -> Any:
    what = f"{where} cannot be used"
    why = f"{key} in {name} is {shown(value)}" if name else f"{key} is {shown(value)}"
    try:
        read = rule.read(value)
    except (TypeError, ValueError, UsageError):
        raise error(what, why, f"write it like {key} = {rule.example}") from None
    if rule.least is not None and read < rule.least:
        raise error(what, f"{why}, which is too little", f"write it like {key} = {rule.example}")
    # Not only what is greater: nothing compares with nan.
    if rule.most is not None and not read <= rule.most:
        raise error(what, f"{why}, which is too much", f"write it like {key} = {rule.example}")
    return read


def _exactly(value: object, kind: type[T]) -> T:
    """The value, if it is of this type: TOML's true is no number."""
    if type(value) is not kind:
        raise TypeError
    return value
