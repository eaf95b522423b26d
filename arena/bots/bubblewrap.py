"""Bots in bubblewrap: namespaces, a filter of system calls and control groups, without a daemon."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arena.bots import cgroups, seccomp
from arena.bots.bwrap_command import FILTER, STATUS, BwrapCommand, check_readable, language_paths
from arena.bots.launcher import Ending, LaunchError, Place
from arena.bots.limits import BotLimits
from arena.bots.process import BotProcess, Report, ending_of, supervise
from arena.bots.reference import BotSpec, code_paths
from arena.errors import ArenaError, UsageError

_SOCKETS = Path("/tmp")  # the folders of workers are there
_IS_ROOT = os.geteuid() == 0
_OPEN_FILES = 256
_GROUP_PREFIX = "arena-bot"
_FIRST_SIGNAL_CODE = 128


class Bubblewrap:
    """Starts bots in bubblewrap, for bots that are not trusted.

    Args:
        is_root: whether we have the rights of root; without them a user namespace takes their place.
        trees: where control groups for bots are made; None: nowhere.
    """

    def __init__(self, is_root: bool, trees: cgroups.Trees | None) -> None:
        self._is_root = is_root
        self._trees = trees
        self._is_swept = False
        self._filter = seccomp.program()

    async def start(self, bot: BotSpec, limits: BotLimits, place: Place) -> Confined:
        """Start a bot in a sandbox of its own.

        Raises:
            LaunchError: its control group or its supervisor cannot be had.
        """
        try:
            group = await asyncio.to_thread(self._group, limits, place)
            return Confined(await supervise(self._config(bot, limits, place, group)), group)
        except OSError as error:
            raise LaunchError(f"{bot.name} cannot be started in bubblewrap: {error}") from None

    async def close(self) -> None:
        """Nothing is left: each supervisor ends with all that it started."""

    def _config(
        self, bot: BotSpec, limits: BotLimits, place: Place, group: cgroups.Group | None
    ) -> dict[str, object]:
        line = BwrapCommand(bot, limits, self._is_root, limits_itself=group is None)
        config: dict[str, object] = {
            "command": line.command(),
            "folder": "/",
            "environment": line.environment(place.token),
            "log": str(place.log),
            "log_bytes": limits.log_bytes,
            "data": {FILTER: self._filter, **line.data(place.folder)},
            "status": STATUS,
            "rlimits": {
                resource.RLIMIT_CORE: 0,
                resource.RLIMIT_NOFILE: _OPEN_FILES,
                # A full /tmp is told by an error before this ends the bot.
                resource.RLIMIT_FSIZE: 2 * limits.tmp_bytes,
            },
        }
        if group is not None:
            config |= {
                "groups": list(map(str, group.folders)),
                "killed": str(group.killed),
                "peak": str(group.peak),
            }
        return config

    def _group(self, limits: BotLimits, place: Place) -> cgroups.Group | None:
        if self._trees is None:
            return None
        worker = place.folder.parent
        if not self._is_swept:
            self._is_swept = True
            self._trees.sweep(_GROUP_PREFIX, worker.parent)
        name = f"{_GROUP_PREFIX}.{worker.name}.{place.folder.name}"
        return self._trees.make(name, limits, len(os.sched_getaffinity(0)))


class Confined(BotProcess):
    """A running bot in bubblewrap.

    Args:
        process: its supervisor.
        group: its control group, if there is one.
    """

    def __init__(self, process: asyncio.subprocess.Process, group: cgroups.Group | None) -> None:
        self._group = group
        super().__init__(process)

    async def _judge(self, report: Report | None) -> Ending:
        if self._group is not None:  # the supervisor removes it, unless it is killed
            await asyncio.to_thread(self._group.remove)
        if report is None:  # which no bot can do from within
            return Ending("its supervisor was killed", infra="the supervisor of a bot was killed")
        if report["failure"]:
            return Ending("bubblewrap cannot be started", started=False, infra=report["failure"])
        return judged(report)


def judged(report: Report) -> Ending:
    """How a bot ended, out of what bubblewrap and the supervisor tell."""
    code = _exit_code(report["status"])
    ending = ending_of(report["code"] if code is None else code, report)
    if report["memory_killed"]:
        text = f"it, or a process of its own, was killed at its memory limit; {ending.text}"
        return replace(ending, text=text, out_of_memory=True)
    # It tells no exit code if it fails before there is a bot. Stopped by us it tells none either.
    if code is None and report["code"] != -signal.SIGTERM:
        why = report["tail"].strip() or ending.text
        return replace(ending, started=False, infra=f"bubblewrap failed: {why}")
    return ending


def _exit_code(status: str) -> int | None:
    """Exit code of the bot's first process as subprocess has it, out of bubblewrap's lines of JSON."""
    for line in status.splitlines():
        code: int | None = json.loads(line).get("exit-code")
        if code is not None:
            # A process with a parent in between: its signal is told as shells tell it.
            number = code - _FIRST_SIGNAL_CODE
            return -number if number in set(signal.Signals) else code
    return None


def launcher() -> Bubblewrap:
    """What starts bots in bubblewrap on this machine."""
    return Bubblewrap(_IS_ROOT, cgroups.find())


def check_available() -> str:
    """Whether this machine can run bots in bubblewrap; what does not hold them here, empty if all does.

    Raises:
        ArenaError: it cannot.
    """
    try:
        asyncio.run(_try())
    except (ImportError, RuntimeError) as error:
        raise _unavailable(str(error), "install libseccomp: apt install libseccomp2") from None
    except LaunchError as error:
        raise _unavailable(str(error), "install what is missing: apt install bubblewrap util-linux") from None
    if cgroups.find() is None:
        return (
            "no control groups may be used here, so memory is limited for each process of a bot alone, and "
            "cores are not; to have them, be root, or begin with: systemd-run --user --scope -p Delegate=yes"
        )
    return ""


async def _try() -> None:
    """Start a program that does nothing."""
    with tempfile.TemporaryDirectory(prefix="arena-try-") as name:
        folder = Path(name)
        bot = BotSpec("cmd:true", "a trial", "", ("true",), "/tmp")
        running = await Bubblewrap(_IS_ROOT, None).start(bot, BotLimits(), Place(folder, "", folder / "log"))
        ending = await running.ended
    if ending.exit_code != 0:
        raise _unavailable(
            ending.infra or ": ".join(filter(None, (ending.text, ending.tail.strip()))),
            "allow it (namespaces of users may be forbidden here), run the arena as root, or use docker",
        )


def _unavailable(why: str, do: str) -> ArenaError:
    return ArenaError("bots cannot be held in bubblewrap here", why, do)


def check_hidden(bots: Sequence[BotSpec], secrets: Mapping[str, Path]) -> None:
    """Whether bots will be shown nothing that they must not see.

    Args:
        bots: the bots.
        secrets: files and folders by what they are.

    Raises:
        UsageError: one would be, or could not read its own files.
    """
    for bot in bots:
        own = code_paths(bot)
        for what, secret in {**secrets, "the sockets of all bots": _SOCKETS}.items():
            _check_outside(bot, [*own, *language_paths()], what, secret)
        for other in bots:
            for path in code_paths(other):
                if path not in own:
                    _check_outside(bot, own, f"the bot {other.name}", path)
        if _IS_ROOT:
            check_readable(bot)


def _check_outside(bot: BotSpec, shown: Sequence[Path], what: str, secret: Path) -> None:
    for path in shown:
        if secret.resolve().is_relative_to(path.resolve()):
            raise UsageError(
                f"{bot.name} would see {what} from its sandbox",
                f"{secret} lies in {path}, which it is shown",
                "keep them in folders of their own: --db for the database, a folder for each bot",
            )
