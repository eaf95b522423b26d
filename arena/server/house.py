"""The whole server in one process: all its parts, begun and ended in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from arena.errors import StateError
from arena.runs.custody import Tell, silent
from arena.server.door import Door
from arena.server.lease import Lease, lease_of, taken, wait_for
from arena.server.metrics import Metrics
from arena.server.part import Part
from arena.server.probes import Probes
from arena.server.rooms import SERVICES, furnish
from arena.server.settings import ServerSettings
from arena.store.accounts import Accounts
from arena.store.store import Store, sqlite_url

_HELD_EVERY_S = 5.0
"""How often it is looked whether the lease is still ours."""
_STOP_S = 10.0
"""Seconds that ending may take beyond the time for matches in play."""
_log = structlog.get_logger("arena.house")


class House:
    """A server.

    Args:
        settings: how it is run.
        tell: takes lines for people.
    """

    def __init__(self, settings: ServerSettings, tell: Tell = silent) -> None:
        self._settings = settings
        self._tell = tell
        self._lease: Lease = lease_of(settings.db)
        self._ready = False
        self.metrics = Metrics()
        self.port = settings.port

    async def run(
        self, stopping: asyncio.Event, wait: bool = False, listening: Callable[[int], object] = lambda _: None
    ) -> None:
        """Serve until told to end.

        Args:
            stopping: set when it is to end.
            wait: whether to wait for another server on this database to end, and then take over.
            listening: takes the port when it listens.

        Raises:
            ArenaError: it cannot begin, or had to end because the database is no longer its own.
        """
        probes = self._start_probes()
        try:
            if await self._take(stopping, wait):
                await self._serve(stopping, listening)
        finally:
            self._lease.give()
            if probes is not None:
                probes.stop()

    def _start_probes(self) -> Probes | None:
        if self._settings.metrics_port is None:
            return None
        probes = Probes(self.metrics.registry, lambda: self._ready)
        host = self._settings.metrics_host
        port = probes.start(host, self._settings.metrics_port)
        self._tell(f"metrics on http://{host}:{port}/metrics")
        return probes

    # the right to play

    async def _take(self, stopping: asyncio.Event, wait: bool) -> bool:
        """Whether the database is ours alone now; not if it was told to end meanwhile."""
        if await asyncio.to_thread(self._lease.take):
            return True
        if not wait:
            raise taken(self._settings.db)
        self._tell("waits until the server that has this database in hand has ended")
        door = await self._waiting_door()
        try:
            return await _before(stopping, wait_for(self._lease))
        finally:
            if door is not None:
                await door.close()

    async def _waiting_door(self) -> Door | None:
        """Says that nothing is served yet; None if the port is still that of the other server."""
        door = Door(self._settings)
        try:
            self.port = door.bind(self.port)
        except StateError:
            return None
        await door.open(())
        return door

    # serving

    async def _serve(self, stopping: asyncio.Event, listening: Callable[[int], object]) -> None:
        store = await asyncio.to_thread(_open, self._settings.db)
        try:
            await self._serve_on(store, stopping, listening)
        finally:
            store.close()

    async def _serve_on(
        self, store: Store, stopping: asyncio.Event, listening: Callable[[int], object]
    ) -> None:
        rooms = await asyncio.to_thread(furnish, self._settings, store, self.metrics)
        door = Door(self._settings, [rooms.guard])
        for part in rooms.parts:
            part.register(door.server)
        self.port = door.bind(self.port)
        await self._welcome(rooms.accounts)
        begun: list[Part] = []
        try:
            for part in rooms.parts:
                begun.append(part)
                await part.start()
            await door.open(SERVICES)
            await self._serving(door, True)
            self._tell(f"listening on {door.address(self.port)}")
            listening(self.port)
            await self._until(stopping)
        finally:
            await self._serving(door, False)
            await self._end(begun, door)

    async def _welcome(self, accounts: Accounts) -> None:
        """Tell the token of the first start, which is nowhere else."""
        if (secret := await asyncio.to_thread(accounts.ensure_admin)) is not None:
            self._keep(secret)

    def _keep(self, secret: str) -> None:
        file = self._settings.token_file
        if file is None:
            self._tell(f"first start: the token of admin is {secret}")
            self._tell("it is shown this once; show it in turn to: arena login --server HOST:PORT")
            return
        file.unlink(missing_ok=True)
        file.touch(0o600)  # nobody else's, before there is anything in it
        file.write_text(f"{secret}\n")
        self._tell(f"first start: the token of admin is in {file}; use it and remove it")

    async def _serving(self, door: Door, whether: bool) -> None:
        self._ready = whether
        await door.serving(whether)

    async def _until(self, stopping: asyncio.Event) -> None:
        """Until it is told to end.

        Raises:
            StateError: the database is no longer ours: another server may play on it.
        """
        while not stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), _HELD_EVERY_S)
            if not await asyncio.to_thread(self._lease.held):
                raise taken(self._settings.db)

    async def _end(self, begun: Sequence[Part], door: Door) -> None:
        """End everything, the last that began first; what does not end in time is left to the lease's end."""
        seconds = self._settings.drain / 1e6 + _STOP_S
        try:
            async with asyncio.timeout(seconds):
                for part in reversed(begun):
                    await part.stop()
        except TimeoutError:
            _log.warning("drain", reason="matches in play took too long; they are played again")
        await door.close()


def _open(db: str) -> Store:
    # Callers are told that something is not there, but not where the database is.
    return Store(db if "://" in db else sqlite_url(Path(db)), called="this server")


async def _before(stopping: asyncio.Event, wanted: Coroutine[object, object, None]) -> bool:
    """Whether something came to pass before it was told to end."""
    tasks = [asyncio.create_task(wanted), asyncio.create_task(stopping.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            await tasks[0]
        return tasks[0].done()
    finally:
        for task in tasks:
            task.cancel()
