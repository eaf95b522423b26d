"""What is done to a tournament while it is played, and how its command may end by it."""

from __future__ import annotations

import random
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from tests.chaos import traces
from tests.chaos.containers import ContainerEngine
from tests.chaos.disk import Disk
from tests.chaos.traces import RunningBot
from tests.e2e.arena import Arena

T = TypeVar("T")

KILLED = -signal.SIGKILL
FAILED = 1
INTERRUPTED = 130


@dataclass(slots=True)
class Scene:
    """Where a blow falls.

    Attributes:
        arena: whose processes they are.
        pid: of the command that plays; it lives.
        rng: chooses the victim.
        disk: holds the database and the logs; None if there is none of the experiment's own.
        engine: runs the bots; None if none does.
        struck: bots that were killed already, by worker: to be killed twice in one match is their own fault.
    """

    arena: Arena
    pid: int
    rng: random.Random
    disk: Disk | None
    engine: ContainerEngine | None
    struck: set[tuple[str, str]] = field(default_factory=set)


Strike: TypeAlias = Callable[[Scene], bool]
"""Does it; whether there was a victim."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of blow.

    Attributes:
        strike: deals it.
        codes: with which the command may end by it, and soon does; empty: it goes on.
        mend: takes it back, once the command has ended.
        needs: "disk" if it is done to that, and whoever resumes before it is mended meets it too; "engine" or
            "supervisor".
        excuses: codes with which the command may end after it, though it need not.
    """

    strike: Strike
    codes: frozenset[int] = frozenset()
    mend: Callable[[Disk], None] | None = None
    needs: str = ""
    excuses: frozenset[int] = frozenset()


def _to_arena(number: int) -> Strike:
    return lambda scene: traces.is_ready(scene.pid) and traces.signal_to(scene.pid, number)


def _kill_worker(scene: Scene) -> bool:
    return any(
        traces.signal_to(worker, signal.SIGKILL) for worker in _one(scene, traces.workers(scene.arena))
    )


def _kill_both(scene: Scene) -> bool:
    _kill_worker(scene)
    time.sleep(scene.rng.choice((0.0, scene.rng.uniform(0, 0.5))))
    return traces.signal_to(scene.pid, signal.SIGKILL)


def _kill_bot(scene: Scene) -> bool:
    return any(traces.signal_to(bot.process, signal.SIGKILL) for bot in _unstruck_bot(scene))


def _kill_supervisor(scene: Scene) -> bool:
    return any(traces.signal_to(bot.supervisor, signal.SIGKILL) for bot in _unstruck_bot(scene))


def _unstruck_bot(scene: Scene) -> list[RunningBot]:
    running = scene.engine.bots() if scene.engine is not None else traces.supervised(scene.arena)
    chosen = _one(scene, [bot for bot in running if (bot.worker, bot.name) not in scene.struck])
    scene.struck |= {(bot.worker, bot.name) for bot in chosen}
    return chosen


def _kill_engine(scene: Scene) -> bool:
    assert scene.engine is not None
    scene.engine.blink(scene.rng.uniform(0, 2))
    return True


def _stop_for_a_while(scene: Scene) -> bool:
    victim = scene.rng.choice([scene.pid, *traces.workers(scene.arena)])
    found = traces.signal_to(victim, signal.SIGSTOP)
    time.sleep(scene.rng.uniform(0.1, 6.0))
    traces.signal_to(victim, signal.SIGCONT)
    return found


def _fill_disk(scene: Scene) -> bool:
    # The write-ahead log reuses the room that it has: without any, it feels the full disk at once.
    with suppress(sqlite3.Error), closing(sqlite3.connect(scene.arena.folder / "arena.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert scene.disk is not None
    scene.disk.fill()
    return True


def _turn_read_only(scene: Scene) -> bool:
    assert scene.disk is not None
    scene.disk.turn_read_only()
    return True


def _cut_power(scene: Scene) -> bool:
    """Everything ends at once, as far as that can be done from inside: the disk first, then all processes."""
    if scene.disk is not None:
        scene.disk.cut_power()
    for number in scene.arena.processes():
        traces.signal_to(number, signal.SIGKILL)
    return True


def _one(scene: Scene, among: list[T]) -> list[T]:
    return [scene.rng.choice(among)] if among else []


KINDS = {
    "kill arena": Kind(_to_arena(signal.SIGKILL), frozenset({KILLED})),
    "kill worker": Kind(_kill_worker),
    "kill both": Kind(_kill_both, frozenset({KILLED})),
    "kill bot": Kind(_kill_bot),
    "kill supervisor": Kind(_kill_supervisor, needs="supervisor"),
    "full disk": Kind(_fill_disk, frozenset({FAILED}), Disk.free, "disk"),
    "read-only disk": Kind(_turn_read_only, frozenset({FAILED}), Disk.mend, "disk"),
    "power cut": Kind(_cut_power, frozenset({KILLED}), Disk.mend),
    "SIGTERM": Kind(_to_arena(signal.SIGTERM), frozenset({INTERRUPTED})),
    "SIGINT": Kind(_to_arena(signal.SIGINT), frozenset({INTERRUPTED})),
    "kill dockerd": Kind(_kill_engine, needs="engine", excuses=frozenset({FAILED})),
    "stop": Kind(_stop_for_a_while),
}
