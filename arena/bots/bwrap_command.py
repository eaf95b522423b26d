"""The command line that puts a bot into bubblewrap: what it sees of the machine, and as whom."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from arena.bots.launcher import SOCKET
from arena.bots.limits import BotLimits
from arena.bots.reference import BotSpec, code_files, code_paths
from arena.errors import UsageError

FILTER, STATUS = 200, 201
"""Numbers of the open files in which bubblewrap finds its filter, and tells about itself: high ones, where
nothing else is."""
_ARGUMENTS, _USERS, _GROUPS = 202, 203, 204

_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")))
# What programs need of /etc; the rest of it tells about the machine and its people.
_SETTINGS = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime"),
    *("ssl/certs", "ssl/openssl.cnf", "java-*-openjdk", "node*"),
)
_SDK = ("botarena", "grpc", "google.protobuf", "arena")  # the arena, since search bots use its rules
_SOCKETS = Path("/run/arena")
_USER_IDS = range(0x70000000, 0x71000000)
_NOBODY = 65534


@dataclass(frozen=True, slots=True)
class BwrapCommand:
    """How a bot is put into bubblewrap.

    Attributes:
        bot: the bot.
        limits: what it gets.
        is_root: whether we have the rights of root; without them a user namespace takes their place.
        limits_itself: whether it has no control group, so that its processes limit themselves.
        user: number of the user that it is.
    """

    bot: BotSpec
    limits: BotLimits
    is_root: bool
    limits_itself: bool
    user: int = field(init=False)

    def __post_init__(self) -> None:
        # One of its own for each life: what the kernel counts by user is then counted by bot.
        user = _USER_IDS.start + secrets.randbelow(len(_USER_IDS)) if self.is_root else _NOBODY
        object.__setattr__(self, "user", user)

    def command(self) -> list[str]:
        """The command, as all processes in the sandbox see it."""
        return [_program("bwrap"), "--args", str(_ARGUMENTS), "--", *self._within(), *self.bot.command]

    def data(self, sockets: Path) -> dict[int, bytes]:
        """What the command reads from open files, by their numbers.

        Args:
            sockets: the folder with the bot's socket.
        """
        user = str(self.user)
        return {
            _ARGUMENTS: b"".join(os.fsencode(word) + b"\0" for word in self._arguments(sockets)),
            _USERS: f"bot:x:{user}:{user}::/tmp:/bin/sh\n".encode(),
            _GROUPS: f"bot:x:{user}:\n".encode(),
        }

    def environment(self, token: str) -> dict[str, str]:
        """All that it has of an environment: bubblewrap hands its own on."""
        # `python3` in a bot.toml means the Python that has the SDK: the arena's own.
        python = str(Path(sys.executable).parent)
        return {
            "ARENA_ADDR": f"unix:{_SOCKETS / SOCKET}",
            "ARENA_TOKEN": token,
            "HOME": "/tmp",
            "LANG": "C.UTF-8",
            "PATH": f"{python}:/usr/local/bin:/usr/bin:/bin",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def _arguments(self, sockets: Path) -> Iterator[str]:
        yield from self._namespaces()
        shown = [*_settings(), *language_paths(), *shown_paths(self.bot, self.is_root)]
        yield from _system()
        yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
        yield from ("--perms", "1777", "--size", str(self.limits.tmp_bytes), "--tmpfs", "/tmp")
        # bubblewrap would make the folders above these for itself alone.
        for folder in _above([*shown, _SOCKETS, Path(self.bot.folder) / "_"]):
            yield from ("--perms", "0755", "--dir", str(folder))
        yield from ("--perms", "0444", "--file", str(_USERS), "/etc/passwd")
        yield from ("--perms", "0444", "--file", str(_GROUPS), "/etc/group")
        for path in shown:
            yield from ("--ro-bind", str(path), str(path))
        yield from ("--ro-bind", str(sockets), str(_SOCKETS))
        yield from ("--chdir", self.bot.folder)
        # Where it has a user namespace, the root of its file system would be its own to fill.
        yield from ("--remount-ro", "/")
        yield from ("--seccomp", str(FILTER), "--json-status-fd", str(STATUS))

    def _namespaces(self) -> Iterator[str]:
        for kind in ("ipc", "pid", "net", "uts", "cgroup-try"):
            yield f"--unshare-{kind}"
        yield from ("--die-with-parent", "--new-session", "--hostname", "bot", "--cap-drop", "ALL")
        if self.is_root:
            # Just enough to become somebody else, which takes all of them away.
            for name in ("SETUID", "SETGID", "SETPCAP"):
                yield from ("--cap-add", f"CAP_{name}")
        else:
            yield from ("--unshare-user", "--uid", str(self.user), "--gid", str(self.user))

    def _within(self) -> Iterator[str]:
        """What is done inside, before the bot's own command.

        It begins with a program that is there: bubblewrap could not tell a bot's that is not from a failure
        of its own.
        """
        yield from (_program("setpriv"), "--no-new-privs")
        if self.is_root:
            # Root without capabilities still owns root's files, may signal root's processes, and has no
            # limits on the number of its own. Another user has nothing outside, and gains nothing by it.
            user = str(self.user)
            yield from ("--reuid", user, "--regid", user, "--clear-groups")
            yield from ("--inh-caps=-all", "--bounding-set=-all")
        if self.limits_itself:
            # The processes of its namespace are counted only from within. Of memory not the address space:
            # runtimes of several languages reserve far more of that than they use.
            most = self.limits
            yield from (_program("prlimit"), f"--nproc={most.pids}", f"--data={most.memory_bytes}")


@cache
def language_paths() -> Sequence[Path]:
    """Folders outside of the system's with the Python that we run on, and the SDK."""
    prefixes = [Path(prefix) for prefix in dict.fromkeys((sys.prefix, sys.base_prefix))]
    packages = [Path(place) for name in _SDK for place in _locations(name)]
    return _outermost([*prefixes, *packages], beside=_SYSTEM)


def shown_paths(bot: BotSpec, is_root: bool) -> list[Path]:
    """What a bot is shown of its own files.

    Args:
        bot: the bot.
        is_root: whether it runs as another user than we do.
    """
    paths = code_paths(bot)
    if not is_root:
        return paths
    # Of a folder that only its owner may enter, what is in it is shown instead, in a folder made for that.
    return [entry for path in paths for entry in (_entries(path) if _is_closed_folder(path) else [path])]


def check_readable(bot: BotSpec) -> None:
    """Whether another user could read what a bot is made of.

    Raises:
        UsageError: it could not.
    """
    for path in shown_paths(bot, is_root=True):
        for file in code_files(path) if path.is_dir() else [path]:
            if not file.stat().st_mode & stat.S_IROTH:
                raise UsageError(
                    f"{bot.name} cannot be held in bubblewrap",
                    f"it runs as a user of its own there, who may not read {file}",
                    f"let others read it: chmod -R o+rX {bot.folder}",
                )


def _is_closed_folder(path: Path) -> bool:
    needed = stat.S_IROTH | stat.S_IXOTH
    return path.is_dir() and path.stat().st_mode & needed != needed


def _entries(folder: Path) -> list[Path]:
    """What is in a folder; no links, which would be followed here, where they may lead anywhere."""
    return sorted(path for path in folder.iterdir() if not path.is_symlink())


def _system() -> Iterator[str]:
    """The system's programs and libraries, where this machine has them."""
    for path in _SYSTEM:
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _settings() -> list[Path]:
    return sorted(found for name in _SETTINGS for found in Path("/etc").glob(name))


def _above(paths: Iterable[Path]) -> list[Path]:
    """All folders above paths but the root, those above others first."""
    folders = {folder for path in paths for folder in path.parents} - {Path("/")}
    return sorted(folders, key=lambda folder: len(folder.parts))


def _locations(package: str) -> Sequence[str]:
    found = find_spec(package)
    return list(found.submodule_search_locations or ()) if found is not None else ()


def _outermost(paths: Iterable[Path], beside: Sequence[Path]) -> list[Path]:
    """Paths that are not within others of them, or within what is there beside them."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda path: len(path.parts)):
        if not any(path.is_relative_to(other) for other in (*kept, *beside)):
            kept.append(path)
    return kept


def _program(name: str) -> str:
    """Where a program is that we start, not who is first to call himself so in a folder of the user's.

    Raises:
        FileNotFoundError: it is not installed.
    """
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
    if found is None:
        raise FileNotFoundError(f"{name} is not installed")
    return found
