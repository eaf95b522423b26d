"""Bots as processes without a sandbox: under a supervisor, output kept, whole tree ended at the end."""

from __future__ import annotations

import asyncio
import contextlib
import marshal
import os
import sys
from pathlib import Path
from typing import Any

from arena.bots import supervisor
from arena.bots.launcher import Ending, Place, in_words, signal_name
from arena.bots.limits import BotLimits
from arena.bots.reference import BotSpec

# What a bot gets of our environment. No more: it might hold secrets, and runs would differ by it.
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")


Report = dict[str, Any]
"""What a supervisor tells at its end: `failure` (why the command could not be started), `code` (as subprocess
has it), `tail` (of stderr), `memory_peak`, `memory_killed`, `status` (what the command told about itself)."""


class BotProcess:
    """A running bot, under a supervisor.

    Args:
        process: the supervisor.

    Attributes:
        ended: done when the process and all its descendants are gone.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.ended: asyncio.Task[Ending] = asyncio.create_task(self._wait())

    @classmethod
    async def start(cls, bot: BotSpec, limits: BotLimits, place: Place) -> BotProcess:
        """Start a bot that shall dial its socket with its token."""
        config = {
            "command": list(bot.command),
            "folder": bot.folder,
            "environment": _environment(place),
            "log": str(place.log),
            "log_bytes": limits.log_bytes,
        }
        return cls(await supervise(config))

    async def stop(self) -> Ending:
        """Ask it to end, end it, and say how it went."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        return await self.ended

    async def _wait(self) -> Ending:
        assert self._process.stdout is not None
        written = await self._process.stdout.read()
        await self._process.wait()
        return await self._judge(marshal.loads(written) if written else None)

    async def _judge(self, report: Report | None) -> Ending:
        """How it ended; None: nobody tells."""
        if report is None:
            return Ending("its supervisor was killed", signal="SIGKILL")  # which takes the bot with it
        if report["failure"]:
            return Ending(f"its program cannot be started: {report['failure']}", started=False)
        return ending_of(report["code"], report)


async def supervise(config: dict[str, Any]) -> asyncio.subprocess.Process:
    """Start a supervisor, and with it what its configuration says (see there)."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        supervisor.__file__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    written = marshal.dumps(config)  # the same Python reads it
    process.stdin.write(len(written).to_bytes(4, "big") + written)
    return process


def ending_of(code: int, report: Report) -> Ending:
    """How a program ended.

    Args:
        code: its exit code, or less than 0: the signal that ended it.
        report: what its supervisor tells.
    """
    return Ending(
        in_words(code),
        tail=report["tail"],
        exit_code=code if code >= 0 else None,
        signal=signal_name(-code) if code < 0 else "",
        memory_peak_bytes=report["memory_peak"],
    )


class Processes:
    """Starts bots as processes of this machine, for bots that are trusted."""

    async def start(self, bot: BotSpec, limits: BotLimits, place: Place) -> BotProcess:
        """Start a bot; of its limits only that of its output holds."""
        return await BotProcess.start(bot, limits, place)

    async def close(self) -> None:
        """Nothing is left: each supervisor ends with all that it started."""


def log_name(bot: str, worker: int) -> str:
    """Name of the file with what a bot wrote while a worker ran it."""
    return f"{bot}.{worker}.log"


def _environment(place: Place) -> dict[str, str]:
    environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    # `python3` in a bot.toml means the Python that has the SDK: the arena's own.
    folder = str(Path(sys.executable).parent)
    environment["PATH"] = os.pathsep.join([folder, environment.get("PATH", os.defpath)])
    environment |= {"ARENA_ADDR": place.address, "ARENA_TOKEN": place.token, "PYTHONUNBUFFERED": "1"}
    return environment
