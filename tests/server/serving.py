"""A server in this process, with the guard before it, and callers of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import grpc

from arena.server.guard import Guard, server_options
from arena.server.part import Part

Register = Callable[[grpc.aio.Server], object]


def metadata(token: str | None) -> tuple[tuple[str, str], ...]:
    """What a call with a token carries."""
    return () if token is None else (("authorization", f"Bearer {token}"),)


@asynccontextmanager
async def served(guard: Guard, parts: Iterable[Part | Register]) -> AsyncIterator[str]:
    """Serve parts, or what registers services, on a port of the loopback; its address."""
    server = grpc.aio.server(interceptors=[guard], options=server_options())
    for part in parts:
        (part if callable(part) else part.register)(server)
    port = server.add_insecure_port("127.0.0.1:0")
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
