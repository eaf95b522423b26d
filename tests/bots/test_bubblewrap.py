"""Bots in bubblewrap: what they see, what they may use, how their end is told, and that nothing stays."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from botarena.v1.record_pb2 import FaultKind, MatchRecord, Verdict

from arena.bots import bubblewrap, bwrap_command, cgroups
from arena.bots.bubblewrap import Bubblewrap, Confined, check_available, check_hidden, judged
from arena.bots.launcher import Ending, LaunchError, Place
from arena.bots.limits import BotLimits
from arena.bots.process import Processes, Report
from arena.bots.reference import BotSpec, resolve
from arena.bots.tables import Tables
from arena.errors import ArenaError, UsageError
from arena.games.chance import deal_seed
from arena.match.record import identity, seal, unseal
from tests.bots.parts import needs_bwrap, needs_groups
from tests.match.fakes import spec as match_spec

needs_both = [*needs_bwrap, *needs_groups]
LIMITS = BotLimits(memory_bytes=64 << 20, pids=24, tmp_bytes=1 << 20)


@dataclass
class Worker:
    """The folder of a worker, locked as by a living one, and how it starts bots."""

    folder: Path
    launcher: Bubblewrap
    lives: int = 0

    async def start(self, bot: BotSpec, limits: BotLimits = LIMITS) -> tuple[Confined, Path]:
        self.lives += 1
        sockets = self.folder / f"life{self.lives}"
        sockets.mkdir(mode=0o711)
        log = self.folder / f"{self.lives}.log"
        return await self.launcher.start(bot, limits, Place(sockets, "the-token", log)), log

    async def run(self, bot: BotSpec, limits: BotLimits = LIMITS) -> tuple[Ending, str]:
        running, log = await self.start(bot, limits)
        ending = await asyncio.wait_for(running.ended, 60)
        return ending, "".join(line.split(" ", 2)[2] for line in log.read_text().splitlines(keepends=True))

    def groups(self) -> list[Path]:
        trees = cgroups.find()
        name = f"arena-bot.{self.folder.name}.*"
        return [found for tree in (trees.folders if trees else ()) for found in tree.glob(name)]


@contextlib.contextmanager
def a_worker(launcher: Bubblewrap) -> Iterator[Worker]:
    with tempfile.TemporaryDirectory(prefix="arena-test-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o711)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield Worker(folder, launcher)


@pytest.fixture(params=["root", "user namespace"])
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """A worker that may do all, and one that has the rights of an ordinary user alone."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("needs root")
    with a_worker(Bubblewrap(request.param == "root", cgroups.find())) as found:
        yield found


@pytest.fixture
def limited() -> Iterator[Worker]:
    """A worker that has control groups for its bots."""
    with a_worker(Bubblewrap(os.geteuid() == 0, cgroups.find())) as found:
        yield found


def python(folder: Path, code: str) -> BotSpec:
    """A bot that is one file of Python."""
    path = folder / "probe.py"
    path.write_text(code)
    return replace(resolve(str(path)), name="probe")


LOOK = """
import json, os, socket, sys
def error_of(what):
    try:
        what()
    except OSError as error:
        return error.errno
def write(path):
    return error_of(lambda: open(path, "w").close())
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
print(json.dumps({
    "root": sorted(os.listdir("/")), "etc": sorted(os.listdir("/etc")), "run": os.listdir("/run"),
    "beside": sorted(os.listdir(os.path.dirname(__file__))), "tmp": os.listdir("/tmp"),
    "devices": sorted(os.listdir("/dev")),
    "processes": [name for name in os.listdir("/proc") if name.isdigit()],
    "commands": [open(f"/proc/{pid}/cmdline").read() for pid in os.listdir("/proc") if pid.isdigit()],
    "environment": dict(os.environ), "host": socket.gethostname(), "interfaces": os.listdir("/proc/self/net"),
    "user": os.getuid(), "groups": os.getgroups(), "capabilities": status["CapPrm"].strip(),
    "new privileges": status["NoNewPrivs"].strip(), "filter": status["Seccomp"].strip(),
    "network": error_of(lambda: socket.socket(socket.AF_INET)),
    "secrets": [path for path in SECRETS if os.path.exists(path)],
    "write": {path: write(path) for path in ("/x", "/dev/x", "/dev/shm/x", "/usr/x", "/etc/x", "/proc/x",
              "/run/arena/x", __file__, "/tmp/x")},
    "open files": sorted(os.listdir("/proc/self/fd")),
}))
"""


class TestSandbox:
    pytestmark = needs_bwrap

    async def test_what_it_sees(self, worker: Worker, tmp_path: Path) -> None:
        secrets = [tmp_path / "arena.db", tmp_path / "other_bot.py", worker.folder, Path("/etc/shadow")]
        (tmp_path / "arena.db").write_text("the seed")
        (tmp_path / "other_bot.py").write_text("its thoughts")
        ending, said = await worker.run(python(tmp_path, f"SECRETS = {list(map(str, secrets))}\n{LOOK}"))
        assert ending.exit_code == 0, ending
        seen: dict[str, Any] = json.loads(said)
        assert set(seen["root"]) & {"home", "mnt", "srv", "var", "opt", "sys", "boot"} == set()
        assert set(seen["etc"]) & {"shadow", "hosts", "resolv.conf", "machine-id", "hostname"} == set()
        assert (seen["run"], seen["beside"]) == (["arena"], ["probe.py"])
        assert seen["secrets"] == []
        # Its own, and bubblewrap's that waits for it.
        assert len(seen["processes"]) == 2
        assert not any(str(worker.folder) in command for command in seen["commands"])
        assert set(seen["environment"]) == {
            *("ARENA_ADDR", "ARENA_TOKEN", "HOME", "LANG", "PATH", "PWD"),
            *("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"),
        }
        assert seen["host"] == "bot"
        assert seen["user"] != 0
        assert seen["capabilities"].strip("0") == ""
        assert (seen["new privileges"], seen["filter"]) == ("1", "2")
        assert seen["network"] is not None
        assert {path for path, error in seen["write"].items() if error is None} == {"/tmp/x"}
        assert len(seen["open files"]) <= 4  # three, and the folder in which it looks

    @pytest.mark.parametrize(
        ("command", "exit_code", "signal_name", "said"),
        [
            (("sh", "-c", "exit 3"), 3, "", ""),
            (("sh", "-c", "kill -9 $$"), None, "SIGKILL", ""),
            (("./no-such-program",), 127, "", "no-such-program"),
        ],
    )
    async def test_how_its_end_is_told(
        self,
        worker: Worker,
        tmp_path: Path,
        command: tuple[str, ...],
        exit_code: int | None,
        signal_name: str,
        said: str,
    ) -> None:
        ending, _ = await worker.run(BotSpec("cmd:x", "b", "", command, str(tmp_path)))
        assert not ending.infra
        assert ending.signal == signal_name
        assert ending.exit_code == exit_code
        assert said in ending.tail

    async def test_a_full_tmp_is_told_to_it_and_nothing_outside_grows(
        self, worker: Worker, tmp_path: Path
    ) -> None:
        code = (
            "import os\n"
            "written = 0\n"
            "try:\n"
            "    with open('/tmp/big', 'wb', 0) as file:\n"
            "        while True:\n"
            "            written += file.write(bytes(1 << 16))\n"
            "except OSError as error:\n"
            "    print(os.strerror(error.errno), written)\n"
        )
        _, said = await worker.run(python(tmp_path, code))
        assert said == f"No space left on device {LIMITS.tmp_bytes}\n"

    async def test_nothing_of_it_stays(self, worker: Worker, tmp_path: Path) -> None:
        mark = f"mark{os.getpid()}{worker.folder.name}"
        code = (
            "import os, sys, time\n"
            "for _ in range(3):\n"
            "    if os.fork() == 0:\n"
            "        os.setsid()\n"
            "        if os.fork() == 0:\n"
            "            time.sleep(600)\n"
            "print('begun', flush=True)\n"
            "time.sleep(600)\n"
        )
        bot = python(tmp_path, code)
        running, log = await worker.start(replace(bot, command=(*bot.command, mark)))
        while "begun" not in (log.read_text() if log.exists() else ""):
            await asyncio.sleep(0.02)
        assert marked(mark)
        await running.stop()
        assert marked(mark) == []
        assert worker.groups() == []

    async def test_a_killed_supervisor_is_the_machines_doing(self, worker: Worker, tmp_path: Path) -> None:
        mark = f"mark{os.getpid()}{worker.folder.name}"
        running, log = await worker.start(
            BotSpec("cmd:x", "b", "", ("sh", "-c", f"echo begun; sleep 600; : {mark}"), str(tmp_path))
        )
        while "begun" not in (log.read_text() if log.exists() else ""):
            await asyncio.sleep(0.02)
        os.kill(running._process.pid, signal.SIGKILL)
        ending = await running.ended
        assert ending.infra
        assert marked(mark) == []
        assert worker.groups() == []


def marked(mark: str) -> list[int]:
    """Processes with a word in their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


EAT = """
import os, sys, time
def eat():
    eaten = []
    while True:
        eaten.append(bytearray(1 << 20))
        if len(eaten) > 256:
            os._exit(0)
"""


FORK = """
import os, time
count = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(600)
        count += 1
except OSError as error:
    print(count, os.strerror(error.errno), flush=True)
"""


class TestLimits:
    pytestmark = needs_both

    @pytest.mark.parametrize(
        "code",
        ["eat()", "if os.fork() == 0:\n    eat()\nos.wait()\nsys.exit(1)"],
        ids=["itself", "a child"],
    )
    async def test_memory(self, limited: Worker, tmp_path: Path, code: str) -> None:
        ending, _ = await limited.run(python(tmp_path, EAT + code))
        assert ending.out_of_memory
        assert not ending.infra
        assert 0.9 * LIMITS.memory_bytes < ending.memory_peak_bytes <= LIMITS.memory_bytes
        assert limited.groups() == []

    async def test_what_lies_in_tmp_is_memory(self, limited: Worker, tmp_path: Path) -> None:
        code = "with open('/tmp/x', 'wb') as file:\n    while True:\n        file.write(bytes(1 << 20))"
        ending, _ = await limited.run(python(tmp_path, code), replace(LIMITS, tmp_bytes=1 << 30))
        assert ending.out_of_memory

    async def test_processes(self, limited: Worker, tmp_path: Path) -> None:
        _, said = await limited.run(python(tmp_path, FORK))
        count, _, error = said.partition(" ")
        assert 0 < int(count) < LIMITS.pids
        assert error == "Resource temporarily unavailable\n"

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives it a user of its own")
    async def test_processes_without_groups(self, tmp_path: Path) -> None:
        with a_worker(Bubblewrap(True, None)) as worker:
            _, said = await worker.run(python(tmp_path, FORK))
        assert 0 < int(said.split()[0]) < LIMITS.pids

    async def test_without_groups_processes_limit_themselves(self, tmp_path: Path) -> None:
        with a_worker(Bubblewrap(os.geteuid() == 0, None)) as worker:
            ending, said = await worker.run(
                python(tmp_path, f"{EAT}\ntry:\n    eat()\nexcept MemoryError:\n    print('no more')")
            )
        assert (ending.exit_code, said) == (0, "no more\n")

    async def test_groups_of_a_dead_worker_are_removed_and_others_are_not(
        self, limited: Worker, tmp_path: Path
    ) -> None:
        trees = cgroups.find()
        assert trees is not None
        running, _ = await limited.start(BotSpec("cmd:x", "b", "", ("sleep", "600"), str(tmp_path)))
        dead = trees.make(f"arena-bot.arena-test-dead-{os.getpid()}.life", LIMITS, 1)
        # Of an arena whose folders are not seen from here.
        distant = trees.make(f"arena-bot.arena-test-far-{os.getpid()}.life", LIMITS, 1)
        sleeper = await asyncio.create_subprocess_exec("sleep", "600")
        for folder in distant.folders:
            (folder / "cgroup.procs").write_text(str(sleeper.pid))
        with a_worker(Bubblewrap(os.geteuid() == 0, trees)) as other:
            await other.run(BotSpec("cmd:x", "b", "", ("true",), str(tmp_path)))
        assert not any(folder.exists() for folder in dead.folders)
        assert sleeper.returncode is None
        assert limited.groups()
        sleeper.kill()
        await sleeper.wait()
        assert distant.remove()
        await running.stop()
        assert limited.groups() == []

    async def test_a_group_that_cannot_be_made_is_the_machines_doing(
        self, limited: Worker, tmp_path: Path
    ) -> None:
        bot = BotSpec("cmd:x", "b", "", ("true",), str(tmp_path))
        with pytest.raises(LaunchError, match="bubblewrap"):
            await limited.start(bot, replace(LIMITS, pids=-5))
        assert limited.groups() == []


HUNGRY = """
from botarena import Bot, run

class Play(Bot):
    def choose(self, turn):
        eaten = [bytearray(1 << 20) for _ in range(400)]
        return len(eaten) * 0

run(Play)
"""


class TestMatch:
    pytestmark = needs_both

    async def play(self, bots: list[BotSpec], logs: Path, matches: int, confined: bool) -> list[MatchRecord]:
        base = match_spec([bot.name for bot in bots])
        specs = [replace(base, deal=d, seed=deal_seed(bytes(32), "koffer", d)) for d in range(matches)]
        launcher = bubblewrap.launcher() if confined else Processes()
        async with Tables(bots, logs, 20_000_000, launcher=launcher) as tables:
            return [unseal(data) for data in await asyncio.gather(*map(tables.play, specs))]

    async def test_a_match_is_the_same_with_and_without(self, tmp_path: Path) -> None:
        bots = [resolve(f"house:{name}") for name in ("random", "greedy", "search")]
        records = [await self.play(bots, tmp_path, 2, confined) for confined in (False, True)]
        assert {record.verdict for record in records[0]} == {Verdict.VERDICT_PLAYED}
        without, within = ([identity(seal(record)) for record in each] for each in records)
        assert within == without

    async def test_a_bot_that_eats_its_memory(self, tmp_path: Path) -> None:
        hungry = replace(python(tmp_path, HUNGRY), name="hungry", limits=BotLimits(memory_bytes=128 << 20))
        bots = [hungry, resolve("house:first")]
        (record,) = await self.play(bots, tmp_path, 1, confined=True)
        (fault,) = record.faults
        assert (fault.seat, fault.kind) == (0, FaultKind.FAULT_KIND_MEMORY_EXCEEDED)


REPORT: Report = {
    "failure": "",
    "code": 0,
    "tail": "",
    "memory_peak": 5,
    "memory_killed": 0,
    "status": '{"exit-code": 0}\n',
}
FAILED = "bwrap: no\n"


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({}, Ending("its process ended with exit code 0", exit_code=0)),
        (
            {"status": '{"child-pid": 7}\n{"exit-code": 7}\n', "code": 7},
            Ending("its process ended with exit code 7", exit_code=7),
        ),
        ({"status": '{"exit-code": 137}'}, Ending("its process was ended by SIGKILL", signal="SIGKILL")),
        ({"status": '{"exit-code": 255}'}, Ending("its process ended with exit code 255", exit_code=255)),
        # Stopped by us before there was an exit code.
        ({"status": "", "code": -15}, Ending("its process was ended by SIGTERM", signal="SIGTERM")),
        # It never came to the bot, which is nobody's fault but the machine's.
        (
            {"status": '{"child-pid": 7}', "code": 1, "tail": FAILED},
            Ending(
                "its process ended with exit code 1", False, FAILED, 1, infra="bubblewrap failed: bwrap: no"
            ),
        ),
    ],
)
def test_endings(told: Report, wanted: Ending) -> None:
    assert judged({**REPORT, **told}) == replace(wanted, memory_peak_bytes=5)


def test_who_is_killed_for_memory_is_no_fault_of_the_machine_even_if_it_takes_bubblewrap_along() -> None:
    ending = judged({**REPORT, "status": "", "code": -9, "memory_killed": 2})
    assert ending.out_of_memory
    assert not ending.infra


class TestFiles:
    def bot(self, folder: Path, name: str) -> BotSpec:
        (folder / name).mkdir(parents=True)
        (folder / name / "bot.toml").write_text(f'name = "{name.replace("/", "-")}"\ncommand = ["true"]')
        return resolve(str(folder / name))

    @pytest.mark.parametrize("place", ["mine/arena.db", "mine/data/arena.db", "mine"])
    def test_a_database_that_a_bot_would_see(self, tmp_path: Path, place: str) -> None:
        bot = self.bot(tmp_path, "mine")
        with pytest.raises(UsageError, match="the database from its sandbox"):
            check_hidden([bot], {"the database": tmp_path / place})

    def test_a_database_beside_bots(self, tmp_path: Path) -> None:
        script = tmp_path / "bot.py"
        script.touch()
        bots = [self.bot(tmp_path, "mine"), self.bot(tmp_path, "yours"), resolve(str(script))]
        check_hidden([*bots, replace(bots[0], name="a copy")], {"the database": tmp_path / "arena.db"})

    def test_a_bot_in_the_folder_of_another(self, tmp_path: Path) -> None:
        bots = [self.bot(tmp_path, "mine"), self.bot(tmp_path, "mine/yours")]
        with pytest.raises(UsageError, match="the bot mine-yours from its sandbox"):
            check_hidden(bots, {})

    def test_a_bot_that_is_all_there_is(self) -> None:
        with pytest.raises(UsageError, match="the sockets of all bots"):
            check_hidden([BotSpec("house:x", "all", "", ("true",), "/")], {})

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root starts bots as another user")
    def test_a_bot_that_another_user_cannot_read(self, tmp_path: Path) -> None:
        bot = self.bot(tmp_path, "mine")
        (tmp_path / "mine" / "bot.toml").chmod(0o600)
        with pytest.raises(UsageError, match=r"chmod|may not read"):
            check_hidden([bot], {})

    def test_a_closed_folder_is_shown_by_what_is_in_it_and_no_link_out_of_it(self, tmp_path: Path) -> None:
        bot = self.bot(tmp_path, "mine")
        (tmp_path / "mine" / "link").symlink_to("/etc")
        (tmp_path / "mine").chmod(0o700)
        assert bwrap_command.shown_paths(bot, is_root=True) == [tmp_path / "mine" / "bot.toml"]
        assert bwrap_command.shown_paths(bot, is_root=False) == [tmp_path / "mine"]


@pytest.mark.parametrize("missing", ["bwrap", "setpriv"])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs setpriv")
def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    which = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, path: None if name == missing else which(name, path=path)
    )
    with pytest.raises(ArenaError, match=f"{missing} is not installed"):
        check_available()


class TestHere:
    pytestmark = needs_bwrap

    def test_it_is_available(self) -> None:
        assert ("control groups" in check_available()) == (cgroups.find() is None)

    def test_what_is_forbidden_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bwrap_command.BwrapCommand, "_within", lambda self: ["false"])
        with pytest.raises(ArenaError, match="cannot be held in bubblewrap here"):
            check_available()
