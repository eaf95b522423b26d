"""A server in this process, with the guard before it, and callers of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import grpc

from arena.server.guard import Guard, Limits, server_options
from arena.server.part import Part
from arena.server.rates import Rate

Register = Callable[[grpc.aio.Server], object]

_ANY = Rate(1e9, 1e9)
PLENTY = Limits(_ANY, _ANY, _ANY, _ANY, open_calls=10**9)
"""Limits for tests that are not about them."""


def metadata(token: str | None) -> tuple[tuple[str, str], ...]:
    """What a call with a token carries."""
    return () if token is None else (("authorization", f"Bearer {token}"),)


@asynccontextmanager
async def served(
    guard: Guard, parts: Iterable[Part | Register], credentials: grpc.ServerCredentials | None = None
) -> AsyncIterator[str]:
    """Serve parts, or what registers services, on a port of the loopback; its address."""
    server = grpc.aio.server(interceptors=[guard], options=server_options())
    for part in parts:
        (part if callable(part) else part.register)(server)
    if credentials is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", credentials)
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@asynccontextmanager
async def channel_to(address: str) -> AsyncIterator[Any]:
    """A channel to a server."""
    async with grpc.aio.insecure_channel(address) as channel:
        yield channel


@contextmanager
def served_beside(
    guard: Guard, parts: Iterable[Part | Register], credentials: grpc.ServerCredentials | None = None
) -> Iterator[str]:
    """The same on a thread, for callers that wait: commands."""
    begun = threading.Event()
    told: list[Any] = []

    async def serve() -> None:
        over = asyncio.Event()
        async with served(guard, parts, credentials) as address:
            told.extend((address, asyncio.get_running_loop(), over))
            begun.set()
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert begun.wait(30)
    address, loop, over = told
    try:
        yield address
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
