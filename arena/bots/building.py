"""Runs the command that builds a bot, which may be a stranger's, in a container that can do no harm.

The code goes in on standard input, what was built comes out on standard output, the log on standard error.
Between them there is nothing on the disk, no folder of this machine, and nothing that two builds share.
"""

from __future__ import annotations

import secrets
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from arena.bots.archive import FOLDER
from arena.bots.languages import Recipe, labels
from arena.bots.organiser import BuildLimits
from arena.bots.reference import BotSpec
from arena.bots.seccomp import docker_profile
from arena.errors import ArenaError, CheckFailedError
from arena.units import size_text

if TYPE_CHECKING:  # it takes a quarter of a second to load
    from docker import APIClient

Tell = Callable[[str], object]
"""Takes a line about how far it is."""

_NAMES = "botarena-build-"
_TELL_S = 5.0
_GRACE_S = 15.0
_PIDS = 512
_NOBODY = "65534:65534"
_CHUNK = 1 << 16
_OUT = 1
# What is unpacked, built and packed is all the bot's own: none of it is believed.
_SCRIPT = f'tar -xf - -C /{FOLDER}; exec </dev/null; cd /{FOLDER}; "$@" >&2; exec tar --format=ustar -cf - .'


class BuildFailedError(CheckFailedError):
    """A bot could not be built, by its own doing.

    Attributes:
        log: what the build wrote, as far as it was kept.
    """

    def __init__(self, bot: str, why: str, log: str) -> None:
        super().__init__(f"{bot} cannot be built", why, "mend its code, its build command or its bot.toml")
        self.log = log


class BuildLog:
    """What a build wrote: its beginning and its end, if it was too much.

    Args:
        most_bytes: how much is kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self._half = most_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._written = 0

    def add(self, data: bytes) -> None:
        """Take what was written."""
        self._written += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[: max(0, len(self._tail) - self._half)]

    def text(self) -> str:
        """What was kept."""
        lost = self._written - len(self._head) - len(self._tail)
        mark = f"\n... {lost} bytes are left out ...\n".encode() if lost else b""
        return (self._head + mark + self._tail).decode(errors="backslashreplace")


def run_build(
    client: APIClient,
    bot: BotSpec,
    recipe: Recipe,
    code: IO[bytes],
    built: IO[bytes],
    build: BuildLimits,
    tell: Tell,
) -> str:
    """Build a bot; what the build wrote.

    Args:
        client: of the engine.
        bot: the bot; one at level gvisor is built there.
        recipe: how it is built.
        code: archive of its code.
        built: takes what it built, as an archive that nobody has checked.
        build: limits.
        tell: takes how far it is.

    Raises:
        BuildFailedError: it failed by its own doing.
        ArenaError: the engine does not do its part.
    """
    log = BuildLog(build.log_bytes)
    with container(client, _settings(client, bot, recipe, build), build.seconds) as name:
        began = time.monotonic()
        why = _converse(
            client, name, code, _Sink(built, build.size_bytes, log), _Patience(build.seconds, tell)
        )
        seconds = time.monotonic() - began
        why = why or _why(client, name, build, seconds)
    if why:
        raise BuildFailedError(bot.name, why, log.text())
    return log.text()


@contextmanager
def container(client: APIClient, settings: dict[str, Any], seconds: float) -> Iterator[str]:
    """A container for a build, which is gone at the end of the block; its name.

    Args:
        client: of the engine.
        settings: of the container.
        seconds: how long the block takes at most.
    """
    from docker.errors import NotFound

    remove_orphans(client)
    # If we are killed it stays behind, and its name tells when nobody can need it any more.
    name = f"{_NAMES}{int(time.time() + seconds + 2 * _GRACE_S)}-{secrets.token_hex(6)}"
    try:
        client.create_container(name=name, **settings)
        yield name
    finally:
        with suppress(NotFound):
            client.remove_container(name, force=True, v=True)


def remove_orphans(client: APIClient) -> None:
    """Remove containers of builds that were killed."""
    from docker.errors import APIError

    for found in client.containers(all=True, filters={"name": f"^/{_NAMES}"}):
        name = str(found["Names"][0]).lstrip("/")
        until = name.removeprefix(_NAMES).partition("-")[0]
        if until.isdecimal() and int(until) < time.time():
            with suppress(APIError):  # another one is removing it
                client.remove_container(name, force=True, v=True)


def _settings(client: APIClient, bot: BotSpec, recipe: Recipe, build: BuildLimits) -> dict[str, Any]:
    # The process that keeps the time is the container's first: nothing in it can stop that one.
    patience = ["timeout", "--signal=KILL", f"{build.seconds:.3f}"]
    return {
        "image": recipe.build_base,
        "entrypoint": [],
        "command": [*patience, "sh", "-ec", _SCRIPT, "build", *recipe.build],
        "user": _NOBODY,
        "working_dir": "/",
        "environment": {"HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"},
        "hostname": "build",
        "labels": labels(bot, recipe),
        "healthcheck": {"test": ["NONE"]},
        "stdin_open": True,
        "runtime": "runsc" if bot.sandbox == "gvisor" else None,
        "host_config": client.create_host_config(**_walls(client, build), **_bounds(build)),
    }


def _walls(client: APIClient, build: BuildLimits) -> dict[str, Any]:
    secure = ["no-new-privileges"]
    if not build.network:
        secure.append(f"seccomp={docker_profile()}")
    return {
        "read_only": True,
        "network_mode": _network(client) if build.network else "none",
        "cap_drop": ["ALL"],
        "security_opt": secure,
        "ipc_mode": "none",
        "log_config": {"Type": "none"},
    }


def _bounds(build: BuildLimits) -> dict[str, Any]:
    from docker.types import Ulimit

    disk = f"rw,exec,nosuid,nodev,mode=1777,nr_inodes=200000,size={build.size_bytes}"
    return {
        "mem_limit": build.memory_bytes,
        "memswap_limit": build.memory_bytes,
        "pids_limit": _PIDS,
        "ulimits": [
            Ulimit(name="core", soft=0, hard=0),
            Ulimit(name="nofile", soft=4096, hard=4096),
        ],
        # In memory, and so within its limit: the disk is not reached at all.
        "tmpfs": {f"/{FOLDER}": disk, "/tmp": disk, "/var/tmp": "rw,noexec,nosuid,nodev,size=64k"},
    }


def _network(client: APIClient) -> str:
    """The engine's own network, or this machine's where it has none."""
    return "bridge" if client.networks(names=["bridge"]) else "host"


def _converse(client: APIClient, name: str, code: IO[bytes], sink: _Sink, patience: _Patience) -> str:
    """Start the build, give it the code, take what comes out; and why that was too much, if it was."""
    attached = client.attach_socket(name, {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
    connection: socket.socket = getattr(attached, "_sock", attached)
    sender = threading.Thread(target=_send, args=(connection, code), daemon=True)
    try:
        client.start(name)
        sender.start()
        for stream, data in _frames(connection, patience):
            if why := sink.take(stream, data):
                return why
        return ""
    finally:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)  # ends the sender too
        if sender.ident is not None:
            sender.join()
        attached.close()
        connection.close()


def _send(connection: socket.socket, code: IO[bytes]) -> None:
    with suppress(OSError):  # it reads no more: what it says about that is in the log
        connection.sendfile(code)
        connection.shutdown(socket.SHUT_WR)


class _Sink:
    """Takes what a container writes.

    Args:
        built: takes its output.
        most_bytes: how much that may be.
        log: takes its errors.
    """

    def __init__(self, built: IO[bytes], most_bytes: int, log: BuildLog) -> None:
        self._built = built
        self._most = most_bytes
        self._log = log

    def take(self, stream: int, data: bytes) -> str:
        """Take a piece of a stream; why it is too much, if it is."""
        if stream != _OUT:
            self._log.add(data)
            return ""
        if self._built.tell() + len(data) > self._most:
            return f"what it built is larger than {size_text(self._most)}"
        self._built.write(data)
        return ""


def _frames(connection: socket.socket, patience: _Patience) -> Iterator[tuple[int, bytes]]:
    """What a container writes: 1 for output or 2 for errors, and a piece of it."""
    while head := _read(connection, 8, patience):
        left = int.from_bytes(head[4:], "big")
        while left and (data := _read(connection, min(left, _CHUNK), patience)):
            left -= len(data)
            yield head[0], data


def _read(connection: socket.socket, size: int, patience: _Patience) -> bytes:
    """So many bytes, or fewer at the end of all."""
    data = b""
    while len(data) < size:
        while not select.select([connection], [], [], 1.0)[0]:
            patience.check()
        patience.check()
        try:
            more = connection.recv(size - len(data))
        except ConnectionError:
            more = b""
        if not more:
            break
        data += more
    return data


class _Patience:
    """Tells how long it takes, and when that is too long."""

    def __init__(self, seconds: float, tell: Tell) -> None:
        self._most = seconds
        self._tell = tell
        self._began = self._told = time.monotonic()

    def check(self) -> None:
        """Called again and again while it is waited.

        Raises:
            ArenaError: the engine should have ended it long ago.
        """
        now = time.monotonic()
        if now - self._told >= _TELL_S:
            self._told = now
            self._tell(f"{now - self._began:.0f} s of at most {self._most:g} s")
        if now - self._began > self._most + _GRACE_S:
            raise ArenaError(
                "a build does not end",
                f"the container engine did not end it after {self._most:g} s",
                "see whether the engine is overloaded, or restart it",
            )


def _why(client: APIClient, name: str, build: BuildLimits, seconds: float) -> str:
    """Why a build failed that has ended; empty if it did not."""
    client.wait(name, timeout=int(_GRACE_S))
    state = client.inspect_container(name)["State"]
    code = int(state["ExitCode"])
    if state["OOMKilled"]:
        most = size_text(build.memory_bytes)
        return f"it needed more than {most} of memory, with all that it wrote to files"
    if code == 137 and seconds >= build.seconds:
        return f"it took longer than {build.seconds:g} s"
    if code in (125, 126, 127):
        return (
            f"its build command cannot be started (exit code {code}); its image must have sh, tar and timeout"
        )
    return f"its build ended with exit code {code}" if code else ""
