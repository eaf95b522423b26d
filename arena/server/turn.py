"""One turn of a hosted tournament: it plays until it is over, is told to stop, or its day is used up."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from botarena.v1.record_pb2 import MatchRecord

from arena.server.background import apart
from arena.store.store import Along
from arena.tournament.runner import Executor, Run

_RATE_OVER_S = 15.0
"""Over how many seconds the rate of a turn is taken."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a turn plays.

    Attributes:
        run: makes the run, which reads the database.
        executor: makes what plays it, on the running event loop.
        along: is done in the transactions that store its matches.
    """

    run: Callable[[], Run]
    executor: Callable[[], Executor]
    along: Along


class Turn:
    """A turn.

    Args:
        plan: what is played.
        stored: is told the records that were stored.

    Attributes:
        run: the run; None before there is one.
        played: matches that it has stored.
    """

    def __init__(self, plan: Plan, stored: Callable[[Sequence[MatchRecord]], object]) -> None:
        self._plan = plan
        self._stored = stored
        self._began = time.monotonic()
        self._counts: deque[tuple[float, int]] = deque()
        self._is_stopping = False
        self._playing: asyncio.Task[None] | None = None
        self.run: Run | None = None
        self.played = 0

    @property
    def seconds(self) -> float:
        """How long it lasts already."""
        return time.monotonic() - self._began

    @property
    def rate(self) -> float | None:
        """Matches per second of late; None before there is any."""
        now = time.monotonic()
        while self._counts and self._counts[0][0] < now - _RATE_OVER_S:
            self._counts.popleft()
        played = sum(count for _, count in self._counts)
        return played / min(_RATE_OVER_S, max(now - self._began, 0.1)) if played else None

    def stop(self) -> None:
        """Begin nothing more; what is in hand is finished and stored."""
        self._is_stopping = True
        if self.run is not None:
            self.run.halt()

    def end_with_round(self) -> None:
        """Decide no further round."""
        if self.run is not None:
            self.run.rounds = 0

    def end(self) -> None:
        """End at once: what is in hand is lost, and played again in another turn."""
        self.stop()
        if self._playing is not None:
            self._playing.cancel()

    async def play(self) -> Run:
        """Play; the run as it is then.

        Raises:
            ArenaError: it cannot be played.
        """
        self.run = run = await apart(self._plan.run)
        if self._is_stopping:
            run.halt()
        if not run.over:
            self._playing = asyncio.create_task(self._play(run))
            await asyncio.wait([self._playing])
            if not self._playing.cancelled():
                self._playing.result()
        return run

    async def _play(self, run: Run) -> None:
        playing = run.play(self._plan.executor(), apart, self._plan.along)
        try:
            async for records in playing:
                self.played += len(records)
                self._counts.append((time.monotonic(), len(records)))
                self._stored(records)
        finally:
            await playing.aclose()
