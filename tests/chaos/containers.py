"""A container engine of the experiment's own, which can be killed, and the bots in it."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from arena.bots.containers import remove_orphans
from arena.bots.engine import connect
from arena.bots.images import make_image
from arena.bots.organiser import BuildLimits
from arena.bots.reference import resolve
from arena.bots.walls import BOT_LABEL, PREFIX, SOCKET_LABEL
from tests import engine
from tests.chaos.traces import RunningBot
from tests.containers import find_python_image

_TRIES = 3
_BASE = "botarena/python:trixie"


def missing() -> str:
    """Why bots cannot be run in containers of our own here; empty if they can."""
    return engine.missing() or ("" if find_python_image() else "make the base images first: make images")


class ContainerEngine:
    """A container engine with the base image of the one that DOCKER_HOST names, whose place it takes.

    Args:
        folder: for all that it keeps.
    """

    def __init__(self, folder: Path) -> None:
        self._engine = engine.Engine(folder)
        outer = connect()
        outer.timeout = 300
        self._engine.start()
        os.environ["DOCKER_HOST"] = self._engine.host
        inner = connect()
        inner.timeout = 300
        inner.load_image(outer.get_image(_BASE))
        outer.close()
        inner.close()

    def reference(self, bot: str) -> str:
        """The reference of a bot's image, which is built from what another reference means."""
        return f"docker:{make_image(resolve(bot), BuildLimits()).bot.image}"

    def blink(self, seconds: float) -> None:
        """Kill it and start it again."""
        self._engine.kill()
        time.sleep(seconds)
        for _ in range(_TRIES - 1):
            with suppress(RuntimeError):  # the containers that it finds may make it give up
                self._engine.start()
                return
        self._engine.start()

    def bots(self) -> list[RunningBot]:
        """The bots that run in it."""
        client = connect()
        try:
            found = client.containers(filters={"label": SOCKET_LABEL})
            states = [(one["Labels"], client.inspect_container(one["Id"])["State"]) for one in found]
        finally:
            client.close()
        return [
            RunningBot(labels[SOCKET_LABEL], labels[BOT_LABEL], state["Pid"])
            for labels, state in states
            if state["Pid"]
        ]

    def left(self) -> list[str]:
        """The containers of bots that outlive even the next start: before it the engine may be away."""
        client = connect()
        try:
            remove_orphans(client)
            return [str(one["Names"][0]) for one in client.containers(all=True, filters={"name": PREFIX})]
        finally:
            client.close()

    def stop(self) -> None:
        """End it in order."""
        self._engine.stop()
