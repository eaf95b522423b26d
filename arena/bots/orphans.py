"""What a killed worker left behind: all that belongs to a folder of sockets which nobody holds locked."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = "lock"
"""Name of the file in a worker's folder of sockets that it holds locked for as long as it lives."""


def home() -> str:
    """Which start of this machine this is, and which /tmp: whoever has another one sees other folders."""
    start = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    place = Path("/tmp").stat()
    return f"{start}/{place.st_dev}.{place.st_ino}"


def can_tell(its_home: str) -> bool:
    """Whether a worker's folder must be here if it lives, which has this home.

    Args:
        its_home: as `home` told it there.
    """
    start, _, _ = home().partition("/")
    return its_home == home() or not its_home.startswith(f"{start}/")


@contextmanager
def abandoned(folder: Path) -> Iterator[bool]:
    """Whether a worker's folder of sockets is nobody's any more; meanwhile no other one is told so.

    Args:
        folder: of a worker; it may be gone.
    """
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        yield True
        return
    except OSError:  # of another user, whose it is to know
        yield False
        return
    try:
        yield _lock(lock)
    finally:
        os.close(lock)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
