"""What a bot may have left on the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from arena.bots.engine import connect
from tests.hostile.levels import CONTAINERS
from tests.hostile.playing import Played


def traces(level: str, played: Played) -> Iterator[str]:
    """Everything that is still there of the bots of a case."""
    for line in processes_with(played.mark):
        yield f"a process is left: {line}"
    for name, place in played.places:
        worker = place.folder.parent.name
        for left in [*_groups(worker), *(_containers(worker) if level in CONTAINERS else ())]:
            yield f"of {name} is left: {left}"
        if place.folder.exists() or place.folder.parent.exists():
            yield f"the folder of a socket of {name} is left"


def processes_with(word: str) -> list[str]:
    """Command lines of all processes that hold a word."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found


def _groups(worker: str) -> list[str]:
    """Control groups that are named after a worker's folder."""
    # Others make and remove groups meanwhile, which this walk does not mind.
    walk = os.walk("/sys/fs/cgroup")
    return [f"{folder}/{name}" for folder, names, _ in walk for name in names if worker in name]


def _containers(worker: str) -> list[str]:
    """Containers that are named after a worker's folder."""
    client = connect()
    try:
        return [found["Names"][0] for found in client.containers(all=True, filters={"name": worker})]
    finally:
        client.close()
