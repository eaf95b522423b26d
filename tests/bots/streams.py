"""A bot's streams without a network, and a network that breaks on command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from botarena.v1.bot_pb2 import FromArena, FromBot, Hello

from arena.bots.conversation import Conversations, Guest
from arena.match.host import Absent


class FakeContext:
    """Stands in for gRPC's context of one stream: what the bot sends is put in, what it is sent is kept."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._sent: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.got = FromArena()
        self.frames = 0
        self.status = ""
        self.reads = True

    def invocation_metadata(self) -> list[tuple[str, str]]:
        return [("authorization", f"Bearer {self._token}")]

    async def read(self) -> Any:
        data = await self._sent.get()
        return grpc.aio.EOF if data is None else data

    async def write(self, frame: bytes) -> None:
        while not self.reads:
            await asyncio.sleep(0.001)
        self.got.MergeFromString(frame)
        self.frames += 1

    async def abort(self, code: grpc.StatusCode, _text: str) -> None:
        self.status = code.name
        raise grpc.aio.AbortError

    def put(self, data: bytes | None) -> None:
        self._sent.put_nowait(data)


@dataclass(eq=False)
class Life:
    """One life of a bot at a host: its guest, and what was ruled about it."""

    conversations: Conversations
    guest: Guest
    faults: list[Absent | None] = field(default_factory=list)
    stuck: int = 0

    def open(self, token: str | None = None) -> FakeStream:
        return FakeStream(self, FakeContext(self.guest.token if token is None else token))


class FakeStream:
    """The bot's end of one stream."""

    def __init__(self, life: Life, context: FakeContext) -> None:
        self.context = context
        self.task = asyncio.create_task(self._play(life))

    async def _play(self, life: Life) -> None:
        with suppress(grpc.aio.AbortError):
            await life.conversations.play(life.guest, self.context)  # type: ignore[arg-type]

    @property
    def got(self) -> FromArena:
        """All that it was sent, as one frame."""
        return self.context.got

    def hello(self, session: str = "", concurrency: int = 64) -> FakeStream:
        self.send(FromBot(hello=Hello(protocol=1, concurrency=concurrency, session=session)))
        return self

    def send(self, frame: FromBot) -> None:
        self.context.put(frame.SerializeToString())

    def send_bytes(self, data: bytes) -> None:
        self.context.put(data)

    async def end(self) -> str:
        """Hang up; the status that it was told before, if any."""
        self.context.put(None)
        return await self.status()

    async def status(self) -> str:
        await self.task
        return self.context.status


def live(conversations: Conversations, name: str) -> Life:
    """A bot that is expected, without a socket."""
    faults: list[Absent | None] = []
    life: Life

    def stuck() -> None:
        life.stuck += 1

    greeted = asyncio.get_running_loop().create_future()
    guest = Guest(name, Path("/nowhere"), faults.append, stuck, greeted)
    life = Life(conversations, guest, faults)
    return life


async def until(condition: Callable[[], object]) -> None:
    """Let others go on until something is so."""
    while not condition():
        await asyncio.sleep(0.001)


Ends: TypeAlias = "tuple[asyncio.StreamReader, asyncio.StreamWriter]"


class Line:
    """A proxy between a bot and where it dials, of which every connection can be cut.

    Args:
        dial: opens a connection to there.
    """

    def __init__(self, dial: Callable[[], Awaitable[Ends]]) -> None:
        self.connections = 0
        self._dial = dial
        self._open: list[asyncio.StreamWriter] = []

    def to(self, port: int) -> None:
        """Lead to another port of the loopback from now on."""
        self._dial = partial(asyncio.open_connection, "127.0.0.1", port)

    def cut(self) -> None:
        """Break all connections."""
        cut, self._open = self._open, []
        for writer in cut:
            writer.transport.abort()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until it ends or is cut."""
        try:
            there, back = await self._dial()
        except OSError:  # the arena has closed
            writer.close()
            return
        self.connections += 1
        self._open += [writer, back]
        await asyncio.gather(_copy(reader, back), _copy(there, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def line(at: Path, to: Path) -> AsyncIterator[Line]:
    """A proxy at one socket, to another."""
    made = Line(partial(asyncio.open_unix_connection, to))
    server = await asyncio.start_unix_server(made.carry, at)
    try:
        yield made
    finally:
        made.cut()
        server.close()


@asynccontextmanager
async def port_line(port: int) -> AsyncIterator[tuple[Line, str]]:
    """A proxy to a port of the loopback, and its address."""
    made = Line(partial(asyncio.open_connection, "127.0.0.1", port))
    server = await asyncio.start_server(made.carry, "127.0.0.1")
    try:
        yield made, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        made.cut()
        server.close()
