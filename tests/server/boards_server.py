"""A server that only tells what is stored, on a thread of its own, so that commands can be its callers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from arena.server.boards import BoardPart
from arena.server.games import GamePart
from arena.server.guard import Guard, Limits
from arena.server.matches import MatchPart
from arena.server.part import Part
from arena.server.rates import Rate
from arena.store.accounts import Accounts
from arena.store.store import Store
from tests.server.serving import served

_MANY = Limits(token=Rate(10_000, 10_000), peer=Rate(10_000, 10_000))


@contextmanager
def telling(store: Store, db: str) -> Iterator[str]:
    """Its address, until the end of the block."""
    loop = asyncio.new_event_loop()
    address: list[str] = []
    ready = threading.Event()
    stopping = asyncio.Event()

    async def serve() -> None:
        boards = BoardPart(store)
        parts: list[Part] = [boards, GamePart(), MatchPart(store, db)]
        async with served(Guard(Accounts(store), _MANY), parts) as found:
            address.append(found)
            ready.set()
            await stopping.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(10)
        loop.close()
