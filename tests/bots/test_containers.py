"""Bots in containers of a real engine: what they cannot do, how their end is told, and that nothing stays."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botarena.v1.record_pb2 import FaultKind

from arena.bots.container import Container
from arena.bots.containers import Containers, remove_orphans
from arena.bots.engine import connect
from arena.bots.launcher import SOCKET, Ending, LaunchError, Place
from arena.bots.limits import BotLimits
from arena.bots.orphans import LOCK
from arena.bots.reference import BotSpec
from arena.bots.tables import Tables
from arena.bots.walls import BOT_LABEL, HOME_LABEL, SOCKET_LABEL
from arena.match.record import unseal
from tests.bots.test_seccomp import FORBIDDEN, REFUSALS
from tests.containers import need_engine, python_image
from tests.match.fakes import spec

pytestmark = pytest.mark.docker

LIMITS = BotLimits(memory_bytes=96 << 20, pids=24, tmp_bytes=1 << 20, log_bytes=20_000)

# Tries all that a bot must not be able to do, and tells what came of it.
PROBE = """
import ctypes, errno, json, os, signal, socket, sys
libc, calls, secret_paths = ctypes.CDLL(None, use_errno=True), *map(json.loads, sys.argv[1:])
tell = {}

def error_of(what):
    try:
        what()
    except OSError as error:
        return errno.errorcode[error.errno]
    return ""

def call(number, *arguments):
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(number), *(ctypes.c_ulong(a & 2**64 - 1) for a in arguments))
    return ctypes.get_errno() if done == -1 else 0

def fill(folder, size):
    written = count = 0
    try:
        while count < 10_000:
            with open(f"{folder}/{count}", "wb") as file:
                count += 1
                file.write(bytes(size))
                written += size
    except OSError as error:
        return count, written, errno.errorcode[error.errno]
    finally:
        for number in range(count):
            os.path.exists(f"{folder}/{number}") and os.unlink(f"{folder}/{number}")

def fork():
    children = []
    try:
        while len(children) < 1000:
            child = os.fork()
            if not child:
                signal.pause()
            children.append(child)
    except OSError as error:
        return len(children), errno.errorcode[error.errno]
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

def big_file():
    with open("/tmp/big", "wb") as file:
        file.truncate(1 << 30)

def program():
    with open("/tmp/x", "w") as file:
        file.write("#!/bin/sh\\n")
    os.chmod("/tmp/x", 0o755)
    os.execv("/tmp/x", ["x"])

lines = open("/proc/self/status").read().splitlines()
status = dict(line.split(":\\t", 1) for line in lines if ":\\t" in line)
tell["calls"] = {name: call(*arguments) for name, arguments in calls.items()}
folders = "/ /bot /etc /run/arena /dev /dev/shm /dev/mqueue /var/tmp /sys /proc/sys/kernel"
tell["writes"] = {path: error_of(lambda: open(path + "/mine", "w")) for path in folders.split()}
tell["secrets"] = {path: error_of(lambda: os.stat(path)) for path in secret_paths}
tell["arena"] = error_of(lambda: os.listdir("/run/arena"))
tell["devices"] = sorted(name for name in os.listdir("/dev"))
tell["tmp"] = [*fill("/tmp", 60_000), *fill("/tmp", 0)]
tell["big file"] = error_of(big_file)
tell["program in tmp"] = error_of(program)
tell["forks"] = fork()
tell["environment"] = {name: value for name, value in os.environ.items()}
tell["status"] = {name: status[name].strip() for name in
    ("Uid", "Gid", "Groups", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Cpus_allowed_list")}
tell["processes"] = [name for name in os.listdir("/proc") if name.isdigit()]
tell["interfaces"] = os.listdir("/sys/class/net")
tell["host"] = os.uname().nodename
with socket.socket(socket.AF_UNIX) as door:
    tell["door"] = error_of(lambda: door.connect(os.environ["ARENA_ADDR"].removeprefix("unix:")))
with socket.socket(socket.AF_UNIX) as door:
    tell["abstract"] = error_of(lambda: door.connect("\\0arena-test"))
print(json.dumps(tell))
"""

EATS = "x = []\nwhile True: x.append(bytearray(1 << 20))"
EATS_IN_A_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {EATS!r}]); sys.exit(1)"


class Home:
    """What a worker has: a folder of sockets that it holds locked, and in it one folder for each life."""

    def __init__(self, logs: Path) -> None:
        self.folder = Path("/tmp") / f"arena-test-{secrets.token_urlsafe(6)}"
        self.folder.mkdir(mode=0o711)
        self._lock = os.open(self.folder / LOCK, os.O_CREAT | os.O_RDWR)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._logs = logs
        self.doors: list[socket.socket] = []

    def place(self) -> Place:
        """For one life, with a socket that somebody listens on."""
        name = secrets.token_urlsafe(6)
        folder = self.folder / name
        folder.mkdir(mode=0o711)
        door = socket.socket(socket.AF_UNIX)
        door.bind(str(folder / SOCKET))
        (folder / SOCKET).chmod(0o666)
        door.listen()
        self.doors.append(door)
        return Place(folder, "my-token", self._logs / f"{name}.log")

    def die(self) -> None:
        """Leave all behind, as a worker that is killed."""
        os.close(self._lock)

    def close(self) -> None:
        for door in self.doors:
            door.close()
        shutil.rmtree(self.folder)


def containers(home: Home) -> list[dict[str, Any]]:
    """What the engine has of a worker's bots."""
    client = connect()
    try:
        found: list[dict[str, Any]] = client.containers(
            all=True, filters={"label": f"{SOCKET_LABEL}={home.folder}"}
        )
        return found
    finally:
        client.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A worker's home; at the end no container may be left of it."""
    need_engine()
    home = Home(tmp_path)
    yield home
    left = containers(home)
    home.die()
    home.close()
    assert left == []


def bot(*command: str) -> BotSpec:
    return BotSpec("./b", "b", "1", command, "/", image=python_image())


async def start(home: Home, *command: str, limits: BotLimits = LIMITS) -> tuple[Container, Path]:
    place = home.place()
    return await Containers().start(bot(*command), limits, place), place.log


async def run(home: Home, *command: str, limits: BotLimits = LIMITS) -> tuple[Ending, str]:
    """How a bot ended by itself, and its log."""
    running, log = await start(home, *command, limits=limits)
    ending = await running.ended
    assert await running.stop() == ending
    return ending, log.read_text()


def said(log: str) -> Any:
    """What a bot printed as JSON, in one line, which the log may have cut into several."""
    assert " err " not in log, log
    return json.loads("".join(line.split(" ", 2)[2] for line in log.splitlines()))


async def test_a_bot_finds_nothing_but_its_own_socket_and_may_do_nothing(home: Home) -> None:
    other = home.place()  # another bot's
    engine = os.environ.get("DOCKER_HOST", "").removeprefix("unix://") or "/var/run/docker.sock"
    paths = [str(home.folder), str(other.folder / SOCKET), engine, "/var/run/docker.sock"]
    with socket.socket(socket.AF_UNIX) as abstract:  # of this machine, of no folder
        abstract.bind("\0arena-test")
        abstract.listen()
        _, log = await run(home, "python3", "-c", PROBE, json.dumps(FORBIDDEN), json.dumps(paths))
    found = said(log)
    assert found["abstract"] == "ECONNREFUSED"
    calls = {name: code for name, code in found["calls"].items() if code not in REFUSALS}
    assert calls == {}
    assert found["calls"]["clone3"] == errno.ENOSYS
    assert {path for path, error in found["writes"].items() if error == ""} == set()
    assert set(found["secrets"].values()) == {"ENOENT"}
    assert found["arena"] == "EACCES"
    assert found["door"] == ""
    assert {name for name in found["devices"] if name.startswith(("sd", "vd", "kvm", "mem", "fuse"))} == set()
    assert found["program in tmp"] == "EACCES"
    assert found["big file"] == "EFBIG"
    assert set(found["interfaces"]) <= {"lo"}
    assert found["host"] == "bot"
    # The engine's init, and the probe.
    assert len(found["processes"]) == 2


async def test_limits_hold_and_a_bot_is_nobody(home: Home) -> None:
    _, log = await run(home, "python3", "-c", PROBE, "{}", "[]")
    found = said(log)
    files, written, full, more_files, _, no_more = found["tmp"]
    assert (full, no_more) == ("ENOSPC", "ENOSPC")
    assert files > 0
    assert LIMITS.tmp_bytes / 2 < written <= LIMITS.tmp_bytes
    assert more_files <= 64
    count, error = found["forks"]
    assert error == "EAGAIN"
    assert LIMITS.pids / 2 < count < LIMITS.pids
    status = found["status"]
    (user,) = set(status["Uid"].split())
    assert int(user) >= 60_000
    assert set(status["Gid"].split()) == {"65534"}
    assert (int(status["CapEff"], 16), int(status["CapBnd"], 16)) == (0, 0)
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert status["Cpus_allowed_list"].replace("-", ",").split(",")[0] == str(min(os.sched_getaffinity(0)))
    environment = found["environment"]
    assert environment.pop("PATH")
    assert environment.pop("HOSTNAME") == "bot"
    assert environment == {
        "ARENA_ADDR": "unix:/run/arena/arena.sock",
        "ARENA_TOKEN": "my-token",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }


async def test_a_bot_uses_the_cores_of_its_worker(home: Home) -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        _, log = await run(
            home, "python3", "-c", "import json, os; print(json.dumps([*os.sched_getaffinity(0)]))"
        )
    finally:
        os.sched_setaffinity(0, allowed)
    assert said(log) == [max(allowed)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("sh", "-c", "exit 3"), Ending("its process ended with exit code 3", exit_code=3)),
        (
            ("sh", "-c", "echo oh no >&2; kill -9 $$"),
            Ending("its process was ended by SIGKILL", tail="oh no\n", signal="SIGKILL"),
        ),
        (
            ("python3", "-c", EATS),
            Ending(
                "its process was ended by SIGKILL, since it reached its memory limit of 96 MiB",
                signal="SIGKILL",
                memory_peak_bytes=LIMITS.memory_bytes,
                out_of_memory=True,
            ),
        ),
        (
            ("python3", "-c", EATS_IN_A_CHILD),
            Ending(
                "its process ended with exit code 1, since it reached its memory limit of 96 MiB",
                exit_code=1,
                memory_peak_bytes=LIMITS.memory_bytes,
                out_of_memory=True,
            ),
        ),
    ],
)
async def test_how_it_ended(home: Home, command: tuple[str, ...], expected: Ending) -> None:
    ending, _ = await run(home, *command)
    if not expected.out_of_memory:
        ending = replace(ending, memory_peak_bytes=0)  # it may have ended before anyone looked
    assert ending == expected


async def test_a_program_that_is_not_there(home: Home) -> None:
    ending, _ = await run(home, "./no-such-program")
    assert ending.exit_code == 127
    assert "./no-such-program" in ending.tail
    assert not ending.infra


async def test_output_is_kept_with_its_stream_and_a_flood_of_it_is_bounded(home: Home) -> None:
    code = """
import sys
print("first", flush=True)
print("second", file=sys.stderr, flush=True)
for number in range(5): print(f"flood {number} " * 100_000)
print("the end")
"""
    ending, log = await run(home, "python3", "-c", code)
    assert ending.exit_code == 0
    assert {line.split(" ", 1)[1] for line in log.splitlines()[:2]} == {"out first", "err second"}
    assert len(log) < 2 * LIMITS.log_bytes
    assert "the log is full" in log
    assert log.endswith("the end\n\n")


async def test_stop_ends_what_does_not_listen_and_what_ran_away(home: Home) -> None:
    away = "trap '' TERM; echo away; while :; do sleep 600; done"
    script = f'trap "" TERM; setsid sh -c "{away}" & echo here; wait'
    running, log = await start(home, "sh", "-c", script)
    (found,) = containers(home)
    assert found["Labels"][BOT_LABEL] == "b"
    assert "my-token" not in json.dumps(found)
    pids = [int(pid) for pid in _processes(found["Id"])]
    while log.read_text().count("\n") < 2:
        await asyncio.sleep(0.02)
    pids += [int(pid) for pid in _processes(found["Id"])]
    await asyncio.sleep(0.6)  # its memory was looked at
    ending = await running.stop()
    assert ending.signal == "SIGKILL"
    assert 0 < ending.memory_peak_bytes <= LIMITS.memory_bytes
    assert len(set(pids)) >= 3
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


def _processes(container: str) -> list[str]:
    client = connect()
    try:
        top = client.top(container)
    finally:
        client.close()
    column = top["Titles"].index("PID")
    return [row[column] for row in top["Processes"]]


async def test_a_bot_that_is_not_waited_for_leaves_nothing(home: Home) -> None:
    launcher = Containers()
    for patience in (0.01, 0.1, 0.3):
        starting = asyncio.create_task(launcher.start(bot("sleep", "600"), LIMITS, home.place()))
        await asyncio.sleep(patience)
        starting.cancel()
        (result,) = await asyncio.gather(starting, return_exceptions=True)
        if isinstance(result, Container):
            await result.stop()
    assert containers(home) == []


async def test_an_image_that_is_gone_is_not_the_bots_fault(home: Home) -> None:
    gone = replace(bot("true"), image="sha256:" + "0" * 64)
    with pytest.raises(LaunchError, match=r"the image of b is gone.*build it again"):
        await Containers().start(gone, LIMITS, home.place())
    with pytest.raises(LaunchError, match="it has no image"):
        await Containers().start(replace(gone, image=""), LIMITS, home.place())


async def test_a_bot_plays_without_a_log_where_that_cannot_be_written(home: Home) -> None:
    place = replace(home.place(), log=Path("/no/such/folder/log"))
    running = await Containers().start(bot("sh", "-c", "echo oh >&2"), LIMITS, place)
    ending = await running.ended
    await running.stop()
    assert (ending.exit_code, ending.tail) == (0, "oh\n")


async def test_no_engine_is_not_the_bots_fault(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there_was_one = bot("true")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    with pytest.raises(LaunchError, match=r"cannot be reached.*DOCKER_HOST"):
        await Containers().start(there_was_one, LIMITS, home.place())


async def test_a_container_that_somebody_removes_is_not_the_bots_fault(home: Home) -> None:
    running, _ = await start(home, "sleep", "600")
    client = connect()
    (found,) = containers(home)
    client.remove_container(found["Id"], force=True)
    client.close()
    ending = await running.ended
    assert ending.infra
    await running.stop()


class TestOrphans:
    async def test_those_of_a_dead_worker_are_removed_and_those_of_a_living_one_are_not(
        self, home: Home, tmp_path: Path
    ) -> None:
        dead, gone = Home(tmp_path), Home(tmp_path)
        running, _ = await start(home, "sleep", "600")
        for worker in (dead, gone):
            await start(worker, "sleep", "600")
        dead.die()
        gone.die()
        gone.close()
        clients = [connect(), connect()]
        with ThreadPoolExecutor(2) as threads:  # two workers that start at once
            list(threads.map(remove_orphans, clients))
        for client in clients:
            client.close()
        assert (containers(dead), containers(gone)) == ([], [])
        assert len(containers(home)) == 1
        dead.close()
        await running.stop()

    async def test_what_another_tmp_may_hold_is_left_alone_until_the_machine_starts_anew(
        self, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = Home(tmp_path)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        for name in (f"{boot}/0.1", "a start before this/0.1"):
            monkeypatch.setattr("arena.bots.walls.home", lambda name=name: name)
            await start(gone, "sleep", "600")
        gone.die()
        gone.close()
        client = connect()
        remove_orphans(client)
        left = containers(gone)
        for found in left:
            client.remove_container(found["Id"], force=True)
        client.close()
        assert [found["Labels"][HOME_LABEL] for found in left] == [f"{boot}/0.1"]

    async def test_a_new_worker_does_it_before_its_first_bot(self, home: Home, tmp_path: Path) -> None:
        dead = Home(tmp_path)
        await start(dead, "sleep", "600")
        dead.die()
        await run(home, "true")
        assert containers(dead) == []
        dead.close()


@pytest.mark.parametrize("runtime", ["", pytest.param("runsc", marks=pytest.mark.gvisor)])
async def test_bots_in_containers_play_and_one_that_eats_memory_loses_by_that(
    tmp_path: Path, runtime: str
) -> None:
    need_engine(runtime)
    body = "from botarena import Bot, run\nclass Play(Bot):\n  def choose(self, turn):\n    {}\nrun(Play)"
    choices = {"fine": "return 0", "greedy": "x = []\n    while True: x.append(bytearray(1 << 20))"}
    limits = BotLimits(memory_bytes=128 << 20)
    bots = [
        replace(bot("python3", "-c", body.format(choice)), name=name, limits=limits)
        for name, choice in choices.items()
    ]
    async with Tables(bots, tmp_path, 60_000_000, launcher=Containers(runtime)) as tables:
        record = unseal(await tables.play(spec([*choices], move_us=20_000_000)))
    (fault,) = record.faults
    assert (fault.seat, fault.kind) == (1, FaultKind.FAULT_KIND_MEMORY_EXCEEDED)
    assert list(record.ranks) == [1, 2]
    (evidence,) = record.circumstances.evidence
    assert evidence.memory_peak_bytes == limits.memory_bytes


@pytest.mark.gvisor
class TestGvisor:
    @pytest.fixture
    async def launcher(self) -> Containers:
        need_engine("runsc")
        return Containers("runsc")

    async def test_a_bot_reaches_its_socket_and_nothing_else(self, home: Home, launcher: Containers) -> None:
        code = """
import json, os, socket
def reach(address):
    with socket.socket(socket.AF_UNIX) as door:
        try: door.connect(address)
        except OSError as error: return error.strerror
        return ""
def write(path):
    try: open(path, "w")
    except OSError as error: return error.strerror
    return ""
reached = reach(os.environ["ARENA_ADDR"][5:]), reach("/var/run/docker.sock")
print(json.dumps([*reached, write("/x"), write("/tmp/x"), os.getuid(), os.uname().release]))
"""
        place = home.place()
        running = await launcher.start(bot("python3", "-c", code), LIMITS, place)
        ending = await running.ended
        await running.stop()
        assert ending.exit_code == 0, ending
        door, engine, root, tmp, user, release = said(place.log.read_text())
        assert (door, engine, tmp) == ("", "No such file or directory", "")
        assert user >= 60_000
        assert root
        assert release != os.uname().release

    async def test_a_bot_that_eats_memory_is_told_so(self, home: Home, launcher: Containers) -> None:
        running = await launcher.start(bot("python3", "-c", EATS), LIMITS, home.place())
        ending = await running.ended
        await running.stop()
        assert ending.out_of_memory
