"""News of what goes on: whoever listens to a topic is told its newest state, however slowly it listens."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from arena.errors import TooMuchError

E = TypeVar("E")

MOST_LISTENERS = 2_000
"""Listeners to all topics together."""


class Listener(Generic[E]):
    """Listens to one topic. What it has not taken yet gives way to what is newer: one event at most waits."""

    def __init__(self) -> None:
        self._newest: E | None = None
        self._there = asyncio.Event()
        self._is_closed = False

    def tell(self, event: E) -> None:
        """Have it take this next."""
        self._newest = event
        self._there.set()

    def close(self) -> None:
        """Have it end after what it has not taken yet."""
        self._is_closed = True
        self._there.set()

    def __aiter__(self) -> Listener[E]:
        return self

    async def __anext__(self) -> E:
        await self._there.wait()
        event, self._newest = self._newest, None
        if event is None:
            raise StopAsyncIteration
        if not self._is_closed:
            self._there.clear()
        return event


class News(Generic[E]):
    """Topics and their listeners; to be used on the event loop alone.

    Args:
        most: listeners to all topics together.
    """

    def __init__(self, most: int = MOST_LISTENERS) -> None:
        self._most = most
        self._count = 0
        self._listeners: dict[str, set[Listener[E]]] = {}

    def publish(self, topic: str, event: E) -> None:
        """Tell all who listen to a topic."""
        for listener in self._listeners.get(topic, ()):
            listener.tell(event)

    def is_heard(self, topic: str) -> bool:
        """Whether somebody listens to a topic: else what costs something need not be made."""
        return topic in self._listeners

    @contextmanager
    def listen(self, topic: str) -> Iterator[Listener[E]]:
        """Listen to a topic until the end of the block.

        Raises:
            TooMuchError: there are too many listeners.
        """
        if self._count >= self._most:
            raise TooMuchError(
                "this cannot be watched now", f"{self._most} listeners watch already", "ask again later"
            )
        listener: Listener[E] = Listener()
        self._count += 1
        self._listeners.setdefault(topic, set()).add(listener)
        try:
            yield listener
        finally:
            self._count -= 1
            self._listeners[topic].discard(listener)
            if not self._listeners[topic]:
                del self._listeners[topic]

    def close(self) -> None:
        """End all who listen, after what they have not taken yet."""
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.close()
