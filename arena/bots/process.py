"""A bot as a process: started under a supervisor, its output kept, its whole tree ended at the end."""

from __future__ import annotations

import asyncio
import contextlib
import marshal
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from arena.bots import supervisor
from arena.bots.reference import BotSpec

# What a bot gets of our environment. No more: it might hold secrets, and runs would differ by it.
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a bot's process ended.

    Attributes:
        text: in words.
        started: whether its program could be started at all.
        tail: the last bytes of its stderr.
    """

    text: str
    started: bool
    tail: str

    def describe(self) -> str:
        """For the bot's author: how it ended, and what it last said."""
        tail = self.tail.strip()
        return (
            f"{self.text}; its last words on stderr:\n{tail}"
            if tail
            else f"{self.text}, and nothing on stderr"
        )


class BotProcess:
    """A running bot.

    Attributes:
        ended: done when the process and all its descendants are gone.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.ended: asyncio.Task[Ending] = asyncio.create_task(self._wait())

    @classmethod
    async def start(cls, spec: BotSpec, address: str, token: str, log: Path, log_bytes: int) -> BotProcess:
        """Start a bot that shall dial an address with a token.

        Args:
            spec: the bot.
            address: as gRPC writes it, such as "unix:/path".
            token: its one-time token.
            log: file for its stdout and stderr.
            log_bytes: how much of them is kept.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            supervisor.__file__,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        config = {
            "command": list(spec.command),
            "folder": spec.folder,
            "environment": _environment(address, token),
            "log": str(log),
            "log_bytes": log_bytes,
        }
        assert process.stdin is not None
        written = marshal.dumps(config)  # the same Python reads it
        process.stdin.write(len(written).to_bytes(4, "big") + written)
        return cls(process)

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
        if not written:
            return Ending("its supervisor was killed", True, "")
        report = marshal.loads(written)
        if report["failure"]:
            return Ending(f"its program cannot be started: {report['failure']}", False, "")
        return Ending(_in_words(report["code"]), True, report["tail"])


def log_name(bot: str, worker: int) -> str:
    """Name of the file with what a bot wrote while a worker ran it."""
    return f"{bot}.{worker}.log"


def _in_words(code: int) -> str:
    if code >= 0:
        return f"its process ended with exit code {code}"
    try:
        return f"its process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"its process was ended by signal {-code}"


def _environment(address: str, token: str) -> dict[str, str]:
    environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    # `python3` in a bot.toml means the Python that has the SDK: the arena's own.
    folder = str(Path(sys.executable).parent)
    environment["PATH"] = os.pathsep.join([folder, environment.get("PATH", os.defpath)])
    environment |= {"ARENA_ADDR": address, "ARENA_TOKEN": token, "PYTHONUNBUFFERED": "1"}
    return environment
