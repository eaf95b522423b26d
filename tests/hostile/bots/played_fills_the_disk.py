"""Writes a large file, many files and a sparse file wherever it can; its /tmp may take a little of that."""

import os
import time
from pathlib import Path

from tests.hostile.probe import Probe, play_probing

PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/dev", "/", "/home", "/root", "/proc", "/sys", os.getcwd())
ALLOWED = 40 << 20
FILES = 200_000
CHUNK = bytes(1 << 20)


def large_file(folder: str) -> int:
    """What was written beyond what is allowed."""
    path = Path(folder, f"large-{os.getpid()}")
    written = 0
    try:
        with path.open("wb", buffering=0) as file:
            while written <= 2 * ALLOWED:
                written += file.write(CHUNK)
    except OSError:
        pass
    finally:
        path.unlink(missing_ok=True)
    return max(0, written - ALLOWED)


def many_files(folder: str) -> int:
    """How many files were made, if no end came."""
    made, until = 0, time.monotonic() + 3
    base = Path(folder, f"many-{os.getpid()}")
    base.mkdir()
    try:
        while made < FILES and time.monotonic() < until:
            os.close(os.open(base / str(made), os.O_CREAT | os.O_WRONLY))
            made += 1
    except OSError:
        return 0
    finally:
        for number in range(made):
            os.unlink(base / str(number))
        base.rmdir()
    return made


def sparse_file(folder: str) -> int:
    """Blocks that a file with holes took beyond what is allowed."""
    path = Path(folder, f"sparse-{os.getpid()}")
    try:
        with path.open("wb", buffering=0) as file:
            os.truncate(file.fileno(), 1 << 40)
            for at in range(0, 1 << 40, 1 << 33):
                file.seek(at)
                file.write(CHUNK)
            return max(0, os.fstat(file.fileno()).st_blocks * 512 - ALLOWED)
    finally:
        path.unlink(missing_ok=True)


def attempts(probe: Probe) -> None:
    for place in PLACES:
        probe.attempt(f"large file in {place}", large_file, place)
        probe.attempt(f"sparse file in {place}", sparse_file, place)
        if place != "/tmp":
            probe.attempt(f"files in {place}", many_files, place)
    probe.attempt("many files in /tmp", many_files, "/tmp")


if __name__ == "__main__":
    play_probing(attempts)
