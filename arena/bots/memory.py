"""What memory a bot had in use, read from a control group that somebody else made for it."""

from __future__ import annotations

from pathlib import Path

_MOUNTS = Path("/sys/fs/cgroup")


class MemoryWatch:
    """The most memory that a control group had in use, and what was killed at its limit.

    Both are gone when the group is, so they are looked at while it lives.

    Args:
        group: its folder in the file system of control groups, of either version; None: it is not known.

    Attributes:
        peak_bytes: the most that was seen; 0 if nothing was.
        killed: whether a process was seen to have been killed.
    """

    def __init__(self, group: Path | None) -> None:
        self._group = group
        self.peak_bytes = 0
        self.killed = False

    def look(self) -> None:
        """See how things are now."""
        if self._group is None:
            return
        # Version 2 tells the peak only since Linux 5.19.
        peaks = ("memory.peak", "memory.max_usage_in_bytes", "memory.current")
        peak = next((text for name in peaks if (text := _read(self._group / name))), "0")
        self.peak_bytes = max(self.peak_bytes, int(peak))
        events = _read(self._group / "memory.events") or _read(self._group / "memory.oom_control")
        self.killed = self.killed or any(
            name == "oom_kill" and count != "0" for name, _, count in map(_parted, events.splitlines())
        )


def memory_group(pid: int, name: str) -> Path | None:
    """The control group for memory that a process is in, if that was made under a name; None if it was not.

    Args:
        pid: of the process.
        name: a part of the group's path.
    """
    for line in _read(Path(f"/proc/{pid}/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if name not in path:
            continue
        if controllers == "":
            return _MOUNTS / path.lstrip("/")
        if "memory" in controllers.split(","):
            return _MOUNTS / "memory" / path.lstrip("/")
    return None


def _parted(line: str) -> tuple[str, str, str]:
    return line.partition(" ")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
