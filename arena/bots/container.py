"""The life of one bot in a container, from its start to the last trace of it.

The engine may fail while bots play. They live on, since their sockets are ours, so a lost connection
to the engine is no end of a bot: that is told by the kernel. How it ended is told by the engine, and
where that cannot, or was away when the bot ended, the bot is not blamed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.bots.engine import Engine, EngineError, MissingError
from arena.bots.launcher import Ending, in_words, signal_name
from arena.bots.memory import MemoryWatch, memory_group
from arena.bots.supervisor import Log

if TYPE_CHECKING:
    from docker import APIClient

_LOOK_S = 0.5  # between two looks at its memory
_RETRY_S = 1.0  # between two tries while the engine is away
_STATE_S = 1.5  # for the engine to say how it ended: less than others wait for that
_CALL_S = 10.0
_STOP_S = 15.0
_CHUNK = 1 << 16
_STREAMS = {1: "out", 2: "err"}
_HEADER = 8  # of a piece of output: one byte for the stream, three for nothing, four for the length
_SIGNALLED = 128  # what the exit code is above after a signal


@dataclass(frozen=True, slots=True)
class Begun:
    """A container that was started.

    Attributes:
        id: the engine's name for it.
        pid: of its first process, as this machine counts; 0 if it has ended already.
        output: where the engine sends what it writes.
    """

    id: str
    pid: int
    output: socket.socket


def attach(client: APIClient, container: str) -> socket.socket:
    """A connection of our own on which the engine sends what a container writes from now on."""
    response = client.post(  # what the client has for it keeps the connection, and cannot give it up
        f"{client.base_url}/v{client.api_version}/containers/{container}/attach",
        params={"stdout": 1, "stderr": 1, "stream": 1},
        headers={"Connection": "Upgrade", "Upgrade": "tcp"},
        stream=True,
        timeout=_CALL_S,
    )
    with response:
        response.raise_for_status()
        output = socket.socket(fileno=os.dup(response.raw.fileno()))
    output.setblocking(False)
    return output


class Container:
    """A bot in a container.

    Args:
        engine: runs it.
        begun: it.
        log: takes what it writes, and is closed at its end.
        memory_bytes: its limit.

    Attributes:
        ended: done when all its processes are gone.
        removing: done when nothing of it is left.
    """

    def __init__(self, engine: Engine, begun: Begun, log: Log, memory_bytes: int) -> None:
        self._engine = engine
        self._id = begun.id
        self._log = log
        self._memory_bytes = memory_bytes
        self._memory = MemoryWatch(memory_group(begun.pid, begun.id))
        self._process = _Process(begun.pid)
        self._unseen = False  # by the engine: it is away
        self.ended: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self._listening = asyncio.create_task(self._listen(begun.output))
        self._living = asyncio.create_task(self._live())
        self.removing = asyncio.create_task(self._remove())

    async def stop(self) -> Ending:
        """End it, whatever it does, remove it, and say how it went."""
        if not self._process.gone.done():
            self._memory.look()
            await self._kill()
        await asyncio.wait({self.ended}, timeout=_STOP_S)
        if not self.ended.done():
            self._living.cancel()
            self._end(self._blameless("it could not be ended", "the container engine cannot end it"))
        ending = self.ended.result()
        await asyncio.wait({self.removing}, timeout=_RETRY_S if ending.infra else _STOP_S)
        return ending

    async def _kill(self) -> None:
        try:
            await self._engine.call(_CALL_S, lambda client: client.kill(self._id))
        except EngineError:
            self._process.kill()

    async def _live(self) -> None:
        while not self._process.gone.done():
            self._memory.look()
            await asyncio.wait({self._process.gone}, timeout=_LOOK_S)
        state = asyncio.create_task(
            self._engine.call(_STATE_S, lambda client: _final_state(client, self._id))
        )
        await asyncio.wait({self._listening}, timeout=_STATE_S)  # for what it wrote before it ended
        self._listening.cancel()
        self._end(await self._ending(state))

    def _end(self, ending: Ending) -> None:
        self._log.close()
        self.ended.set_result(ending)

    async def _remove(self) -> None:
        await asyncio.wait({self.ended})
        await remove(self._engine, self._id)

    # how it ended

    async def _ending(self, asked: Awaitable[dict[str, Any]]) -> Ending:
        try:
            state = await asked
        except EngineError as error:
            return self._blameless("it ended while its container engine failed", str(error))
        if self._unseen:
            return self._blameless("it ended", "the container engine was away meanwhile")
        if state["Status"] != "exited":
            return self._blameless("it ended", f"the container engine says that it is {state['Status']}")
        return self._told(state["ExitCode"], state["OOMKilled"] or self._memory.killed)

    def _told(self, code: int, out_of_memory: bool) -> Ending:
        number = code - _SIGNALLED if code > _SIGNALLED else 0
        text = in_words(-number or code)
        peak = self._memory.peak_bytes
        if out_of_memory:
            text += f", since it reached its memory limit of {self._memory_bytes >> 20} MiB"
            peak = self._memory_bytes
        return Ending(
            text,
            tail=self._tail(),
            exit_code=None if number else code,
            signal=signal_name(number) if number else "",
            memory_peak_bytes=peak,
            out_of_memory=out_of_memory,
        )

    def _blameless(self, text: str, why: str) -> Ending:
        return Ending(text, tail=self._tail(), memory_peak_bytes=self._memory.peak_bytes, infra=why)

    def _tail(self) -> str:
        return self._log.tail.decode(errors="backslashreplace")

    # what it writes

    async def _listen(self, output: socket.socket) -> None:
        while True:
            await self._copy(output)
            again = await self._attach_again()
            if again is None:
                return
            output = again

    async def _copy(self, output: socket.socket) -> None:
        """Into its log, until the connection ends."""
        reader, writer = await asyncio.open_unix_connection(sock=output, limit=_CHUNK)
        try:
            while header := await reader.readexactly(_HEADER):
                left = int.from_bytes(header[4:], "big")
                while left and (data := await reader.read(min(left, _CHUNK))):
                    self._log.add(_STREAMS.get(header[0], "out"), data)
                    left -= len(data)
        except (asyncio.IncompleteReadError, OSError):
            return
        finally:
            writer.close()

    async def _attach_again(self) -> socket.socket | None:
        """A connection in place of one that ended; None if that was since the bot did."""
        while True:
            await asyncio.wait({self._process.gone}, timeout=_RETRY_S)
            if self._process.gone.done():
                return None
            self._unseen = True
            with suppress(EngineError):
                output = await self._engine.call(_CALL_S, lambda client: attach(client, self._id))
                # An engine may end what it finds when it comes back, and attach us to that.
                self._unseen = self._process.gone.done()
                return output


async def remove(engine: Engine, container: str) -> None:
    """Remove a container by its id or name, and try again as long as the engine fails."""
    while True:
        try:
            await engine.call(_CALL_S, lambda client: client.remove_container(container, v=True, force=True))
        except MissingError:
            return
        except EngineError:
            await asyncio.sleep(_RETRY_S)
        else:
            return


def _final_state(client: APIClient, container: str) -> dict[str, Any]:
    """How a container ended of which the processes are gone, even if the engine does not know it yet."""
    client.wait(container, timeout=_STATE_S)
    state: dict[str, Any] = client.inspect_container(container)["State"]
    return state


class _Process:
    """The first process of a container: with it all others end.

    Args:
        pid: as this machine counts; 0 if it has ended.

    Attributes:
        gone: done when it has ended.
    """

    def __init__(self, pid: int) -> None:
        self._loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = self._loop.create_future()
        try:
            self._file = os.pidfd_open(pid) if pid else -1
        except ProcessLookupError:
            self._file = -1
        if self._file < 0:
            self.gone.set_result(None)
        else:
            self._loop.add_reader(self._file, self._has_ended)

    def kill(self) -> None:
        """End it without the engine, if we may."""
        if not self.gone.done():
            with suppress(OSError):
                signal.pidfd_send_signal(self._file, signal.SIGKILL)

    def _has_ended(self) -> None:
        self._loop.remove_reader(self._file)
        os.close(self._file)
        self.gone.set_result(None)
