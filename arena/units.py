"""Lengths of time and sizes as people write them."""

from __future__ import annotations

import re

from arena.errors import UsageError

_TIMES = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000}
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(us|ms|s|m)")
_SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(B|KiB|MiB|GiB)")


def parse_time(text: str) -> int:
    """A length of time such as 500ms, 1.5s or 2m, in microseconds.

    Raises:
        UsageError: it is none.
    """
    found = _TIME.fullmatch(text)
    microseconds = int(float(found[1]) * _TIMES[found[2]]) if found else 0
    if microseconds < 1:
        raise UsageError(
            f"{text!r} is no time", "it must be a number and a unit", "write it as 500ms, 1.5s or 2m"
        )
    return microseconds


def time_text(microseconds: int) -> str:
    """A length of time as `parse_time` reads it."""
    unit = next(unit for unit in ("s", "ms", "us") if microseconds % _TIMES[unit] == 0)
    return f"{microseconds // _TIMES[unit]}{unit}"


def parse_size(text: str) -> int:
    """A size such as 64MiB or 1.5GiB, in bytes.

    Raises:
        UsageError: it is none.
    """
    found = _SIZE.fullmatch(text)
    size = int(float(found[1]) * _SIZES[found[2]]) if found else 0
    if size < 1:
        raise UsageError(
            f"{text!r} is no size", "it must be a number and a unit", "write it as 256KiB, 64MiB or 1GiB"
        )
    return size


def size_text(size: int) -> str:
    """A size in bytes as `parse_size` reads it."""
    unit = next(unit for unit in ("GiB", "MiB", "KiB", "B") if size % _SIZES[unit] == 0)
    return f"{size // _SIZES[unit]}{unit}"
