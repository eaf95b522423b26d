"""How late the arena is itself: whoever rules a timeout must know that it was not the arena's own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_EVERY_S = 0.05
_NOTED_US = 10_000
_LEAST_MARGIN_US = 100_000


def margin_us(limit_us: int) -> int:
    """How late the arena may be during a decision and still rule that it took too long.

    Args:
        limit_us: the time for the decision, in microseconds.
    """
    return max(_LEAST_MARGIN_US, limit_us // 10)


class LagWatch:
    """Measures how late the running event loop is, by a call that is due at even intervals.

    Args:
        clock: the time in microseconds.

    Attributes:
        clock: the same.
    """

    def __init__(self, clock: Callable[[], int]) -> None:
        self.clock = clock
        self._loop = asyncio.get_running_loop()
        self._users = 0
        self._due_us = 0
        self._late: deque[tuple[int, int]] = deque(maxlen=1024)

    @contextmanager
    def on(self) -> Iterator[None]:
        """Measure while anything needs it."""
        self._users += 1
        if not self._due_us:
            self._expect()
        try:
            yield
        finally:
            self._users -= 1

    def worst_us(self, since: int, now: int) -> int:
        """The greatest lag, in microseconds, that was seen or has lasted since a time."""
        lags = [late for end, late in self._late if end >= since]
        overdue = now - self._due_us if self._due_us else 0
        return max(0, overdue, *lags)

    def last_us(self, now: int) -> int:
        """When the loop was last late: now if it is, 0 if it never was."""
        if self._overdue_us(now):
            return now
        return self._late[-1][0] if self._late else 0

    def total_us(self, since: int, now: int) -> int:
        """All lag together, in microseconds, that was seen or has lasted since a time."""
        seen = sum(min(late, end - since) for end, late in self._late if end > since)
        return seen + min(self._overdue_us(now), now - since)

    def _overdue_us(self, now: int) -> int:
        overdue = now - self._due_us if self._due_us else 0
        return overdue if overdue > _NOTED_US else 0

    def _expect(self) -> None:
        self._due_us = self.clock() + round(_EVERY_S * 1e6)
        self._loop.call_later(_EVERY_S, self._beat)

    def _beat(self) -> None:
        now = self.clock()
        late = now - self._due_us
        self._due_us = 0
        if late > _NOTED_US:
            self._late.append((now, late))
        if self._users:
            self._expect()
