"""The launcher of bots in containers: how they are started, and what becomes of those left behind."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.container import Begun, Container, attach, remove
from arena.bots.engine import Engine, EngineError, MissingError, connect, translated
from arena.bots.launcher import LaunchError, Place
from arena.bots.limits import BotLimits
from arena.bots.orphans import abandoned, can_tell
from arena.bots.reference import BotSpec
from arena.bots.supervisor import Log
from arena.bots.walls import HOME_LABEL, PREFIX, SOCKET_LABEL, Order, create

if TYPE_CHECKING:
    from docker import APIClient

_START_S = 60.0
_UNDO_S = 2.0
_CLOSE_S = 4.0  # the arena waits for the worker that waits
_STARTS = 4  # containers that are started at once; more would only make each of them slower


class Containers:
    """Starts bots in containers, for bots that are not trusted.

    Args:
        runtime: name of the engine's runtime, such as runsc; empty: the engine's own.
    """

    def __init__(self, runtime: str = "") -> None:
        self._runtime = runtime
        self._engine = Engine(runtime)
        self._starts = asyncio.Semaphore(_STARTS)
        self._removals: set[asyncio.Task[None]] = set()

    async def start(self, bot: BotSpec, limits: BotLimits, place: Place) -> Container:
        """Start a bot in a container of its own.

        Raises:
            LaunchError: the engine cannot, or the image is gone.
        """
        if not bot.image:
            raise LaunchError(f"{bot.name} cannot be run in a container, since it has no image")
        log = Log(str(place.log), limits.log_bytes)
        order = Order(bot, limits, place, frozenset(os.sched_getaffinity(0)), self._runtime)
        try:
            await self._engine.connect(remove_orphans)
            async with self._starts:
                begun = await self._begun(order)
        except BaseException:
            log.close()
            raise
        container = Container(self._engine, begun, log, limits.memory_bytes)
        self._note(container.removing)
        return container

    async def close(self) -> None:
        """Wait a while for containers to be removed: the engine may be away."""
        if self._removals:
            await asyncio.wait(self._removals, timeout=_CLOSE_S)

    async def _begun(self, order: Order) -> Begun:
        """A container that was started; nothing of it, if that fails or is not waited for."""
        beginning = asyncio.create_task(self._engine.call(_START_S, lambda client: _begin(client, order)))
        try:
            return await asyncio.shield(beginning)
        except BaseException:
            await asyncio.wait({beginning})
            if not beginning.cancelled() and beginning.exception() is None:
                beginning.result().output.close()
            await self._undo(order.name)
            raise

    async def _undo(self, name: str) -> None:
        """Remove a container; if the engine is away, when it is there again."""
        undoing = asyncio.create_task(remove(self._engine, name))
        self._note(undoing)
        await asyncio.wait({undoing}, timeout=_UNDO_S)

    def _note(self, removal: asyncio.Task[None]) -> None:
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)


def check_available(runtime: str = "") -> None:
    """Whether this machine can run bots in containers.

    Args:
        runtime: name of the engine's runtime; empty: the engine's own.

    Raises:
        ArenaError: it cannot; says what is missing and what to do.
    """
    connect(runtime).close()


def remove_orphans(client: APIClient) -> None:
    """Remove containers of bots whose worker is gone; others may be at it too."""
    for found in client.containers(all=True, filters={"label": SOCKET_LABEL, "name": PREFIX}):
        labels = found["Labels"]
        if not can_tell(labels.get(HOME_LABEL, "")):
            continue
        with abandoned(Path(labels[SOCKET_LABEL])) as is_orphan:
            if is_orphan:
                _remove(client, found["Id"])


def _remove(client: APIClient, container: str) -> None:
    from docker.errors import APIError

    try:
        client.remove_container(container, v=True, force=True)
    except APIError:  # it is gone, or another one is removing it
        return


def _begin(client: APIClient, order: Order) -> Begun:
    """Start a bot's container, and be attached to what it writes before it writes anything."""
    container = create(client, order, _volumes(client, order.bot))
    output = attach(client, container)
    try:
        client.start(container)
        pid: int = client.inspect_container(container)["State"]["Pid"]
    except BaseException:
        output.close()
        raise
    return Begun(container, pid, output)


def _volumes(client: APIClient, bot: BotSpec) -> list[str]:
    """Where a bot's image would have the engine make folders of its own."""
    try:
        image = translated(lambda: client.inspect_image(bot.image))
    except MissingError as error:
        raise EngineError(
            f"the image of {bot.name} is gone", error.why, f"build it again from {bot.reference}"
        ) from None
    return list((image["Config"] or {}).get("Volumes") or ())
