"""Two of it at one table try to find each other beside the game: each sets signs and looks for the other's.

Timing is left out: that remains, as the documentation says.
"""

import array
import ctypes
import fcntl
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from tests.hostile.probe import Probe, play_probing

LIBC = ctypes.CDLL(None, use_errno=True)
NAMES = ("left", "right")
OWN = next(word for word in sys.argv if word in NAMES)
OTHER = NAMES[1 - NAMES.index(OWN)]
FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock", "/", os.getcwd(), "/dev")
# Read-only files that may be the same for both: the system's, and their own code. Each is for one sign alone,
# since to close a file is to lose all locks on it.
CODE = Path(__file__).parent.parent
LOCKED = ("/usr/bin/env", str(CODE / "raw.py"))
HELD_WHOLE = {
    "left": ("/usr/bin/sort", str(CODE / "http2.py")),
    "right": ("/usr/bin/cut", str(CODE / "choice.py")),
}
READ = {"left": ("/usr/bin/id", __file__), "right": ("/usr/bin/tail", str(CODE / "probe.py"))}
IN_OPEN, IN_NONBLOCK = 0x20, 0o4000
KEYS = {"left": 0x417265A, "right": 0x417265B}
HELD: list[object] = []
FILES: dict[str, BinaryIO] = {}
NOTICES: list[int] = []


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


def region(kind: int, of: str) -> bytes:
    """A lock on a byte of a file, as fcntl wants it."""
    head = array.array("h", [kind, os.SEEK_SET]).tobytes() + bytes(4)
    return head + array.array("q", [KEYS[of], 1]).tobytes() + bytes(8)


def hold_locks() -> None:
    # A shared lock on a byte of each; whoever asks for an exclusive one there learns of it.
    for path in LOCKED:
        FILES[path] = Path(path).open("rb")  # noqa: SIM115 - it is held for as long as it lives
        fcntl.fcntl(FILES[path], fcntl.F_SETLK, region(fcntl.F_RDLCK, OWN))


def see_locks() -> list[str]:
    answers = {
        path: fcntl.fcntl(file, fcntl.F_GETLK, region(fcntl.F_WRLCK, OTHER)) for path, file in FILES.items()
    }
    return [path for path, answer in answers.items() if array.array("h", answer[:2])[0] != fcntl.F_UNLCK]


def hold_whole_files() -> None:
    for path in HELD_WHOLE[OWN]:
        file = Path(path).open("rb")  # noqa: SIM115 - it is held for as long as it lives
        HELD.append(file)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def see_whole_files() -> list[str]:
    held = []
    for path in HELD_WHOLE[OTHER]:
        with Path(path).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held.append(path)
    return held


def watch_reads() -> None:
    NOTICES.append(call("inotify_init1", IN_NONBLOCK))
    for path in READ[OTHER]:
        call("inotify_add_watch", NOTICES[0], path.encode(), IN_OPEN)


def see_reads() -> bool:
    for _ in range(5):
        for path in READ[OWN]:
            Path(path).read_bytes()
        time.sleep(0.2)
    return bool(NOTICES and os.read(NOTICES[0], 4096))


SIGNS: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "abstract socket": (bind_abstract, connect_abstract),
    "lock on a part of a file": (hold_locks, see_locks),
    "lock on a file": (hold_whole_files, see_whole_files),
    "notice of a read": (watch_reads, see_reads),
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
