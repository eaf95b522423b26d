"""The processes of a disturbed arena, and what it leaves behind."""

from __future__ import annotations

import fcntl
import os
import signal
from pathlib import Path

from tests.e2e.arena import Arena


def workers(arena: Arena) -> list[int]:
    """Process ids of its workers."""
    return [number for number, line in arena.processes().items() if "arena.cli.worker" in line]


def supervised(arena: Arena) -> list[tuple[int, int, int, str]]:
    """Each bot that runs: process ids of its worker, its supervisor and itself, and its command line."""
    lines = arena.processes()
    found = []
    for number, line in lines.items():
        above = parent(number)
        if "supervisor.py" in lines.get(above, "") and "supervisor.py" not in line:
            found.append((parent(above), above, number, line))
    return found


def parent(number: int) -> int:
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


def orphaned_folders() -> list[str]:
    """The arena's folders in /tmp that nobody holds locked."""
    return [
        str(folder) for folder in Path("/tmp").glob("arena-*") if folder.is_dir() and not _is_held(folder)
    ]


def _is_held(folder: Path) -> bool:
    try:
        with (folder / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return not folder.exists()
    return False


def is_ready(number: int) -> bool:
    """Whether a command has begun to listen to signals; before, it is but an interpreter that starts."""
    try:
        status = Path(f"/proc/{number}/status").read_text()
    except OSError:
        return True  # it has ended: nobody needs to wait for it
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), "0")
    return bool(int(caught, 16) >> signal.SIGTERM - 1 & 1)
