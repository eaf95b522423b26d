"""How a fuzzer's frames reach the gateway: through a stream's stand-in, or through gRPC and a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import grpc

from arena.bots.conversation import Conversations, Guest, Stream
from arena.bots.gateway import Gateway
from arena.bots.launcher import SOCKET
from arena.match.host import Absent
from tests.bots.streams import FakeContext, live
from tests.fuzz.beside import see


class _Context(FakeContext):
    """Keeps only the ids of what the bot was asked."""

    def __init__(self, token: str, ids: list[int]) -> None:
        super().__init__(token)
        self._ids = ids

    async def write(self, frame: bytes) -> None:
        see(self._ids, frame)


async def let_in(guest: Guest, before: Stream | None, refused: Callable[[], bool]) -> bool:
    """Wait until it shows whether a new stream was let in."""
    while guest.stream is before and not refused():
        await asyncio.sleep(0)
    return guest.stream is not before


class InProcess:
    """A life without a network: most of the frames of a run go this way."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        life = live(conversations, "fuzzer")
        self.guest, self.faults = life.guest, life.faults
        self.ids: list[int] = []
        self._streams: list[asyncio.Task[None]] = []
        self._context = self._open()

    async def send(self, frame: bytes) -> None:
        self._context.put(frame)

    async def reopen(self, hello: bytes) -> None:
        before, context = self.guest.stream, self._open()
        context.put(hello)
        if await let_in(self.guest, before, self._streams[-1].done):
            self._context = context

    async def hang_up(self) -> None:
        self._context.put(None)
        await asyncio.sleep(0)

    async def end(self) -> None:
        """Hang up everywhere."""
        self._conversations.part(self.guest)
        for stream in self._streams:
            stream.cancel()
        await asyncio.gather(*self._streams, return_exceptions=True)

    def _open(self) -> _Context:
        context = _Context(self.guest.token, self.ids)
        self._streams.append(asyncio.create_task(self._play(context)))
        return context

    async def _play(self, context: _Context) -> None:
        with suppress(grpc.aio.AbortError):
            await self._conversations.play(self.guest, context)  # type: ignore[arg-type]


class OverSocket:
    """A life with a connection of its own."""

    def __init__(self, gateway: Gateway, guest: Guest, faults: list[Absent | None]) -> None:
        self._gateway = gateway
        self.guest, self.faults = guest, faults
        self.ids: list[int] = []
        self._channel = grpc.aio.insecure_channel(f"unix:{guest.folder / SOCKET}")
        self._readers: list[asyncio.Task[None]] = []
        self._call = self._open()

    @classmethod
    async def begin(cls, gateway: Gateway) -> OverSocket:
        faults: list[Absent | None] = []
        return cls(gateway, await gateway.expect("fuzzer", faults.append, lambda: None), faults)

    async def send(self, frame: bytes) -> None:
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await self._call.write(frame)

    async def reopen(self, hello: bytes) -> None:
        before, old = self.guest.stream, self._call
        self._call = self._open()
        await self.send(hello)
        if not await let_in(self.guest, before, self._call.done):
            self._call = old

    async def hang_up(self) -> None:
        self._call.cancel()

    async def end(self) -> None:
        """Hang up everywhere."""
        await self._gateway.dismiss(self.guest)
        await self._channel.close()
        await asyncio.gather(*self._readers, return_exceptions=True)

    def _open(self) -> Any:
        play: Any = self._channel.stream_stream("/botarena.v1.BotService/Play")
        call = play(metadata=(("authorization", f"Bearer {self.guest.token}"),))
        self._readers.append(asyncio.create_task(self._read(call)))
        return call

    async def _read(self, call: Any) -> None:
        with suppress(grpc.aio.AioRpcError):
            while isinstance(frame := await call.read(), bytes):
                see(self.ids, frame)
