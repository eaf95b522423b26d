"""What a bot's container is made of: what runs in it, and what shuts it in."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.bots.launcher import SOCKET, Place
from arena.bots.limits import BotLimits
from arena.bots.orphans import home
from arena.bots.reference import BotSpec
from arena.bots.seccomp import docker_profile

if TYPE_CHECKING:
    from docker import APIClient

SOCKET_LABEL = "org.botarena.socket"
"""Label of a bot's container: the folder of its worker's sockets."""
HOME_LABEL = "org.botarena.home"
"""Label of a bot's container: where its worker's folder is to be seen."""
BOT_LABEL = "org.botarena.bot"
"""Label of a bot's container: the bot's name."""
PREFIX = "botarena-"
"""How the names of bots' containers begin."""

_INSIDE = "/run/arena"  # where a bot sees the folder of its socket
_FOLDER = "/bot"  # where its code is, if the arena built its image
_USERS = range(61184, 65520)  # set aside for users that come and go
_NOBODY = 65534
_OPEN_FILES = 1024
_BYTES_PER_FILE = 16 << 10  # in /tmp; a kernel keeps about a KiB for each, however empty
_FEWEST_FILES = 64
_KERNEL = (128, 64 << 20)  # threads and memory of a runtime that is a kernel itself, beside what is the bot's
_OOM_SCORE = 500  # if the machine runs out of memory, bots go before others


@dataclass(frozen=True, slots=True)
class Order:
    """A container that is to be made.

    Attributes:
        bot: what runs in it.
        limits: what that may use.
        place: what it is given.
        cores: the cores that it may use.
        runtime: the engine's runtime; empty: its own.
    """

    bot: BotSpec
    limits: BotLimits
    place: Place
    cores: frozenset[int]
    runtime: str = ""

    @property
    def name(self) -> str:
        """Of the container: nobody else's, since its socket's folder is not."""
        return f"{PREFIX}{self.place.folder.parent.name}-{self.place.folder.name}"


def create(client: APIClient, order: Order, volumes: Iterable[str]) -> str:
    """Make a container, and do not start it.

    Args:
        client: of the engine.
        order: what is to be made.
        volumes: paths at which its image would have the engine make folders of its own.

    Returns:
        The engine's name for it.
    """
    walls: dict[str, Any] = client.create_host_config(**_walls(order), tmpfs=_tmpfs(order.limits, volumes))
    made = client.create_container(name=order.name, host_config=walls, **_inside(order.bot, order.place))
    return str(made["Id"])


def _inside(bot: BotSpec, place: Place) -> dict[str, Any]:
    """What is run, and what it is told."""
    command = {"entrypoint": [bot.command[0]], "command": list(bot.command[1:])} if bot.command else {}
    return {
        **command,
        "working_dir": _FOLDER if command else None,  # else the image's own
        "image": bot.image,
        # A kernel counts some things by user: bots that were one could take them from each other.
        "user": f"{secrets.choice(_USERS)}:{_NOBODY}",
        "hostname": "bot",
        "environment": {
            "ARENA_ADDR": f"unix:{_INSIDE}/{SOCKET}",
            "ARENA_TOKEN": place.token,
            "HOME": "/tmp",
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
        },
        "labels": {SOCKET_LABEL: str(place.folder.parent), HOME_LABEL: home(), BOT_LABEL: bot.name},
        "network_disabled": True,
        "healthcheck": {"test": ["NONE"]},  # an image may bring one, and it would run beside the bot
        "use_config_proxy": False,
    }


def _walls(order: Order) -> dict[str, Any]:
    """What shuts it in."""
    from docker.types import LogConfig, Mount, Ulimit

    limits = order.limits
    threads, memory = _KERNEL if order.runtime else (0, 0)
    ulimits = {"nofile": _OPEN_FILES, "core": 0, "fsize": limits.tmp_bytes, "msgqueue": 0}
    return {
        "read_only": True,
        "network_mode": "none",
        "ipc_mode": "none",
        "cgroupns": "private",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true", f"seccomp={docker_profile()}"],
        "mounts": [Mount(_INSIDE, str(order.place.folder), type="bind", read_only=True)],
        "mem_limit": limits.memory_bytes + memory,
        "memswap_limit": limits.memory_bytes + memory,
        "pids_limit": limits.pids + threads,
        "cpuset_cpus": ",".join(map(str, sorted(order.cores))),
        # With no more cores than it may keep busy, an account of its time would only cost some.
        "nano_cpus": round(limits.cpus * 1e9) if limits.cpus < len(order.cores) else None,
        "ulimits": [Ulimit(name=name, soft=most, hard=most) for name, most in ulimits.items()],
        "oom_score_adj": _OOM_SCORE,
        "init": True,  # it collects what the bot forks away
        "log_config": LogConfig(type=LogConfig.types.NONE),  # we keep what it writes, as much as it may
        "runtime": order.runtime or None,
    }


def _tmpfs(limits: BotLimits, volumes: Iterable[str]) -> dict[str, str]:
    """What can be written to: /tmp, and nothing where an image wants a folder that has no limit."""
    files = max(_FEWEST_FILES, limits.tmp_bytes // _BYTES_PER_FILE)
    harmless = "noexec,nosuid,nodev"
    return {
        **dict.fromkeys(volumes, f"ro,{harmless},size=4k,nr_inodes=1"),
        "/tmp": f"rw,{harmless},mode=1777,size={limits.tmp_bytes},nr_inodes={files}",
    }
