"""The levels of sandboxes as the corpus uses them: whether one is here, and what starts bots in it."""

from __future__ import annotations

from arena.bots.launcher import Launcher
from arena.bots.process import Processes


def launcher(level: str) -> Launcher:
    """What starts bots at a level."""
    return Processes()


def missing(level: str) -> str:
    """Why a level cannot be used here; empty if it can."""
    return "" if level == "none" else "not made yet"
