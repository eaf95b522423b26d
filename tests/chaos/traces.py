"""The processes of a disturbed arena, and what it leaves behind."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from arena.bots.orphans import abandoned
from tests.e2e.arena import Arena


def workers(arena: Arena) -> list[int]:
    """Process ids of its workers."""
    return [number for number, line in arena.processes().items() if "arena.runs.worker" in line]


@dataclass(frozen=True, slots=True)
class RunningBot:
    """A bot that runs.

    Attributes:
        worker: what tells its worker from others.
        name: what tells it from the worker's other bots.
        process: its process id.
        supervisor: that of its supervisor; 0 if it has none.
    """

    worker: str
    name: str
    process: int
    supervisor: int = 0


def supervised(arena: Arena) -> list[RunningBot]:
    """The bots that run under a supervisor."""
    found = []
    for number, line in arena.processes().items():
        if "supervisor.py" in line and (bot := _last_of(number)) != number:
            found.append(RunningBot(str(_parent(number)), _line(bot), bot, number))
    return found


def _last_of(number: int) -> int:
    """The end of the line of children: the bot, whatever stands between it and its supervisor."""
    try:
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
    except OSError:
        return number
    return _last_of(int(children[0])) if children else number


def _line(number: int) -> str:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _parent(number: int) -> int:
    """Process id of a process's parent; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def signal_to(number: int, which: int) -> bool:
    """Send a signal; whether there was somebody to get it."""
    try:
        os.kill(number, which)
    except ProcessLookupError:
        return False
    return True


def orphans() -> set[str]:
    """What belongs to no worker that lives: folders in /tmp, but for those without a name yet, and groups."""
    owners = {folder: folder for folder in Path("/tmp").glob("arena-*") if "arena-new-" not in folder.name}
    for folder, names, _ in os.walk("/sys/fs/cgroup"):  # others make and remove groups meanwhile
        for name in names:
            if name.startswith("arena-bot.arena-sock-"):
                owners[Path(folder, name)] = Path("/tmp") / name.split(".")[1]
    return {str(trace) for trace, owner in owners.items() if _is_abandoned(owner) and trace.exists()}


def _is_abandoned(folder: Path) -> bool:
    with abandoned(folder) as is_orphan:
        return is_orphan


def is_ready(number: int) -> bool:
    """Whether a command has begun to listen to signals; before, it is but an interpreter that starts."""
    try:
        status = Path(f"/proc/{number}/status").read_text()
    except OSError:
        return True  # it has ended: nobody needs to wait for it
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), "0")
    return bool(int(caught, 16) >> signal.SIGTERM - 1 & 1)
