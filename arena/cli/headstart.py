"""A worker that starts before all else: loading is most of a short run, and this does half of it meanwhile.

While the arena loads what reads the command line, the worker loads what plays. Which bots it has
is told it later; until then it is nothing but a process that waits.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from arena.cli.line import is_remote, split
from arena.tournament.process import WorkerProcess

WORKER_COMMAND = (sys.executable, "-m", "arena.runs.worker")

_PLAYING = (["play"], ["tournament", "run"], ["tournament", "resume"], ["league", "run"])

_waiting: list[WorkerProcess] = []


def begin(arguments: Sequence[str]) -> None:
    """Start a worker if this command line looks as if it will need one."""
    front, rest = split(arguments)
    words = [word for word in rest if not word.startswith("-")]
    if (
        "--help" not in rest
        and not is_remote(front)
        and any(words[: len(start)] == start for start in _PLAYING)
    ):
        _waiting.append(WorkerProcess(WORKER_COMMAND))


def take() -> WorkerProcess | None:
    """The worker that was started, for one that ends it."""
    return _waiting.pop() if _waiting else None


def drop() -> None:
    """End the worker if nobody took it."""
    if (worker := take()) is not None:
        worker.end()
