"""How bots are started and ended: one interface for all sandboxes."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from arena.bots.limits import BotLimits
from arena.bots.reference import BotSpec

SOCKET = "arena.sock"
"""Name of a bot's socket in its folder."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a bot is given for one life.

    Attributes:
        folder: holds its socket and nothing else; no other bot's.
        token: its one-time token.
        log: file for its stdout and stderr.
    """

    folder: Path
    token: str
    log: Path

    @property
    def address(self) -> str:
        """Where to dial, as gRPC writes it."""
        return f"unix:{self.folder / SOCKET}"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a bot ended.

    Attributes:
        text: in words.
        started: whether its program could be started at all.
        tail: the last bytes of its stderr.
        exit_code: of its first process, if that ended by itself.
        signal: name of the signal that ended its first process; empty if none did.
        memory_peak_bytes: the most memory that it had in use; 0 if that is not known.
        out_of_memory: whether it, or one of its processes, was killed at its memory limit.
        infra: why the machine is to blame and not the bot; empty if it is not.
    """

    text: str
    started: bool = True
    tail: str = ""
    exit_code: int | None = None
    signal: str = ""
    memory_peak_bytes: int = 0
    out_of_memory: bool = False
    infra: str = ""

    @property
    def is_doubtful(self) -> bool:
        """Whether the machine may have ended it.

        Nobody can tell who sent SIGKILL to a bot that was not at its memory limit: the bot itself, an
        operator, or a machine without memory.
        """
        return self.signal == "SIGKILL" and not self.out_of_memory


def in_words(code: int) -> str:
    """How a process ended.

    Args:
        code: its exit code, or minus the number of the signal that ended it.
    """
    if code >= 0:
        return f"its process ended with exit code {code}"
    return f"its process was ended by {signal_name(-code)}"


def signal_name(number: int) -> str:
    """Name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class LaunchError(Exception):
    """The machine cannot start a bot, which is not the bot's fault; the message says why."""


class Running(Protocol):
    """A bot that was started."""

    @property
    def ended(self) -> asyncio.Future[Ending]:
        """Done when it and all that it started are gone."""
        ...

    async def stop(self) -> Ending:
        """End it, whatever it does, and say how it went."""
        ...


class Launcher(Protocol):
    """Starts bots in one kind of sandbox."""

    async def start(self, bot: BotSpec, limits: BotLimits, place: Place) -> Running:
        """Start a bot that shall dial its own socket with its token.

        Raises:
            LaunchError: the machine cannot.
        """
        ...

    async def close(self) -> None:
        """Wait a moment for what is still to be cleared up after bots that have ended."""
        ...
