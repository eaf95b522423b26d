"""A command of the arena that is disturbed, and what it may say at its end."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tests.e2e.arena import Arena

_INTERRUPTED = 130
_LOOK_EVERY_S = 0.02


class Command:
    """A command that plays.

    Args:
        arena: whose command it is.
        line: its words.
        talk: file for what it says.

    Attributes:
        struck: bots that were killed while it played, by worker.
        excused: exit codes that are no problem any more, besides 0.
    """

    def __init__(self, arena: Arena, line: Sequence[str], talk: Path) -> None:
        self._talk = talk
        self.struck: set[tuple[str, str]] = set()
        self.excused: frozenset[int] = frozenset()
        with talk.open("wb") as file:
            self._process = arena.start(*line, talk=file)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def lives(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def said(self) -> str:
        """What it said until now."""
        return self._talk.read_text(errors="replace")

    def lives_until(self, moment: Callable[[], bool], seconds: float) -> bool:
        """Wait for a moment, no longer than so many seconds; whether it lives then."""
        until = time.monotonic() + seconds
        while self.lives and not moment() and time.monotonic() < until:
            time.sleep(_LOOK_EVERY_S)
        return self.lives

    def end(self, seconds: float) -> int:
        """Its exit code; it is killed if that takes too long."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        self._process.kill()
        return self._process.wait()


def wrong_in(said: str, code: int) -> str:
    """What is wrong with what a command said at its end; empty if nothing is."""
    if "Traceback" in said:
        return f"a stack trace: {said[said.index('Traceback') :][-600:]!r}"
    parts = [f"\n{word}: " in f"\n{said}" for word in ("error", "why", "do")]
    if code > 0 and code != _INTERRUPTED and not all(parts):
        return f"no error that says what, why and what to do: {said[-300:]!r}"
    return ""
