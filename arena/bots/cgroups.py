"""Control groups: what holds memory, processes and cores of a bot together, and tells how much it was.

Where they are is found at run time: in version 2 one tree, in version 1 one tree per controller, and of
either only the part below the group that we are in ourselves, so that our own limits go on holding.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arena.bots.limits import BotLimits
from arena.bots.orphans import abandoned

_PERIOD_US = 100_000  # in which a bot may use its cores' time
_PATIENCE_S = 2.0
_OURS = "arena-self"
"""The group of version 2 that the arena goes into: one that limits groups may have no processes."""


@dataclass(frozen=True, slots=True)
class Group:
    """The control group of one life of a bot.

    Attributes:
        folders: of the group, one in each tree.
        killed: file that counts its processes that were killed for want of memory.
        peak: file with the most memory that it had in use, in bytes; it may be missing.
    """

    folders: Sequence[Path]
    killed: Path
    peak: Path

    def remove(self) -> bool:
        """Kill all that is in it, and remove it; whether it is gone."""
        end = time.monotonic() + _PATIENCE_S
        while left := [folder for folder in self.folders if not _removed(folder)]:
            if time.monotonic() > end:
                return False
            for folder in left:
                _kill(folder)
            time.sleep(0.01)
        return True


@dataclass(frozen=True, slots=True)
class Trees:
    """Where groups for bots may be made.

    Attributes:
        unified: the folder for them in version 2; None: it is version 1.
        single: the folder for them by controller in version 1.
    """

    unified: Path | None
    single: Mapping[str, Path]

    def make(self, name: str, limits: BotLimits, cores: int) -> Group:
        """Make a group.

        Args:
            name: of its folders.
            limits: what holds in it.
            cores: how many of them it can use at all.

        Raises:
            OSError: it cannot be made.
        """
        wanted = self._settings(limits, cores)
        folders = [folder / name for folder in dict.fromkeys(folder for folder, _, _ in wanted)]
        memory = (self.unified or self.single["memory"]) / name
        old = self.unified is None
        group = Group(
            folders,
            memory / ("memory.oom_control" if old else "memory.events"),
            memory / ("memory.max_usage_in_bytes" if old else "memory.peak"),
        )
        try:
            for folder in folders:
                folder.mkdir()
            for folder, key, value in wanted:
                _set(folder / name / key, value)
        except OSError:
            group.remove()
            raise
        return group

    def sweep(self, prefix: str, owners: Path) -> None:
        """Remove the groups of workers that are gone, which are empty: no bot outlives its supervisor.

        Nothing is killed. An arena with a /tmp of its own is not seen from here, and seems gone.

        Args:
            prefix: first part of the names of groups, parted by dots; the second is the worker.
            owners: folder with the folders of workers.
        """
        for name in sorted({folder.name for tree in self.folders for folder in tree.glob(f"{prefix}.*.*")}):
            with abandoned(owners / name.split(".")[1]) as is_orphan:
                if is_orphan:
                    for tree in self.folders:
                        _removed(tree / name)

    @property
    def folders(self) -> Sequence[Path]:
        """The folders in which groups are made, one in each tree."""
        return [self.unified] if self.unified is not None else list(dict.fromkeys(self.single.values()))

    def _settings(self, limits: BotLimits, cores: int) -> list[tuple[Path, str, str]]:
        """Which file of which tree gets which value, in this order; with a question mark: if it is there."""
        memory, pids = str(limits.memory_bytes), str(limits.pids)
        # A quota that cannot be reached only costs.
        quota = round(limits.cpus * _PERIOD_US) if limits.cpus < cores else 0
        if self.unified is not None:
            found = [
                ("memory.max", memory),
                ("memory.swap.max?", "0"),
                ("memory.oom.group?", "1"),
                ("pids.max", pids),
            ]
            found += [("cpu.max?", f"{quota} {_PERIOD_US}")] if quota else []
            return [(self.unified, key, value) for key, value in found]
        trees = self.single
        settings = [
            (trees["memory"], "memory.limit_in_bytes", memory),
            (trees["memory"], "memory.memsw.limit_in_bytes?", memory),
            (trees["memory"], "memory.swappiness?", "0"),
            (trees["pids"], "pids.max", pids),
        ]
        if quota and "cpu" in trees:
            settings += [
                (trees["cpu"], "cpu.cfs_period_us", str(_PERIOD_US)),
                (trees["cpu"], "cpu.cfs_quota_us", str(quota)),
            ]
        return settings


def find(mounts: Path = Path("/sys/fs/cgroup"), process: Path = Path("/proc/self")) -> Trees | None:
    """Where groups for bots may be made; None: nowhere, for lack of the right or of controllers.

    Args:
        mounts: where the trees are mounted.
        process: folder of this process in /proc.
    """
    try:
        own = _own_groups(process)
    except OSError:
        return None
    if (mounts / "cgroup.controllers").exists():
        unified = _delegated(mounts, mounts / own.get("", "/").lstrip("/"))
        return Trees(unified, {}) if unified is not None else None
    single = dict(_single(mounts, own))
    return Trees(None, single) if {"memory", "pids"} <= single.keys() else None


def _own_groups(process: Path) -> dict[str, str]:
    """Our own group by controller; that of version 2 has none."""
    own: dict[str, str] = {}
    for line in (process / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), path)
    return own


def _single(mounts: Path, own: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    for controller in ("memory", "pids", "cpu"):
        # In a container our group may be told as the host sees it, where only its contents are mounted.
        for folder in (mounts / controller / own.get(controller, "/").lstrip("/"), mounts / controller):
            if (folder / "cgroup.procs").exists():
                if os.access(folder, os.W_OK):
                    yield controller, folder
                break


def _delegated(mounts: Path, own: Path) -> Path | None:
    """The group of version 2 in which groups with limits may be made."""
    parent = own.parent if own.name == _OURS else own
    if not os.access(parent, os.W_OK):
        return None
    missing = {"memory", "pids"} - set(_words(parent / "cgroup.subtree_control"))
    with suppress(OSError):
        if missing and parent != mounts:
            _move_away(parent)
        for controller in ("memory", "pids", "cpu"):
            if controller in _words(parent / "cgroup.controllers"):
                _set(parent / "cgroup.subtree_control", f"+{controller}")
    return parent if {"memory", "pids"} <= set(_words(parent / "cgroup.subtree_control")) else None


def _move_away(parent: Path) -> None:
    """Move all processes of a group into one below it, for groups beside that to be limited."""
    leaf = parent / _OURS
    leaf.mkdir(exist_ok=True)
    # Processes that are started meanwhile are in the old group.
    for _ in range(10):
        pids = _words(parent / "cgroup.procs")
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError):
                _set(leaf / "cgroup.procs", pid)


def _set(file: Path, value: str) -> None:
    """Write a value; a file that is marked as optional may be missing or refuse it."""
    optional = file.name.endswith("?")
    try:
        with file.with_name(file.name.rstrip("?")).open("w") as opened:
            opened.write(value)
    except OSError:
        if not optional:
            raise


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _removed(folder: Path) -> bool:
    with suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def _kill(folder: Path) -> None:
    for pid in _words(folder / "cgroup.procs"):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(int(pid), signal.SIGKILL)
