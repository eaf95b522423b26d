"""The levels of sandboxes: which launcher is behind each, and whether this machine has it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.bots.launcher import Launcher

LEVELS = ("none", "bwrap", "docker", "gvisor")
"""Levels of sandboxes; each holds more than those before it."""


def launcher_for(level: str) -> Launcher:
    """What starts bots at a level of sandbox."""
    # Each has something heavy of its own, and a run needs one of them.
    launcher: Launcher
    if level == "bwrap":
        launcher = _module("bubblewrap").Bubblewrap()
    elif level in ("docker", "gvisor"):
        launcher = _module("containers").Containers(_runtime(level))
    else:
        launcher = _module("process").Processes()
    return launcher


def check_available(level: str) -> None:
    """Whether this machine can run bots at a level of sandbox, before anything is stored or started.

    Raises:
        ArenaError: it cannot; says what is missing and what to do.
    """
    if level == "bwrap":
        _module("bubblewrap").check_available()
    elif level in ("docker", "gvisor"):
        _module("containers").check_available(_runtime(level))


def _runtime(level: str) -> str:
    return "runsc" if level == "gvisor" else ""


def _module(name: str) -> Any:
    return import_module(f"arena.bots.{name}")
