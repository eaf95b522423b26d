"""Looks for seeds, for others' tokens, sockets and files: in its environment, in every file and in /proc.

What it looks for is told to it in a disguise, so that it does not find its own question.
"""

import os
import stat
import sys
from pathlib import Path

from tests.hostile.probe import Probe, play_probing

LARGEST = 1 << 20
SECRETS = [
    bytes(255 - byte for byte in bytes.fromhex(word[7:])) for word in sys.argv if word.startswith("secret=")
]
PASSED_OVER = ("/proc", "/sys", "/usr", "/lib", "/lib64", "/bin", "/sbin", sys.prefix, sys.base_prefix)
NEEDED = {
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "ARENA_ADDR",
    "ARENA_TOKEN", "PYTHONUNBUFFERED", "GRPC_ENABLE_FORK_SUPPORT", "PWD", "HOSTNAME",
    "PYTHONDONTWRITEBYTECODE",
}  # fmt: skip


def files() -> list[Path]:
    """All files that can be seen, but for programs and libraries."""
    found = []
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if not os.path.join(folder, name).startswith(PASSED_OVER)]
        found += [Path(folder, name) for name in names]
    return found


def holds_a_secret(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not str(path).startswith("/proc"):
            return False
        with path.open("rb") as file:
            data = file.read(LARGEST)
    except OSError:
        return False
    own = os.environ["ARENA_TOKEN"].encode()
    token = b"ARENA_TOKEN=" in data.replace(b"ARENA_TOKEN=" + own, b"")
    return (token and path.suffix not in (".py", ".pyc")) or any(secret in data for secret in SECRETS)


def others() -> list[str]:
    """Processes that it can see and that it has not started itself."""
    own = {str(os.getpid()), str(os.getppid()), "1"}
    return [folder.name for folder in Path("/proc").glob("[0-9]*") if folder.name not in own]


def parents() -> set[str]:
    """Its parent, unless that is the first process of its own sandbox."""
    return {str(os.getppid())} - {"0", "1"}


def secrets_in_proc() -> list[str]:
    paths = [Path("/proc", one, what) for one in [*others(), "1"] for what in ("environ", "cmdline", "maps")]
    return [str(path) for path in paths if holds_a_secret(path)]


def memory_of_others() -> list[str]:
    found = []
    for one in {*others(), *parents()}:
        try:
            with Path("/proc", one, "mem").open("rb"):
                found.append(one)
        except OSError:
            continue
    return found


def sockets(seen: list[Path]) -> list[str]:
    """Sockets beside its own."""
    own = os.environ["ARENA_ADDR"].removeprefix("unix:")
    found = []
    for path in seen:
        try:
            if stat.S_ISSOCK(path.stat().st_mode) and not path.samefile(own):
                found.append(str(path))
        except OSError:
            continue
    return found


def neighbours() -> list[str]:
    """What lies beside its own socket, and beside the folder of it."""
    folder = Path(os.environ["ARENA_ADDR"].removeprefix("unix:")).parent
    beside = [path for path in folder.iterdir() if path.name != "arena.sock"]
    beside += [path for path in folder.parent.glob("*/arena.sock") if path.parent != folder]
    return [str(path) for path in beside]


def secrets_in_files(seen: list[Path]) -> list[str]:
    return [str(path) for path in seen if holds_a_secret(path)]


def foreign_environment() -> list[str]:
    return [name for name in os.environ if name not in NEEDED]


def files_of_the_host() -> list[str]:
    there = (
        "/etc/shadow",
        "/root/.ssh",
        "/var/lib/docker",
        "/var/log/syslog",
        "/boot/grub",
    )
    return [path for path in there if os.access(path, os.R_OK)]


def files_of_the_arena(seen: list[Path]) -> list[str]:
    """Databases and logs, wherever they are."""
    return [str(path) for path in seen if path.suffix in (".db", ".db-wal", ".log") and "arena" in str(path)]


def attempts(probe: Probe) -> None:
    assert SECRETS  # else nothing is looked for
    probe.attempt("environment", foreign_environment)
    probe.attempt("other processes", others)
    probe.attempt("secrets in /proc", secrets_in_proc)
    probe.attempt("memory of others", memory_of_others)
    seen = files()
    probe.attempt("other sockets", sockets, seen)
    probe.attempt("neighbours of its socket", neighbours)
    probe.attempt("secrets in files", secrets_in_files, seen)
    probe.attempt("files of the host", files_of_the_host)
    probe.attempt("files of the arena", files_of_the_arena, seen)


if __name__ == "__main__":
    play_probing(attempts)
