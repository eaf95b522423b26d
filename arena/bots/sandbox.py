"""The levels of sandboxes: which launcher is behind each, and whether this machine has it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from arena.errors import UsageError

if TYPE_CHECKING:
    from arena.bots.launcher import Launcher
    from arena.bots.reference import BotSpec

LEVELS = ("none", "bwrap", "docker", "gvisor")
"""Levels of sandboxes; each holds more than those before it."""

CONTAINERS = ("docker", "gvisor")
"""Levels that run bots in containers, out of images."""

# Each has something heavy of its own to load, and a run needs one of them.


def launcher_for(level: str) -> Launcher:
    """What starts bots at a level of sandbox."""
    if level == "bwrap":
        from arena.bots import bubblewrap

        return bubblewrap.launcher()
    if level in CONTAINERS:
        from arena.bots.containers import Containers

        return Containers(_runtime(level))
    from arena.bots.process import Processes

    return Processes()


def check_available(level: str) -> str:
    """Whether this machine can run bots at a level of sandbox, before anything is stored or started.

    Returns:
        what of it does not hold on this machine, in words; empty if all does.

    Raises:
        ArenaError: it cannot; says what is missing and what to do.
    """
    if level == "bwrap":
        from arena.bots import bubblewrap

        return bubblewrap.check_available()
    if level in CONTAINERS:
        from arena.bots import containers

        containers.check_available(_runtime(level))
    return ""


def check_startable(bots: Iterable[BotSpec], level: str) -> None:
    """Whether bots can be started at a level of sandbox.

    Raises:
        UsageError: one is an image, which only a container can be made of.
    """
    images = [bot.name for bot in bots if not bot.command]
    if images and level not in CONTAINERS:
        raise UsageError(
            f"{', '.join(images)} cannot be started with --sandbox {level}",
            "an image runs in a container only",
            f"use --sandbox {' or '.join(CONTAINERS)}",
        )


def strictest(bots: Iterable[BotSpec]) -> str:
    """The highest level of sandbox among bots."""
    return max((bot.sandbox for bot in bots), key=LEVELS.index, default=LEVELS[0])


def _runtime(level: str) -> str:
    return "runsc" if level == "gvisor" else ""
