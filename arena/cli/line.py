"""A command line's global options, which may stand anywhere in it. Read before anything else is loaded."""

from __future__ import annotations

import os
from collections.abc import Sequence

SERVER = "--server"
TLS_CA = "--tls-ca"
_FLAGS = frozenset({"--json", "--csv", "--quiet", "-v", "-vv", "--no-color"})
_VALUED = frozenset({SERVER, TLS_CA})


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The global options of a line, with their values, and the rest of it."""
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in _VALUED:
            front += [word, *([value] if (value := next(words, None)) is not None else [])]
        else:
            is_global = word in _FLAGS or word.partition("=")[0] in _VALUED
            (front if is_global else rest).append(word)
    return front, rest


def is_remote(front: Sequence[str]) -> bool:
    """Whether a line with these global options is for a server."""
    return bool(os.environ.get("ARENA_SERVER")) or any(word.partition("=")[0] == SERVER for word in front)
