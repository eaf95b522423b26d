"""Two of it at one table try to find each other beside the game: each sets signs and looks for the other's.

Timing is left out: that remains, as the documentation says.
"""

import array
import ctypes
import fcntl
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from tests.hostile.probe import Probe, play_probing

LIBC = ctypes.CDLL(None, use_errno=True)
NAMES = ("left", "right")
OWN = next(word for word in sys.argv if word in NAMES)
OTHER = NAMES[1 - NAMES.index(OWN)]
FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock", "/", os.getcwd(), "/dev")
SHARED = next(
    path for path in ("/etc/passwd", "/usr/bin/python3", "/etc/hostname") if os.access(path, os.R_OK)
)
KEYS = {"left": 0x417265A, "right": 0x417265B}
HELD: list[object] = []


def call(function: str, *arguments: object) -> int:
    result: int = getattr(LIBC, function)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), function)
    return result


def mark(folder: str, who: str) -> Path:
    return Path(folder, f"hostile-corpus-{os.getuid()}-{who}")


def leave_files() -> None:
    for folder in FOLDERS:
        try:
            mark(folder, OWN).write_text(OWN)
            HELD.append(Removed(mark(folder, OWN)))
        except OSError:
            continue


class Removed:
    """A file that goes with this process, so that a test leaves nothing on a machine without a sandbox."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __del__(self) -> None:
        self.path.unlink(missing_ok=True)


def bind_abstract() -> None:
    one = socket.socket(socket.AF_UNIX)
    one.bind(f"\0hostile-corpus-{OWN}")
    one.listen()
    HELD.append(one)


def connect_abstract() -> bool:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(f"\0hostile-corpus-{OTHER}")
        return True


def hold_lock() -> None:
    file = Path(SHARED).open("rb")  # noqa: SIM115 - it is held for as long as it lives
    HELD.append(file)
    # A shared lock on a byte for each; whoever asks for an exclusive one there learns of it.
    kind = array.array("h", [fcntl.F_RDLCK, os.SEEK_SET]).tobytes() + bytes(4)
    at = array.array("q", [KEYS[OWN], 1]).tobytes() + bytes(8)
    fcntl.fcntl(file, fcntl.F_SETLK, kind + at)


def see_lock() -> bool:
    with Path(SHARED).open("rb") as file:
        kind = array.array("h", [fcntl.F_WRLCK, os.SEEK_SET]).tobytes() + bytes(4)
        at = array.array("q", [KEYS[OTHER], 1]).tobytes() + bytes(8)
        answer = fcntl.fcntl(file, fcntl.F_GETLK, kind + at)
        return array.array("h", answer[:2])[0] != fcntl.F_UNLCK


def hold_whole_file() -> None:
    if OWN == "left":
        file = Path(SHARED).open("rb")  # noqa: SIM115 - it is held for as long as it lives
        HELD.append(file)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def see_whole_file() -> bool:
    if OWN == "left":
        return False
    with Path(SHARED).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


SIGNS: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "abstract socket": (bind_abstract, connect_abstract),
    "lock on a part of a file": (hold_lock, see_lock),
    "lock on a file": (hold_whole_file, see_whole_file),
    "shared memory": (
        lambda: call("shmget", KEYS[OWN], 4096, 0o1666),
        lambda: call("shmget", KEYS[OTHER], 4096, 0) >= 0,
    ),
    "message queue": (
        lambda: call("msgget", KEYS[OWN], 0o1666),
        lambda: call("msgget", KEYS[OTHER], 0) >= 0,
    ),
    "semaphores": (
        lambda: call("semget", KEYS[OWN], 1, 0o1666),
        lambda: call("semget", KEYS[OTHER], 1, 0) >= 0,
    ),
    "key ring": (
        lambda: call("syscall", 248, b"user", OWN.encode(), b"x", 1, -4),
        lambda: call("syscall", 249, b"user", OTHER.encode(), None, -4) > 0,
    ),
}


def attempts(probe: Probe) -> None:
    for folder in FOLDERS:
        probe.attempt(f"file in {folder}", mark(folder, OTHER).exists)
    for name, (_, see) in SIGNS.items():
        probe.attempt(name, see)


if __name__ == "__main__":
    leave_files()
    for set_sign, _ in SIGNS.values():
        try:
            set_sign()
        except OSError:
            continue
    play_probing(attempts)
